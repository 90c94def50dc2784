"""What is really there of a run: by Batch, by SageMaker, EC2 and EKS in every Region, and by the trainings themselves.

The ledger is only asked what it believes, and held against that.
"""

from __future__ import annotations

import json
import time
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud import names
from tests.chaos.storm.troubles import STALE_S
from tests.fixtures.witness import ec2_seconds, has_ended, pod_seconds, task_and_attempt

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.wire.result import Outcome
    from tests.chaos.report import Report
    from tests.chaos.storm.stage import Stage

ENDED = ("Completed", "Failed", "Stopped")
OLD_ANSWER_S = STALE_S + 0.2
"""Seconds after which no answer can be older than the moment that is asked about."""
LAST_LAUNCHER_S = 600.0
"""Seconds after a run's end until its last launchers find that nothing is left to do: many, for a slow machine."""


class Auditor:
    """Looks at one run from outside."""

    def __init__(self, stage: Stage, run: str, report: Report) -> None:
        self.stage = stage
        self.run = run
        self.report = report
        self.witness = stage.witness

    def nothing_lives(self, when: str) -> None:
        """Check that no job and no training of the run is alive now.

        AWS may tell us, too, what was true before. So what seems alive is asked again: had it ended by now?
        """
        now = time.time()
        if self._living(now):
            time.sleep(OLD_ANSWER_S)
            for one in self._living(now):
                self.report.find("orphans", f"{self.run} {when}: {one}")

    def nothing_lives_at_the_end(self) -> None:
        """Check that no training is alive, nor a little later any job."""
        now = time.time()
        for one in (*self._living_trainings(now), *self._living_machines(now)):
            self.report.find("orphans", f"{self.run} at its end: {one}")
        until = time.monotonic() + LAST_LAUNCHER_S
        while (living := self._living_jobs(time.time())) and time.monotonic() < until:
            time.sleep(0.5)
        for one in living:
            self.report.find("orphans", f"{self.run} at its end: {one}")

    def all_done(self, tasks: int, believed: dict[str, Any], outcomes: list[Outcome], *, elastic: bool = False) -> None:
        """Check that each task was done exactly once, and that what the run says of itself is so.

        An elastic training is done when its first pod is, and may have begun several times.
        """
        trainings = self._trainings()
        done = {name for name, one in trainings.items() if one["TrainingJobStatus"] == "Completed"}
        done |= self.witness.machines_done(self.run, elastic=elastic)
        begun = {line.split()[0] for line in read_lines(self.stage.folder / self.run / "trainings")}
        completed: dict[int, list[int]] = defaultdict(list)
        newest: Counter[int] = Counter()
        for name in trainings.keys() | begun:
            task, attempt = task_and_attempt(name)
            newest[task] = max(newest[task], attempt)
            if name in done:
                completed[task].append(attempt)
        for task in range(tasks):
            done = completed[task]
            if not done:
                self.report.find("lost", f"{self.run}: task {task} has no training that completed")
            elif len(done) > 1 or newest[task] > min(done):
                self.report.find("done twice", f"{self.run}: task {task} was done by {done}, of {newest[task]}")
        self._count_by_trainings(completed)
        for mark in (self.stage.folder / self.run).glob("*.strange"):
            self.report.find("untrue", f"{self.run}: {mark.read_text()}")
        if believed.get("done") != tasks:
            self.report.find("lost", f"{self.run}: of {tasks} tasks these are done: {believed}")
        self._compare_bills(trainings, outcomes)
        self.report.trainings += len(trainings.keys() | begun)
        self.report.tasks += tasks

    def count_restarts(self) -> None:
        """Count the further beginnings of attempts: torchrun starts all processes anew when a pod has gone."""
        begun = Counter(tuple(line.split()[:3]) for line in read_lines(self.stage.folder / self.run / "begun"))
        self.report.restarts += sum(times - 1 for (_, _, host), times in begun.items() if host == "algo-1")

    def _count_by_trainings(self, completed: dict[int, list[int]]) -> None:
        """Hold what trainings wrote down of themselves against what SageMaker says."""
        folder = self.stage.folder / self.run
        for mark in folder.glob("*.twice"):
            self.report.find("alive twice", f"{self.run}: {mark.read_text()} began while another of its task was alive")
        finished: dict[tuple[int, str], set[int]] = defaultdict(set)
        for line in read_lines(folder / "finished"):
            number, attempt, host, _ = line.split()
            finished[int(number), host].add(int(attempt))
        for task, attempts in completed.items():
            if not finished[task, "algo-1"] >= set(attempts):
                self.report.find("untrue", f"{self.run}: task {task} is Completed, and never said that it finished")

    def _compare_bills(self, trainings: dict[str, Any], outcomes: list[Outcome]) -> None:
        words, instances = self.witness.last_words(self.run), self.witness.instances(self.run)
        moments = self.witness.moments(self.run)
        for one in outcomes:
            name, least = one.training, 0.0
            if one.lane.platform == "sagemaker":
                least = most = float(trainings[name].get("BillableTimeInSeconds", 0.0)) if name in trainings else 0.0
            elif one.lane.platform == "ec2":
                least, most = ec2_seconds(instances.get(name, []), words.get(name, {}), one.ended_at)
            else:
                most = pod_seconds(one, self.run, moments)
            self.report.bills += 1
            self.report.by_platform[one.lane.platform] += 1
            if not least - 0.5 <= one.billable_s <= most + 0.5:
                real = f"{least} to {most} s" if least != most else f"{least} s"
                self.report.find(
                    "untrue", f"{self.run}: {name} was billed {real}, and is said to be {one.billable_s} s"
                )

    def _living(self, moment: float) -> list[str]:
        """Return what had not ended by this moment, in words."""
        return [*self._living_jobs(moment), *self._living_trainings(moment), *self._living_machines(moment)]

    def _living_trainings(self, moment: float) -> list[str]:
        living = []
        for name, training in self._trainings().items():
            # SageMaker tells no end of a training that never had instances: then it was last changed by its end.
            status, ended = training["TrainingJobStatus"], training.get("TrainingEndTime", training["LastModifiedTime"])
            if status not in ENDED or ended.timestamp() > moment:
                living.append(f"{name} is {status}, ended at {ended}")
        return living

    def _living_machines(self, moment: float) -> list[str]:
        """Return the instances, Jobs and pods that had not ended by this moment."""
        found = []
        for name, instances in self.witness.instances(self.run).items():
            for one in instances:
                if one.alive or (one.tells_end and (one.ended_at or 0.0) > moment):
                    found.append(f"an instance of {name} is {one.state}, ended at {one.ended_at}")
        jobs = [job for job in self.witness.kubernetes("jobs", self.run) if not has_ended(job)]
        phases = {pod["metadata"]["name"]: pod["status"]["phase"] for pod in self.witness.kubernetes("pods", self.run)}
        found += [f"the Job {job['metadata']['name']} has not ended" for job in jobs]
        return found + [f"the pod {name} is {phase}" for name, phase in phases.items() if phase == "Running"]

    def _living_jobs(self, moment: float) -> list[str]:
        living = []
        for job in self._jobs():
            status, stopped = job["status"], job.get("stoppedAt")
            if status not in ("SUCCEEDED", "FAILED") or (stopped and stopped / 1000 > moment):
                living.append(f"job {job['jobName']} is {status}, ended at {stopped}")
        return living

    def _trainings(self) -> dict[str, Any]:
        found = {}
        for region in self.stage.cloud.regions:
            sagemaker = self.stage.client("sagemaker", region)
            for page in sagemaker.get_paginator("list_training_jobs").paginate(NameContains=f"{self.run}-"):
                for job in page["TrainingJobSummaries"]:
                    name = job["TrainingJobName"]
                    if name in found:
                        self.report.find("done twice", f"{name} is in two Regions")
                    found[name] = sagemaker.describe_training_job(TrainingJobName=name)
        return found

    def _jobs(self) -> list[dict[str, Any]]:
        batch, found = self.stage.client("batch"), []
        for queue in (names.QUEUE, *(names.lane_queue(region) for region in self.stage.cloud.regions)):
            filters = [{"name": "JOB_NAME", "values": [f"{self.run}-*"]}]
            for page in batch.get_paginator("list_jobs").paginate(jobQueue=queue, filters=filters):
                found += page["jobSummaryList"]
        return found


def find_launchers_faults(stage: Stage, report: Report) -> None:
    """Check that no launcher ended by a fault of its own."""
    logs = stage.client("logs")
    for page in logs.get_paginator("describe_log_streams").paginate(logGroupName="/aws/batch/job"):
        for stream in page["logStreams"]:
            said = logs.get_log_events(logGroupName="/aws/batch/job", logStreamName=stream["logStreamName"])
            for event in said["events"]:
                if "a fault in the launcher" in event["message"]:
                    report.find("bugs", f"{stream['logStreamName']}: {event['message']}")


def read_lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


def counts(output: str) -> dict[str, Any]:
    """Return the counts by state of what `sweep status --json` has printed; none if it has printed no such thing."""
    _, brace, rest = output.partition("{")
    found: dict[str, Any] = json.JSONDecoder().raw_decode(brace + rest)[0].get("counts", {}) if brace else {}
    return found
