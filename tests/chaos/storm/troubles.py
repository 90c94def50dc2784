"""What goes wrong in the cloud while a story is played. The local cloud counts the calls that it hits."""

from __future__ import annotations

import re
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud import LocalCloudError
from tests.fixtures.team import REGIONS
from tests.fixtures.witness import has_ended, task_and_attempt

if TYPE_CHECKING:
    from random import Random

    from tests.chaos.storm.stage import Stage

CALLS = ("*", "s3:*", "s3:PutObject", "s3:GetObject", "s3:ListObjectsV2", "batch:*", "batch:SubmitJob",
         "batch:TerminateJob", "sagemaker:*", "sagemaker:CreateTrainingJob", "sagemaker:DescribeTrainingJob",
         "sagemaker:StopTrainingJob", "logs:*")  # fmt: skip
BARE_CALLS = ("ec2:*", "ec2:RunInstances", "ec2:DescribeInstances", "ec2:TerminateInstances", "kubernetes:*",
              "kubernetes:CreateJob", "kubernetes:GetJob", "kubernetes:DeleteJob", "kubernetes:ListPods",
              "eks:DescribeCluster")  # fmt: skip
"""Further calls that are hit in stories over all platforms."""
ANSWERS = ("batch:ListJobs", "batch:DescribeJobs", "sagemaker:DescribeTrainingJob", "sagemaker:ListTrainingJobs")
"""Calls that AWS may answer with what was true a moment ago. S3 never does."""
STALE_S = 2.0
"""How long ago that is, in seconds, at the most."""
KINDS = ("throttle", "error", "reset", "slow", "stale", "down", "capacity", "quota")
NOTICE_S = 3.0
"""Seconds from a spot instance's notice to its end."""
SAVED_S = 40.0
"""Seconds for which a task is waited for that has saved something: some, for a slow machine."""
NO_SPOT, NO_SPOT_S = 0.7, (8.0, 20.0)
"""The part of reclaims after which a Region has no spot, and for how many seconds."""
ANYTHING_ELSE, LOSES_FIRST = 0.2, 0.4
"""The part of blows to an elastic training that hit anything else, and of the others that hit the first pod."""
FIRST_POD = re.compile(r"-0-[a-z0-9]+$")
WITH_TIMES = ("down", "capacity", "quota")
"""Faults that befall a Region: they are counted as one each."""


def draw_fault(kind: str, chance: Random, *, mixed: bool = False) -> tuple[str, dict[str, Any]]:
    """Return a fault of this kind that goes on for a while: what it hits, and the rest of it."""
    calls, answers = (CALLS, ANSWERS) if not mixed else ((*CALLS, *BARE_CALLS), (*ANSWERS, "ec2:DescribeInstances"))
    instance_type = chance.choice(["ml.c5.xlarge", "c5.xlarge"]) if mixed else "ml.c5.xlarge"
    seed = {"seed": chance.randrange(10**6), "percent": chance.choice([10, 25, 50])}
    if kind in ("error", "reset"):
        return chance.choice(calls), {**seed, "after": chance.random() < 0.5}
    if kind == "throttle":
        return chance.choice(calls), seed
    if kind == "slow":
        return chance.choice(calls), {**seed, "seconds": chance.choice([0.1, 0.4])}
    if kind == "stale":
        return chance.choice(answers), {**seed, "seconds": STALE_S}
    if kind == "down":
        return "*", {"region": REGIONS[1], "lasts": chance.uniform(1, 4)}
    if kind == "capacity":
        return "*", {"region": chance.choice(REGIONS), "seconds": 2.0, "instance_type": instance_type}
    quota = {"instance_type": instance_type, "value": chance.choice([0, 1]), "lasts": chance.uniform(1, 5)}
    return "*", {"region": chance.choice(REGIONS), **quota}


