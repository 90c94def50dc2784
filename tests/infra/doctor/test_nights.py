"""Nights need an image, two roles and a queue for dead letters, and nothing else asks for them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from orchestrator.errors import CatalogError
from orchestrator.infra.doctor import dead_letters, images, roles
from orchestrator.infra.doctor.need import need_of
from orchestrator.infra.doctor.subject import Need, Subject
from tests.infra.doctor.account import ACCOUNT, REGION, SETTINGS, of_nights, states

if TYPE_CHECKING:
    from orchestrator.aws.session import Clients
    from orchestrator.plan.plan import Plan


def test_nights_need_an_image_and_two_roles_and_nothing_else_asks_for_them(clients: Clients, subject: Subject) -> None:
    nights = of_nights(clients)
    (unset,) = [finding for finding in images.images(nights) if finding.where == "conductor_image"]
    assert (unset.state, unset.exit_code) == ("wrong", 1)
    assert unset.mend.endswith(f"sweep images push sweep-conductor:1 --to {REGION}")
    assert states(roles.roles(nights)).keys() - states(roles.roles(subject)).keys() == {"sweep-schedule-eu-west-1"}
    image = f"{ACCOUNT}.dkr.ecr.{REGION}.amazonaws.com/sweep-conductor:1"
    named = Subject(replace(SETTINGS, conductor_image=image), clients, subject.names, Need())
    assert {finding.where: finding.message for finding in images.images(named)}[image] == "not there"
    assert "sweep-schedule-eu-west-1" in states(roles.roles(named))


@pytest.mark.parametrize(
    ("name", "mend"),
    [
        ("our-dead", "name one that is there as `schedule_dead_letters` in sweep.toml"),
        ("sweep-schedules-dead", "sweep infra deploy"),
    ],
)
def test_the_queue_for_dead_letters_is_looked_for_where_there_are_nights(
    clients: Clients, subject: Subject, name: str, mend: str
) -> None:
    arn = f"arn:aws:sqs:{REGION}:{ACCOUNT}:{name}"
    nights = of_nights(clients, schedule_dead_letters=arn)
    (missing,) = dead_letters.dead_letters(nights)
    assert (missing.where, missing.state, missing.message, missing.mend) == (arn, "wrong", "not there", mend)
    clients.client("sqs", REGION).create_queue(QueueName=name)
    assert states(dead_letters.dead_letters(nights)) == {arn: "ok"}
    assert list(dead_letters.dead_letters(subject)) == []


def test_nights_without_a_queue_for_dead_letters_are_warned_of(clients: Clients) -> None:
    (unset,) = dead_letters.dead_letters(of_nights(clients))
    assert (unset.where, unset.state, unset.mend) == ("schedule_dead_letters", "warning", "sweep infra deploy")


def test_a_sweep_with_a_schedule_has_nights_though_it_cannot_be_planned() -> None:
    def fail() -> Plan:
        raise CatalogError("no prices")

    need, found = need_of(fail, "sweep.yaml", nights=True)
    assert (need.nights, found.state) == (True, "wrong")
