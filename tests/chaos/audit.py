"""What is really there of a run: by Batch, by SageMaker in every Region, and by the trainings themselves.

The ledger is only asked what it believes, and held against that.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud import names

if TYPE_CHECKING:
    from tests.chaos.stage import Stage

BROKEN = ("lost", "alive twice", "done twice", "orphans", "stuck", "bugs", "untrue")
"""The promises that a story can break."""
ENDED = ("Completed", "Failed", "Stopped")


@dataclass
class Audit:
    """What was found, counted."""

    broken: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Broken promises, each with what was seen."""
    trainings: int = 0
    tasks: int = 0
    bills: int = 0
    """Trainings whose bill was compared."""

    def find(self, promise: str, what: str) -> None:
        self.broken[promise].append(what)


class Auditor:
    """Looks at one run from outside."""

    def __init__(self, stage: Stage, run: str, audit: Audit) -> None:
        self.stage = stage
        self.run = run
        self.audit = audit

    def nothing_lives(self, when: str) -> None:
        """Check that no job and no training of the run is alive."""
        for job in self._jobs():
            if job["status"] not in ("SUCCEEDED", "FAILED"):
                self.audit.find("orphans", f"{self.run} {when}: job {job['jobName']} is {job['status']}")
        for name, training in self._trainings().items():
            if training["TrainingJobStatus"] not in ENDED:
                self.audit.find("orphans", f"{self.run} {when}: {name} is {training['TrainingJobStatus']}")

    def all_done(self, tasks: int, believed: dict[str, Any], billed: dict[str, float]) -> None:
        """Check that each task was done exactly once, and that what the run says of itself is so."""
        trainings = self._trainings()
        completed: dict[int, list[int]] = defaultdict(list)
        newest: Counter[int] = Counter()
        for name, training in trainings.items():
            task, attempt = (int(part) for part in name.removeprefix(f"{self.run}-").split("-"))
            newest[task] = max(newest[task], attempt)
            if training["TrainingJobStatus"] == "Completed":
                completed[task].append(attempt)
        for task in range(tasks):
            done = completed[task]
            if not done:
                self.audit.find("lost", f"{self.run}: task {task} has no training that completed")
            elif len(done) > 1 or newest[task] > min(done):
                self.audit.find("done twice", f"{self.run}: task {task} was done by {done}, of {newest[task]}")
        self._count_by_trainings(completed)
        if believed.get("done") != tasks:
            self.audit.find("lost", f"{self.run}: of {tasks} tasks these are done: {believed}")
        self._compare_bills(trainings, billed)
        self.audit.trainings += len(trainings)
        self.audit.tasks += tasks

    def _count_by_trainings(self, completed: dict[int, list[int]]) -> None:
        """Hold what trainings wrote down of themselves against what SageMaker says."""
        folder = self.stage.folder / self.run
        for mark in folder.glob("*.twice"):
            self.audit.find("alive twice", f"{self.run}: {mark.read_text()} began while another of its task was alive")
        finished: dict[tuple[int, str], set[int]] = defaultdict(set)
        for line in _lines(folder / "finished"):
            task, attempt, host, _ = line.split()
            finished[int(task), host].add(int(attempt))
        for task, attempts in completed.items():
            if not finished[task, "algo-1"] >= set(attempts):
                self.audit.find("untrue", f"{self.run}: task {task} is Completed, and never said that it finished")

    def _compare_bills(self, trainings: dict[str, Any], billed: dict[str, float]) -> None:
        for name, seconds in billed.items():
            real = float(trainings[name].get("BillableTimeInSeconds", 0.0)) if name in trainings else 0.0
            self.audit.bills += 1
            if abs(real - seconds) > 0.5:
                self.audit.find("untrue", f"{self.run}: {name} was billed {real} s, and is said to be {seconds} s")

    def _trainings(self) -> dict[str, Any]:
        found = {}
        for region in self.stage.cloud.regions:
            sagemaker = self.stage.client("sagemaker", region)
            jobs = sagemaker.list_training_jobs(NameContains=f"{self.run}-", MaxResults=100)["TrainingJobSummaries"]
            for job in jobs:
                name = job["TrainingJobName"]
                if name in found:
                    self.audit.find("done twice", f"{name} is in two Regions")
                found[name] = sagemaker.describe_training_job(TrainingJobName=name)
        return found

    def _jobs(self) -> list[dict[str, Any]]:
        batch, found = self.stage.client("batch"), []
        for queue in (names.QUEUE, *(names.lane_queue(region) for region in self.stage.cloud.regions)):
            filters = [{"name": "JOB_NAME", "values": [f"{self.run}-*"]}]
            found += batch.list_jobs(jobQueue=queue, filters=filters)["jobSummaryList"]
        return found

    def launchers_faults(self) -> None:
        """Check that no launcher ended by a fault of its own."""
        logs = self.stage.client("logs")
        for stream in logs.describe_log_streams(logGroupName="/aws/batch/job")["logStreams"]:
            events = logs.get_log_events(logGroupName="/aws/batch/job", logStreamName=stream["logStreamName"])["events"]
            for event in events:
                if "a fault in the launcher" in event["message"]:
                    self.audit.find("bugs", f"{stream['logStreamName']}: {event['message']}")


def _lines(file: Any) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


def counts(output: str) -> dict[str, Any]:
    """Return the counts by state of what `sweep status --json` has printed."""
    found: dict[str, Any] = json.loads(output)["counts"]
    return found
