"""A tick that EventBridge Scheduler could not deliver is seen by who looks, told by the next tick, and then gone."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.aws.messages import sqs
from orchestrator.localcloud.services.moto import backends as moto_backends  # noqa: F401 - from then on, moto's groups keep their timers
from orchestrator.nightly import aftermath, views
from orchestrator.nightly.conduct import Clock, Conductor
from orchestrator.nightly.dead_letters import DeadLetter
from orchestrator.nightly.freeze import freeze
from orchestrator.nightly.schedules import Schedules
from orchestrator.notices.send import BEFORE, Delivery
from orchestrator.orchestrator import Orchestrator
from orchestrator.spec.schedule.schedule import Schedule
from orchestrator.spec.sweep import Sweep
from tests.fixtures.aws import REGION
from tests.nightly.test_schedules import BERLIN, settings
from tests.nightly.world import SWEEP

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.aws.s3 import S3
    from orchestrator.aws.session import Clients
    from orchestrator.notices.notice import Notice

ARN = f"arn:aws:sqs:{REGION}:123456789012:dead"
AT = "2026-11-21T01:00:00Z"
REFUSED = {"ERROR_CODE": "AccessDeniedException", "ERROR_MESSAGE": "may not batch:SubmitJob", "SCHEDULED_TIME": AT}
LETTER = DeadLetter("nightly", AT, "AccessDeniedException: may not batch:SubmitJob")


@pytest.fixture
def schedules(
    s3: S3,  # noqa: ARG001 - there is a bucket
    clients: Clients,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Schedules:
    """Return the schedules of a team that has one, `nightly`, and a queue for dead letters."""
    monkeypatch.setattr(sqs, "_WAIT_S", 0)
    clients.client("sqs", REGION).create_queue(QueueName="dead")
    (tmp_path / "training").mkdir()
    (tmp_path / "training" / "train.py").write_text("print(1)\n")
    team = Orchestrator(settings(schedule_dead_letters=ARN))
    made = Schedules(team)
    sweep = Sweep.model_validate({**SWEEP, "folder": tmp_path})
    made.create(freeze(team, sweep, Schedule.model_validate(BERLIN), "nightly"))
    made.pause("nightly")  # what is due is not what is tested here
    return made


def bury(clients: Clients, body: str, said: dict[str, str] | None = None) -> None:
    queues = clients.client("sqs", REGION)
    attributes = {name: {"DataType": "String", "StringValue": text} for name, text in (said or REFUSED).items()}
    url = queues.get_queue_url(QueueName="dead")["QueueUrl"]
    queues.send_message(QueueUrl=url, MessageBody=body, MessageAttributes=attributes)


def job(schedule: str = "nightly") -> str:
    return json.dumps({"JobName": "n", "Parameters": {"schedule": schedule, "tick": AT}})


def told(monkeypatch: pytest.MonkeyPatch, *deliveries: Delivery) -> list[str]:
    said: list[str] = []

    def tell(notice: Notice, *_: Any) -> list[Delivery]:
        said.append(notice.text)
        return list(deliveries)

    monkeypatch.setattr(aftermath, "tell", tell)
    return said


def tick(schedules: Schedules) -> None:
    assert list(Conductor(schedules.s3, "nightly", Clock()).tick("job 1")) == []


def test_both_timers_send_there_what_cannot_be_delivered(schedules: Schedules, clients: Clients) -> None:
    assert schedules.shelf.names() == ["nightly"]
    for name in ("nightly", "nightly-utc"):
        target = clients.client("scheduler", REGION).get_schedule(GroupName="sweep", Name=name)["Target"]
        assert target["DeadLetterConfig"] == {"Arn": ARN}
        assert target["RetryPolicy"]["MaximumEventAgeInSeconds"] == 3600


def test_who_looks_sees_it_and_leaves_it_there(schedules: Schedules, clients: Clients) -> None:
    bury(clients, job())
    bury(clients, job("of-another-team"))
    for _ in range(2):
        (row,) = views.list_schedules(schedules)
        assert row.undelivered == (LETTER,)
        assert views.show_schedule(schedules, "nightly") == row
    assert LETTER.words == f"EventBridge Scheduler could not start the conductor of {AT}: {LETTER.why}"


@pytest.mark.parametrize("delivery", [Delivery("chat", True), Delivery("chat", False, BEFORE)])
def test_a_tick_tells_it_and_takes_it_away(
    schedules: Schedules, clients: Clients, monkeypatch: pytest.MonkeyPatch, delivery: Delivery
) -> None:
    bury(clients, job())
    bury(clients, job("of-another-team"))
    said = told(monkeypatch, delivery)
    tick(schedules)
    why = "EventBridge Scheduler could not start its conductor: AccessDeniedException: may not batch:SubmitJob"
    assert said == [f"the night {AT} of the schedule nightly: {why}"]
    assert [letter.schedule for letter in schedules.undelivered()] == ["of-another-team"]


@pytest.mark.parametrize("deliveries", [[], [Delivery("chat", True), Delivery("topic", False, "no answer")]])
def test_it_stays_until_everybody_knows_who_wants_to(
    schedules: Schedules, clients: Clients, monkeypatch: pytest.MonkeyPatch, deliveries: list[Delivery]
) -> None:
    bury(clients, job())
    said = told(monkeypatch, *deliveries)
    tick(schedules)
    assert len(said) == 1
    assert schedules.undelivered() == [LETTER]


def test_a_letter_that_was_cut_off_is_known_by_its_timer(schedules: Schedules, clients: Clients) -> None:
    bury(clients, '{"Parameters": {"sch', {"SCHEDULE_ARN": f"arn:aws:scheduler:{REGION}:1:schedule/sweep/nightly-utc"})
    (letter,) = schedules.undelivered()
    assert letter == DeadLetter("nightly", "", "it does not say why")
    assert "conductor of some night: it does not say why" in letter.words


def test_a_queue_that_is_gone_is_warned_of_and_holds_nothing_up(
    schedules: Schedules, clients: Clients, caplog: pytest.LogCaptureFixture
) -> None:
    queues = clients.client("sqs", REGION)
    queues.delete_queue(QueueUrl=queues.get_queue_url(QueueName="dead")["QueueUrl"])
    with caplog.at_level(logging.WARNING):
        assert [row.schedule for row in views.list_schedules(schedules)] == ["nightly"]
        tick(schedules)
    looked, ticked = [each.getMessage() for each in caplog.records if "could not deliver" in each.getMessage()]
    assert "is not known: " in looked
    assert "is told later: " in ticked
