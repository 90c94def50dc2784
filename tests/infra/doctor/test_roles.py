"""Roles are there, may be taken on, and may do what they have to."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.errors import NotFound
from orchestrator.infra.doctor import roles
from tests.infra.doctor.account import ACCOUNT, SETTINGS, make_role, of_nights

if TYPE_CHECKING:
    from orchestrator.aws.session import Clients
    from orchestrator.infra.doctor.subject import Subject


def test_a_role_is_looked_for_and_who_may_take_it_on(subject: Subject) -> None:
    assert {finding.message for finding in roles.roles(subject)} == {"not there"}
    make_role(subject.clients, "our-training", "ecs-tasks.amazonaws.com")
    make_role(subject.clients, "our-launcher", "ecs-tasks.amazonaws.com")
    found = {finding.where: finding for finding in roles.roles(subject)}
    assert found["our-launcher"].state == "ok"
    assert found["our-training"].message == "sagemaker.amazonaws.com may not take it on"
    assert "update-assume-role-policy --role-name our-training" in found["our-training"].mend
    assert "sagemaker.amazonaws.com" in found["our-training"].mend
    assert found["our-training"].exit_code == 4


def test_what_the_simulator_denies_is_told_as_simulated(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, tuple[str, ...], tuple[str, ...], dict[str, str]]] = []

    def simulate(_c: Any, _r: str, who: str, actions: Any, resources: Any, context: Any) -> list[str]:
        asked.append((who, tuple(actions), tuple(resources), dict(context)))
        return ["iam:PassRole on x"] if "iam:PassRole" in actions else []

    monkeypatch.setattr(roles, "simulate", simulate)
    make_role(subject.clients, "our-training", "sagemaker.amazonaws.com")
    make_role(subject.clients, "our-launcher", "ecs-tasks.amazonaws.com")
    found = {finding.message: finding for finding in roles.permissions(subject)}
    (denied,) = [finding for finding in found.values() if finding.state == "wrong"]
    assert denied.message == "may not, simulated: iam:PassRole on x"
    assert denied.mend.startswith("aws iam put-role-policy --role-name our-launcher")
    assert not [each for _, _, resources, _ in asked for each in resources if "*" in each and each != "*"]
    contexts = {actions: context for _, actions, _, context in asked}
    assert contexts["sagemaker:CreateTrainingJob",] == {"aws:RequestTag/sweep:run": "x"}
    assert contexts["iam:PassRole",] == {"iam:PassedToService": "sagemaker.amazonaws.com"}


def test_of_several_values_that_a_condition_takes_the_simulator_is_given_one(
    clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Launchers on EC2 tag what RunInstances makes, or CreatePlacementGroup."""
    contexts: list[dict[str, str]] = []

    def simulate(*asked: Any) -> list[str]:
        contexts.append(dict(asked[5]))
        return []

    monkeypatch.setattr(roles, "simulate", simulate)
    make_role(clients, "our-training", "ec2.amazonaws.com")
    make_role(clients, "our-launcher", "ecs-tasks.amazonaws.com")
    assert list(roles.permissions(of_nights(clients, platforms={"ec2": {}})))
    assert {context["ec2:CreateAction"] for context in contexts if "ec2:CreateAction" in context} == {"RunInstances"}


@pytest.mark.parametrize(
    ("said", "mend"),
    [
        ({}, "sweep infra deploy"),
        (
            {"conductor_role": f"arn:aws:iam::{ACCOUNT}:role/our-conductor"},
            "aws iam put-role-policy --role-name our-conductor",
        ),
    ],
    ids=["launchers' role stands in", "a role of its own"],
)
def test_a_conductor_s_role_has_to_grant_what_submitting_needs(
    clients: Clients, monkeypatch: pytest.MonkeyPatch, said: dict[str, str], mend: str
) -> None:
    monkeypatch.setattr(roles, "simulate", lambda *asked: [*asked[3]] if "batch:SubmitJob" in asked[3] else [])
    name = said.get("conductor_role", SETTINGS.job_role or "").rpartition("/")[2]
    make_role(clients, name, "ecs-tasks.amazonaws.com")
    denied = [finding for finding in roles.permissions(of_nights(clients, **said)) if finding.state == "wrong"]
    (found,) = denied
    assert (found.where, found.exit_code) == (name, 4)
    assert "batch:SubmitJob" in found.message
    assert found.mend.startswith(mend)


def test_credentials_that_the_simulator_does_not_know_stop_nothing(
    subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    def simulate(*_: Any) -> list[str]:
        raise NotFound("there is no such user")

    monkeypatch.setattr(roles, "simulate", simulate)
    (found,) = roles.permissions(replace(subject, principal="arn:aws:iam::123456789012:user/root"))
    assert (found.state, found.where) == ("warning", "arn:aws:iam::123456789012:user/root")
    assert "no user or role that IAM's simulator knows" in found.message
