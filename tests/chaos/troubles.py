"""What goes wrong in the cloud while a story is played."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.localcloud import LocalCloudError
from tests.fixtures.team import REGIONS

if TYPE_CHECKING:
    from random import Random

    from tests.chaos.stage import Stage

CALLS = ("*", "s3:*", "s3:PutObject", "s3:GetObject", "batch:*", "batch:SubmitJob", "batch:TerminateJob",
         "sagemaker:*", "sagemaker:CreateTrainingJob", "sagemaker:DescribeTrainingJob", "logs:*")  # fmt: skip
ANSWERS = ("batch:ListJobs", "batch:DescribeJobs", "sagemaker:DescribeTrainingJob", "sagemaker:ListTrainingJobs")
"""Calls that AWS may answer with what was true a moment ago. S3 never does."""


def draw_fault(chance: Random) -> tuple[str, str, dict[str, Any]]:
    """Return a fault that goes on for a while: its kind, what it hits, and the rest of it."""
    kind = chance.choice(["throttle", "error", "reset", "slow", "stale", "down", "capacity", "quota"])
    seed = {"seed": chance.randrange(10**6), "percent": chance.choice([3, 10, 25])}
    if kind in ("error", "reset"):
        return kind, chance.choice(CALLS), {**seed, "after": chance.random() < 0.5}
    if kind == "throttle":
        return kind, chance.choice(CALLS), seed
    if kind == "slow":
        return kind, chance.choice(CALLS), {**seed, "seconds": chance.choice([0.2, 1.0])}
    if kind == "stale":
        return kind, chance.choice(ANSWERS), {**seed, "seconds": 2.0}
    if kind == "down":
        return kind, "*", {"region": REGIONS[1], "lasts": chance.uniform(1, 4)}
    if kind == "capacity":
        return kind, "*", {"region": chance.choice(REGIONS), "seconds": 2.0, "instance_type": "ml.c5.xlarge"}
    quota = {"instance_type": "ml.c5.xlarge", "value": chance.choice([0, 1]), "lasts": chance.uniform(1, 5)}
    return kind, "*", {"region": chance.choice(REGIONS), **quota}


class Troubles:
    """Lets things go wrong on a stage, and counts how often they did."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._steering = stage.cloud.steering
        self.struck = 0
        """Calls that were hit, and events that came, so far."""

    def begin(self, chance: Random) -> list[str]:
        """Begin up to three faults that last. Return what they are, in words."""
        told = []
        for _ in range(chance.choice([0, 1, 1, 2, 3])):
            kind, what, parts = draw_fault(chance)
            self._steering.add(kind, what, **parts)
            told.append(f"{kind} {what} {parts}")
            self.struck += kind in ("down", "capacity", "quota")
        return told

    def strike(self, run: str, chance: Random) -> str:
        """Hit one training or job of a run, if any is alive. Return what came, in words."""
        alive = [(name, ("reclaim", "crash", "kill")) for name in self._trainings(run)]
        alive += [(job, ("reclaim", "kill")) for job in self._jobs(run)]
        if not alive:
            return ""
        name, kinds = chance.choice(alive)
        kind = chance.choice(kinds)
        try:
            self._steering.add(kind, name)
        except LocalCloudError:
            return ""  # it has just ended
        self.struck += 1
        return f"{kind} {name}"

    def end(self) -> None:
        """Take all back."""
        self.struck += sum(fault["struck"] for fault in self._steering.faults())
        self._steering.remove()

    def _trainings(self, run: str) -> list[str]:
        return [
            job["TrainingJobName"]
            for region in REGIONS
            for job in self._stage.client("sagemaker", region).list_training_jobs(
                NameContains=f"{run}-", StatusEquals="InProgress"
            )["TrainingJobSummaries"]
        ]

    def _jobs(self, run: str) -> list[str]:
        found = []
        batch = self._stage.client("batch")
        for queue in ("sweep", *(f"sweep-{region}" for region in REGIONS)):
            jobs = batch.list_jobs(jobQueue=queue, filters=[{"name": "JOB_NAME", "values": [f"{run}-*"]}])
            for job in jobs["jobSummaryList"]:
                children = batch.list_jobs(arrayJobId=job["jobId"], jobStatus="RUNNING")["jobSummaryList"]
                found += [child["jobId"] for child in children] or [job["jobId"]]
        return found
