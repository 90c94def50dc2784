"""What is really there at the end of a story on paper: by Batch, SageMaker and the bucket.

The ledger is only asked what it believes, and held against that.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from orchestrator.wire.names import RunKeys
from orchestrator.wire.result import TaskState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from orchestrator.runs.views.status import Status
    from orchestrator.wire.result import Outcome
    from tests.chaos.paper.cloud import PaperCloud
    from tests.chaos.report import Report

LAST_LAUNCHER_S = 900.0
"""Seconds after a run's end until its last launchers have found that nothing is left to do."""


class Auditor:
    """Looks at one run from outside. `find` takes note of a broken promise."""

    def __init__(self, cloud: PaperCloud, run: str, report: Report, find: Callable[[str, str], None]) -> None:
        self.cloud = cloud
        self.run = run
        self.report = report
        self.find = find

    def cancelled(self) -> None:
        """Check that no job and no training is alive."""
        for one in [*self.cloud.batch.alive(), *self.cloud.sagemaker.alive()]:
            self.find("orphans", f"after its cancel: {one}")

    def ended(self) -> None:
        """Check that no training is alive, nor a little later any job."""
        for one in self.cloud.sagemaker.alive():
            self.find("orphans", f"at its end: {one}")
        self.cloud.hub.sleep(LAST_LAUNCHER_S)
        for one in [*self.cloud.batch.alive(), *self.cloud.sagemaker.alive()]:
            self.find("orphans", f"a quarter of an hour after its end: {one}")

    def all_done(self, tasks: int, status: Status, outcomes: Iterable[Outcome]) -> None:
        """Check that each task was done exactly once, and that what the run says of itself is so."""
        trainings, now = self.cloud.sagemaker.trainings, self.cloud.hub.now
        done: dict[int, list[str]] = defaultdict(list)
        for (_, name), training in trainings.items():
            if training.status(now)[0] == "Completed":
                done[_task_and_attempt(name)[0]].append(name)
        for task in range(tasks):
            if not done[task]:
                self.find("lost", f"task {task} has no training that completed")
            elif len(done[task]) > 1:
                self.find("done twice", f"task {task} was done by {done[task]}")
        for what in self.cloud.sagemaker.alive_twice:
            self.find("alive twice", what)
        for what in self.cloud.sagemaker.begun_after_done:
            self.find("done twice", what)
        if status.counts.get(TaskState.DONE) != tasks:
            self.find("lost", f"of {tasks} tasks the run says {status.counts}")
        self._compare_bills(outcomes)
        self.report.trainings += len(trainings)
        self.report.tasks += tasks

    def _compare_bills(self, outcomes: Iterable[Outcome]) -> None:
        """Hold what the run says that it was billed against what SageMaker says, training by training."""
        trainings = self.cloud.sagemaker.trainings
        billed = {(outcome.lane.region, outcome.training): outcome.billable_s for outcome in outcomes}
        for key, seconds in billed.items():
            self.report.bills += 1
            real = trainings[key].billed if key in trainings else 0
            if abs(real - seconds) > 0.5:
                self.find("untrue", f"{key} was billed {real} s, and is said to be {seconds} s")
        for region, name in trainings:
            if (region, name) not in billed:
                self.find("untrue", f"the bill lacks {name} in {region}")
            if ("sweep-local", RunKeys(self.run).attempt(*_task_and_attempt(name))) not in self.cloud.s3.objects:
                self.find("orphans", f"{name} in {region} was never recorded")


def _task_and_attempt(training: str) -> tuple[int, int]:
    _, task, attempt = training.rsplit("-", 2)
    return int(task), int(attempt)
