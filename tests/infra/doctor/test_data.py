"""Data that trainings may not read is told before a task fails on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.infra.doctor import data
from orchestrator.infra.doctor.doctor import in_force
from orchestrator.infra.doctor.subject import Data, Need, Subject
from orchestrator.settings.settings import Settings
from tests.infra.doctor.account import ACCOUNT, REGION, SETTINGS, make_role

if TYPE_CHECKING:
    import pytest

    from orchestrator.aws.session import Clients
    from orchestrator.platforms.account.finding import Finding


LONE = Data("s3://team-eu-west-1/campaigns/alps/v1/", REGION)
PAIR = Data("s3://team-eu-west-1/campaigns/alps/v2/", REGION)
NAMED = Data("s3://drives-us-east-1/coast/v2/", "us-east-1")
TEAM_DENIED = ["s3:ListBucket on arn:aws:s3:::team-eu-west-1"]


def of_data(clients: Clients, monkeypatch: pytest.MonkeyPatch, settings: Settings) -> list[Finding]:
    """What is found of three folders where the role of trainings may not list the team's bucket."""
    asked: list[tuple[str, str]] = []

    def simulate(_c: Any, _r: str, _w: str, actions: Any, resources: Any, context: Any) -> list[str]:  # noqa: ARG001
        asked.extend((action, resource) for action in actions for resource in resources)
        return TEAM_DENIED if (actions, resources) == (["s3:ListBucket"], ["arn:aws:s3:::team-eu-west-1"]) else []

    monkeypatch.setattr(data, "simulate", simulate)
    names = in_force(settings, ACCOUNT)
    make_role(clients, names.role.rpartition("/")[2], "sagemaker.amazonaws.com")
    found = list(data.data(Subject(settings, clients, names, Need(data=frozenset({LONE, PAIR, NAMED})))))
    assert sorted(asked) == [  # of two datasets beside each other, one stands for both
        ("s3:GetObject", "arn:aws:s3:::drives-us-east-1/coast/v2/x"),
        ("s3:GetObject", "arn:aws:s3:::team-eu-west-1/campaigns/alps/v1/x"),
        ("s3:ListBucket", "arn:aws:s3:::drives-us-east-1"),
        ("s3:ListBucket", "arn:aws:s3:::team-eu-west-1"),
    ]
    assert [(each.where, each.state, each.exit_code) for each in found] == [
        ("drives-us-east-1", "ok", 0),
        ("team-eu-west-1", "wrong", 4),
    ]
    assert TEAM_DENIED[0] in found[1].message
    return found


def test_data_that_trainings_may_not_read_is_told_with_the_setting_that_lets_them(
    clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(region=REGION, infra_table={"data_buckets": ["drives-{region}"]})
    _, denied = of_data(clients, monkeypatch, settings)
    wanted = 'data_buckets = ["drives-{region}", "team-{region}"]'
    assert denied.mend == f"write `{wanted}` below [infra] in sweep.toml, then sweep infra deploy"


def test_data_that_the_settings_name_and_the_role_does_not_have_yet_is_to_be_deployed(
    clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(region=REGION, infra_table={"data_buckets": ["drives-{region}", "team-{region}"]})
    assert of_data(clients, monkeypatch, settings)[1].mend.startswith("sweep infra deploy")


def test_a_role_of_the_team_s_own_is_granted_data_by_a_policy(
    clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, denied = of_data(clients, monkeypatch, SETTINGS)
    assert denied.mend.startswith("aws iam put-role-policy --role-name our-training --policy-name data ")
    assert '"Resource":["arn:aws:s3:::team-eu-west-1","arn:aws:s3:::team-eu-west-1/*"]' in denied.mend
