"""The storm's auditor finds what lives, and only that: whatever AWS tells late, or not at all."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timezone
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from tests.chaos.report import Report
from tests.chaos.storm import audit
from tests.chaos.storm.audit import OLD_ANSWER_S, Auditor, counts
from tests.fixtures.witness import Instance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.chaos.storm.stage import Stage

NOON = 1_795_000_000.0


@dataclass
class Aws:
    """An AWS with one Region, which answers with what these say of trainings and jobs at the moment."""

    now: float = NOON
    trainings: Callable[[float], list[dict[str, Any]]] = lambda _: []
    jobs: Callable[[float], list[dict[str, Any]]] = lambda _: []
    machines: Callable[[float], list[Instance]] = lambda _: []
    pods: Callable[[float], list[str]] = lambda _: []
    """The phases of the pods that there are."""
    report: Report = field(default_factory=Report)

    def instances(self, _run: str) -> dict[str, list[Instance]]:
        return {"run-0-1": self.machines(self.now)}

    def kubernetes(self, kind: str, _run: str) -> list[dict[str, Any]]:
        if kind == "jobs":
            return []
        phases = enumerate(self.pods(self.now))
        return [{"metadata": {"name": f"run-0-1-{index}"}, "status": {"phase": phase}} for index, phase in phases]

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def client(self, service: str, _region: str = "") -> Any:
        return SimpleNamespace(
            get_paginator=lambda _: SimpleNamespace(paginate=lambda **_: self._pages(service)),
            describe_training_job=lambda TrainingJobName: next(  # noqa: N803 - boto3's name
                one for one in self.trainings(self.now) if one["TrainingJobName"] == TrainingJobName
            ),
        )

    def _pages(self, service: str) -> Iterator[dict[str, Any]]:
        key = "TrainingJobSummaries" if service == "sagemaker" else "jobSummaryList"
        yield {key: self.trainings(self.now) if service == "sagemaker" else self.jobs(self.now)}

    @property
    def auditor(self) -> Auditor:
        stage = SimpleNamespace(client=self.client, cloud=SimpleNamespace(regions=["us-east-1"]), witness=self)
        return Auditor(cast("Stage", stage), "run", self.report)

    @property
    def orphans(self) -> list[str]:
        return [what for promise, what in self.report.broken if promise == "orphans"]


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Aws:
    aws = Aws()
    clock = SimpleNamespace(time=lambda: aws.now, monotonic=lambda: aws.now, sleep=aws.sleep)
    monkeypatch.setattr(audit, "time", clock)
    return aws


def training(status: str, ended: float | None = None, changed: float = NOON - 60) -> dict[str, Any]:
    moments = {"TrainingEndTime": _moment(ended)} if ended else {}
    return {
        "TrainingJobName": "run-0-1",
        "TrainingJobStatus": status,
        "LastModifiedTime": _moment(changed),
        **moments,
    }


def test_what_runs_on_is_an_orphan(aws: Aws) -> None:
    aws.trainings = lambda _: [training("InProgress")]
    aws.auditor.nothing_lives("after its cancel")
    assert len(aws.orphans) == 1
    assert "run-0-1 is InProgress" in aws.orphans[0]


def test_what_ended_before_is_none_whatever_old_answers_say(aws: Aws) -> None:
    ended = training("Stopped", NOON - 1)
    aws.trainings = lambda now: [ended if now >= NOON + OLD_ANSWER_S else training("InProgress")]
    aws.auditor.nothing_lives("after its cancel")
    assert aws.orphans == []


def test_what_ended_only_after_the_cancel_had_returned_is_an_orphan(aws: Aws) -> None:
    aws.trainings = lambda now: [training("Stopped", NOON + 1) if now >= NOON + 1 else training("InProgress")]
    aws.auditor.nothing_lives("after its cancel")
    assert len(aws.orphans) == 1


def test_a_training_that_was_stopped_before_it_had_instances_has_ended_though_no_end_is_told(aws: Aws) -> None:
    aws.trainings = lambda now: [training("Stopped" if now >= NOON + 1 else "Stopping")]
    aws.auditor.nothing_lives("after its cancel")
    assert aws.orphans == []


def instance(state: str, ended: float | None = None) -> Instance:
    return Instance("run-0-1", "us-east-1", state, "us-east-1a", NOON - 60, ended, is_spot=True, leaves_nothing=True)


@pytest.mark.parametrize(
    ("first", "later", "found"),
    [
        (instance("running"), instance("running"), 1),
        (instance("running"), instance("terminated", NOON - 1), 0),  # EC2 has told late what was so
        (instance("running"), instance("shutting-down", NOON + 1), 1),
        (instance("shutting-down", NOON - 1), instance("terminated", NOON - 1), 0),
    ],
)
def test_an_instance_lives_until_ec2_says_when_it_ended(aws: Aws, first: Instance, later: Instance, found: int) -> None:
    aws.machines = lambda now: [first if now < NOON + OLD_ANSWER_S else later]
    aws.auditor.nothing_lives("after its cancel")
    assert len(aws.orphans) == found


def test_a_pod_that_runs_on_is_an_orphan_and_one_that_has_ended_is_none(aws: Aws) -> None:
    aws.pods = lambda _: ["Running", "Succeeded", "Failed"]
    aws.auditor.nothing_lives("after its cancel")
    assert ["run-0-1-0 is Running" in one for one in aws.orphans] == [True]


def test_the_last_launchers_may_take_their_time(aws: Aws) -> None:
    def job(status: str, **facts: Any) -> dict[str, Any]:
        return {"jobName": "run-1-0", "status": status, **facts}

    aws.jobs = lambda now: [job("SUCCEEDED", stoppedAt=(NOON + 200) * 1000) if now > NOON + 200 else job("RUNNING")]
    aws.auditor.nothing_lives_at_the_end()
    assert aws.orphans == []


@pytest.mark.parametrize(
    ("output", "found"),
    [
        ('warning: 3 prices are old\n{\n  "counts": {"done": 4}\n}\nwarning: late', {"done": 4}),
        ("error: the database is locked", {}),
    ],
)
def test_counts_are_read_among_warnings(output: str, found: dict[str, int]) -> None:
    assert counts(output) == found


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, timezone.utc)
