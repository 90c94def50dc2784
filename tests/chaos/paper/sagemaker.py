"""SageMaker on paper: of each training only when it begins and ends is known, and how. It counts what it starts."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import datetime, timezone
from random import Random
from typing import TYPE_CHECKING, Any

from tests.chaos.paper.weather import refusal

if TYPE_CHECKING:
    from tests.chaos.paper.hub import Hub

ENDED = ("Completed", "Failed", "Stopped")
FATES = (
    ("Completed", "", 12),
    ("Failed", "AlgorithmError: ExecuteUserScriptError: ValueError: loss is nan", 2),
    ("Failed", "CapacityError: Unable to provision requested ML compute capacity", 2),
    ("Failed", "InternalServerError: We encountered an internal error. Please try again.", 2),
)
"""How trainings end, each with its reason and its weight."""
SURE_AFTER = 8
"""The attempt that completes whatever was drawn, so that every task comes to its end."""


@dataclass
class Training:
    """One training: its request, and its life."""

    name: str
    region: str
    request: dict[str, Any]
    created: float
    begins: float
    ends: float
    fate: str
    reason: str
    stop_asked: float | None = None
    stop_takes: float = 0.0

    @property
    def task(self) -> str:
        """The run and the task that it belongs to."""
        return self.name.rpartition("-")[0]

    def status(self, now: float) -> tuple[str, str]:
        """Return its status and secondary status at a moment."""
        if self.stop_asked is not None and self.stop_asked < self.ends and now >= self.stop_asked:
            return ("Stopped", "Stopped") if now >= self.ended_at else ("Stopping", "Stopping")
        if now >= self.ends:
            return self.fate, self.fate
        return "InProgress", "Training" if now >= self.begins else "Starting"

    @property
    def ended_at(self) -> float:
        """When it has ended, or will."""
        if self.stop_asked is not None and self.stop_asked < self.ends:
            return self.stop_asked + self.stop_takes
        return self.ends

    @property
    def billed(self) -> int:
        return int(max(self.ended_at - self.begins, 0.0))


@dataclass
class PaperSageMaker:
    """Every Region's trainings, and what was seen to go wrong when one was started."""

    hub: Hub
    seed: int
    trainings: dict[tuple[str, str], Training] = field(default_factory=dict)
    alive_twice: list[str] = field(default_factory=list)
    """Trainings that began while another of their task was alive."""
    begun_after_done: list[str] = field(default_factory=list)
    """Trainings that began after another of their task had completed."""

    def create_training_job(self, asked: dict[str, Any], region: str) -> dict[str, Any]:
        name, now = asked["TrainingJobName"], self.hub.now
        if (region, name) in self.trainings:
            raise refusal("ResourceInUse", "Training job names must be unique within an AWS account and region")
        training = self._draw(name, region, asked, now)
        for other in self.trainings.values():
            if other.task == training.task:
                status = other.status(now)[0]
                if status not in ENDED:
                    self.alive_twice.append(
                        f"{name} in {region} began while {other.name} in {other.region} was {status}"
                    )
                elif status == "Completed":
                    self.begun_after_done.append(f"{name} in {region} began after {other.name} was done")
        self.trainings[region, name] = training
        return {"TrainingJobArn": _arn(region, name)}

    def describe_training_job(self, asked: dict[str, Any], region: str, age: float = 0.0) -> dict[str, Any]:
        training = self._find(asked["TrainingJobName"], region)
        now = max(self.hub.now - age, training.created)
        status, secondary = training.status(now)
        ended = status in ENDED
        answer = {
            **training.request,
            "TrainingJobArn": _arn(region, training.name),
            "TrainingJobStatus": status,
            "SecondaryStatus": secondary,
            "CreationTime": _time(training.created),
            "LastModifiedTime": _time(training.ended_at if ended else now),
        }
        if now >= training.begins and training.ended_at > training.begins:
            answer["TrainingStartTime"] = _time(training.begins)
        if ended:
            answer |= {"TrainingEndTime": _time(training.ended_at), "BillableTimeInSeconds": training.billed}
            answer |= {
                "TrainingTimeInSeconds": training.billed,
                "FailureReason": training.reason if status == "Failed" else "",
            }
        return answer

    def stop_training_job(self, asked: dict[str, Any], region: str) -> dict[str, Any]:
        training = self._find(asked["TrainingJobName"], region)
        if training.status(self.hub.now)[0] in ENDED:
            raise refusal("ValidationException", "The request was rejected because the training job is in status ended")
        if training.stop_asked is None:
            training.stop_asked, training.stop_takes = self.hub.now, self.hub.chance.choice([1.0, 15.0, 60.0])
        return {}

    def list_training_jobs(self, asked: dict[str, Any], region: str) -> dict[str, Any]:
        wanted = asked.get("NameContains", "")
        found = [one for (where, name), one in self.trainings.items() if where == region and wanted in name]
        summaries = [{"TrainingJobName": one.name, "TrainingJobStatus": one.status(self.hub.now)[0]} for one in found]
        return {"TrainingJobSummaries": summaries}

    def list_tags(self, asked: dict[str, Any], region: str) -> dict[str, Any]:
        return {"Tags": self._find(asked["ResourceArn"].rpartition("/")[2], region).request.get("Tags", [])}

    def alive(self) -> list[str]:
        """Return the trainings that have not ended."""
        now = self.hub.now
        statuses = {f"{one.name} in {one.region}": one.status(now)[0] for one in self.trainings.values()}
        return [f"{name} is {status}" for name, status in statuses.items() if status not in ENDED]

    def _draw(self, name: str, region: str, request: dict[str, Any], now: float) -> Training:
        """Return a training whose life its name decides."""
        chance = Random(hashlib.sha256(f"{self.seed} {name}".encode()).digest())
        fate, reason, _ = chance.choices(FATES, [weight for *_, weight in FATES])[0]
        if int(name.rpartition("-")[2]) >= SURE_AFTER:
            fate, reason = "Completed", ""
        begins = now + chance.choice([1.0, 30.0, 200.0])
        ends = begins + chance.choice([0.5, 20.0, 100.0, 300.0])
        if reason.startswith("Capacity"):
            ends = begins
        return Training(name, region, request, now, begins, ends, fate, reason)

    def _find(self, name: str, region: str) -> Training:
        if (region, name) not in self.trainings:
            raise refusal("ValidationException", "Requested resource not found.")
        return self.trainings[region, name]


def _arn(region: str, name: str) -> str:
    return f"arn:aws:sagemaker:{region}:123456789012:training-job/{name}"


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, timezone.utc)