class Troubles:
    """Lets things go wrong on a stage, and counts how often they did, by kind."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._steering = stage.cloud.steering
        self.struck: Counter[str] = Counter()
        """Calls that were hit, and events that came, so far."""

    def begin(self, number: int, chance: Random, *, mixed: bool = False) -> list[str]:
        """Begin faults that last. Return what they are, in words.

        The number is that of the story: every tenth has none, the next eight one kind each, and all others several.
        """
        if number % 10 == 0:
            kinds = []
        elif number % 20 <= len(KINDS):
            kinds = [KINDS[number % 20 - 1]] * 2
        else:
            kinds = [chance.choice(KINDS) for _ in range(chance.choice([2, 3, 4]))]
        told = []
        for kind in kinds:
            what, parts = draw_fault(kind, chance, mixed=mixed)
            self._steering.add(kind, what, **parts)
            told.append(f"{kind} {what} {parts}")
            self.struck[kind] += kind in WITH_TIMES
        return told

    def strike(self, run: str, chance: Random) -> str:
        """Hit one training or job of a run, if any is alive. Return what came, in words."""
        alive: list[tuple[str, tuple[str, ...]]] = [
            (name, ("reclaim", "crash", "kill")) for name, _ in self._trainings(run)
        ]
        alive += [(job, ("reclaim", "kill")) for job in self._jobs(run)]
        witness = self._stage.witness
        alive += [
            (name, ("reclaim", "crash", "kill"))
            for name, machines in witness.instances(run).items()
            if any(machine.alive for machine in machines)
        ]
        alive += [
            (job["metadata"]["name"], ("reclaim", "crash", "kill", "evict"))
            for job in witness.kubernetes("jobs", run)
            if not has_ended(job)
        ]
        if not alive:
            return ""
        name, kinds = chance.choice(alive)
        kind = chance.choice(kinds)
        try:
            self._steering.add(kind, name, seconds=NOTICE_S)
        except LocalCloudError:
            return ""  # it has just ended
        self.struck[kind] += 1
        return f"{kind} {name}"

    def take_away(self, run: str, chance: Random) -> str:
        """Take the machines of a task that has saved something, and mostly spot of its Region with them.

        Return what came, in words; nothing if no task comes to have saved anything.
        """
        until = time.monotonic() + SAVED_S
        while not (alive := self._alive_and_saved(run)):
            if time.monotonic() > until:
                return ""
            time.sleep(0.3)
        name, region = chance.choice(alive)
        told = ""
        if chance.random() < NO_SPOT:
            seconds = chance.uniform(*NO_SPOT_S)
            self._steering.add("capacity", "*", region=region, purchase="spot", seconds=seconds)
            self.struck["capacity"] += 1
            told = f", and no spot in {region} for {seconds:.0f} s"
        try:
            self._steering.add("reclaim", name, seconds=NOTICE_S)
        except LocalCloudError:
            return told  # it has just ended
        self.struck["reclaim"] += 1
        return f"reclaim {name} in {region}{told}"

    def _alive_and_saved(self, run: str) -> list[tuple[str, str]]:
        """Return the trainings that run on spot and have a checkpoint where they run, each with its Region."""
        alive = []
        for region in REGIONS:
            saved = {key.split("/")[3] for key in self._stage.witness.saved(region, run)}
            alive += [
                (name, region) for name in self._running_in(region, run) if str(task_and_attempt(name)[0]) in saved
            ]
        return alive

    def _running_in(self, region: str, run: str) -> list[str]:
        witness = self._stage.witness
        names = [name for name, where in self._trainings(run) if where == region]
        for name, machines in witness.instances(run).items():
            names += [name] if any(one.alive and one.is_spot and one.region == region for one in machines) else []
        return names + [
            job["metadata"]["name"] for job in witness.kubernetes("jobs", run, region) if not has_ended(job)
        ]

    def lose_pod(self, run: str, chance: Random) -> str:
        """Let a pod of an elastic training go, often the first, or hit something else. Return what came, in words.

        It is waited for that its training has begun.
        """
        until = time.monotonic() + SAVED_S
        while not (pods := self._pods_at_work(run)) and time.monotonic() < until:
            time.sleep(0.3)
        if not pods or chance.random() < ANYTHING_ELSE:
            return self.strike(run, chance)
        first = [name for name in pods if FIRST_POD.search(name)]
        name = chance.choice(first if first and chance.random() < LOSES_FIRST else pods)
        kind = chance.choice(("reclaim", "crash", "kill", "evict"))
        try:
            self._steering.add(kind, name, seconds=NOTICE_S)
        except LocalCloudError:
            return ""  # it has just ended
        self.struck[kind] += 1
        return f"{kind} {name}"

    def _pods_at_work(self, run: str) -> list[str]:
        """Return the pods whose trainings have saved something, by their own word."""
        saved = {int(file.stem) for file in (self._stage.folder / run).glob("*.steps")}
        pods = self._stage.witness.kubernetes("pods", run)
        names = [pod["metadata"]["name"] for pod in pods if pod["status"]["phase"] == "Running"]
        return [name for name in names if int(name.rsplit("-", 4)[1]) in saved]

    def end(self) -> None:
        """Take all back."""
        for fault in self._steering.faults():
            if fault["struck"]:
                self.struck[fault["kind"]] += fault["struck"]
        self._steering.remove()

    def _trainings(self, run: str) -> list[tuple[str, str]]:
        """Return SageMaker's trainings that have not ended, each with its Region."""
        return [
            (job["TrainingJobName"], region)
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
