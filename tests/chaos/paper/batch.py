"""AWS Batch on paper: arrays whose children are launchers, each an actor of the hub."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.chaos.paper.hub import Actor
from tests.chaos.paper.weather import refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.chaos.paper.hub import Hub

ENDED = ("SUCCEEDED", "FAILED")
GRACE_S = 30.0
"""Seconds from a SIGTERM to the SIGKILL."""
MOST_STARTS = 10
RESTART = 75


@dataclass
class Child:
    """One launcher's job, from its submission to its end."""

    index: int
    status: str = "RUNNABLE"
    reason: str = ""
    starts: int = 0
    started: float | None = None
    stopped: float | None = None
    code: int | None = None
    terminated: bool = False
    actor: Actor | None = None


@dataclass
class Job:
    """A job, or an array of them."""

    id: str
    request: dict[str, Any]
    created: float
    children: list[Child]

    @property
    def name(self) -> str:
        return str(self.request["jobName"])

    @property
    def status(self) -> str:
        if len(self.children) == 1:
            return self.children[0].status
        if any(child.status not in ENDED for child in self.children):
            return "PENDING"
        return "FAILED" if any(child.status == "FAILED" for child in self.children) else "SUCCEEDED"


@dataclass
class PaperBatch:
    """Batch in one Region. `launch` returns what a launcher does with this environment: its exit code."""

    hub: Hub
    launch: Callable[[Mapping[str, str]], int]
    jobs: list[Job] = field(default_factory=list)
    definitions: list[str] = field(default_factory=list)
    resources: dict[str, int] = field(default_factory=dict)
    hosts_lost: int = 0
    """Launchers that were killed with their host."""

    def register_job_definition(self, asked: dict[str, Any]) -> dict[str, Any]:
        self.definitions.append(asked["jobDefinitionName"])
        return {"jobDefinitionArn": f"arn:definition/{asked['jobDefinitionName']}"}

    def describe_job_definitions(self, asked: dict[str, Any]) -> dict[str, Any]:
        there = asked["jobDefinitionName"] in self.definitions
        return {"jobDefinitions": [{"jobDefinitionArn": f"arn:definition/{asked['jobDefinitionName']}"}] * there}

    def describe_consumable_resource(self, asked: dict[str, Any]) -> dict[str, Any]:
        name = asked["consumableResource"]
        if name not in self.resources:
            raise refusal("ClientException", f"consumable resource {name} does not exist")
        return {"totalQuantity": self.resources[name], "inUseQuantity": 0}

    def create_consumable_resource(self, asked: dict[str, Any]) -> dict[str, Any]:
        if asked["consumableResourceName"] in self.resources:
            raise refusal("ClientException", "consumable resource already exists")
        self.resources[asked["consumableResourceName"]] = asked["totalQuantity"]
        return {}

    def update_consumable_resource(self, asked: dict[str, Any]) -> dict[str, Any]:
        self.resources[asked["consumableResource"]] = asked["quantity"]
        return {}

    def submit_job(self, asked: dict[str, Any]) -> dict[str, Any]:
        size = asked.get("arrayProperties", {}).get("size", 1)
        job = Job(f"job-{len(self.jobs) + 1}", asked, self.hub.now, [Child(index) for index in range(size)])
        self.jobs.append(job)
        for child in job.children:
            self._start_later(job, child)
        return {"jobId": job.id, "jobName": job.name}

    def terminate_job(self, asked: dict[str, Any]) -> dict[str, Any]:
        for job in self.jobs:
            if job.id == asked["jobId"]:
                for child in job.children:
                    self._terminate(child, asked["reason"])
        return {}

    def cancel_jobs(self, asked: dict[str, Any]) -> dict[str, Any]:
        for wanted in asked["jobs"]:
            job_id, _, index = wanted.partition(":")
            for job in self.jobs:
                for child in job.children if job.id == job_id else ():
                    if child.status == "RUNNABLE" and index in ("", str(child.index)):
                        child.status, child.reason, child.stopped = "FAILED", asked["reason"], self.hub.now
        return {"successful": asked["jobs"], "errors": []}

    def list_jobs(self, asked: dict[str, Any]) -> dict[str, Any]:
        if "arrayJobId" in asked:
            array = next((job for job in self.jobs if job.id == asked["arrayJobId"]), None)
            children = array.children if array else []
            wanted = [child for child in children if child.status == asked["jobStatus"]]
            return {"jobSummaryList": [self._describe(array, child) for child in wanted] if array else []}
        prefix = asked["filters"][0]["values"][0].rstrip("*")
        here = [job for job in self.jobs if job.request["jobQueue"] == asked["jobQueue"]]
        return {"jobSummaryList": [self._describe(job) for job in here if job.name.startswith(prefix)]}

    def describe_jobs(self, asked: dict[str, Any]) -> dict[str, Any]:
        found = []
        for wanted in asked["jobs"]:
            job_id, _, index = wanted.partition(":")
            job = next((job for job in self.jobs if job.id == job_id), None)
            if job:
                found.append(self._describe(job, job.children[int(index)] if index else None))
        return {"jobs": found}

    def running(self) -> list[Actor]:
        """Return the launchers that live."""
        return [child.actor for job in self.jobs for child in job.children if child.actor and not child.actor.gone]

    def alive(self) -> list[str]:
        """Return the jobs that have not ended."""
        return [f"job {job.name} ({job.id}) is {job.status}" for job in self.jobs if job.status not in ENDED]

    def _describe(self, job: Job, child: Child | None = None) -> dict[str, Any]:
        only = child or (job.children[0] if len(job.children) == 1 else None)
        described: dict[str, Any] = {
            "jobId": f"{job.id}:{child.index}" if child and len(job.children) > 1 else job.id,
            "jobName": job.name,
            "status": child.status if child else job.status,
            "createdAt": int(job.created * 1000),
        }
        if only:
            described["container"] = {"exitCode": only.code} if only.code is not None else {}
            described["attempts"] = [{}] * only.starts
            described["statusReason"] = only.reason
            described |= {"startedAt": int(only.started * 1000)} if only.started else {}
            described |= {"stoppedAt": int(only.stopped * 1000)} if only.stopped else {}
        if len(job.children) > 1:
            counts = {
                status: sum(one.status == status for one in job.children) for status in (*ENDED, "RUNNING", "RUNNABLE")
            }
            described["arrayProperties"] = (
                {"index": child.index} if child else {"size": len(job.children), "statusSummary": counts}
            )
        return described

    def _start_later(self, job: Job, child: Child) -> None:
        self.hub.after(self.hub.chance.choice([1.0, 20.0, 90.0]), lambda: self._start(job, child))

    def _start(self, job: Job, child: Child) -> None:
        if child.status in ENDED:
            return
        child.status, child.starts, child.started = "RUNNING", child.starts + 1, self.hub.now
        variables = {one["name"]: one["value"] for one in job.request["containerOverrides"]["environment"]}
        variables |= {"AWS_BATCH_JOB_ID": job.id, "AWS_BATCH_JOB_ATTEMPT": str(child.starts)}
        if len(job.children) > 1:
            variables |= {
                "AWS_BATCH_JOB_ARRAY_INDEX": str(child.index),
                "AWS_BATCH_JOB_ARRAY_SIZE": str(len(job.children)),
            }
        name = f"launcher {job.name}:{child.index} ({job.id}, start {child.starts})"
        child.actor = Actor(name, "launcher", on_end=lambda code: self._end(job, child, code))
        self.hub.spawn(child.actor, lambda: self.launch(variables))

    def _end(self, job: Job, child: Child, code: int | None) -> None:
        """Do what Batch does when a launcher has ended, or is killed: one of three takes no host with it."""
        lost_host = code is None and not child.terminated and self.hub.chance.random() < 0.7
        child.code = 137 if code is None else code
        again = (code == RESTART or lost_host) and child.starts < MOST_STARTS
        if again and not child.terminated:
            child.status = "RUNNABLE"
            self._start_later(job, child)
            return
        child.status = "SUCCEEDED" if code == 0 and not child.terminated else "FAILED"
        child.stopped = self.hub.now
        if child.status == "FAILED" and not child.reason:
            child.reason = "Host EC2 (instance i-0) terminated." if lost_host else "Essential container in task exited"

    def _terminate(self, child: Child, reason: str) -> None:
        if child.status in ENDED or child.terminated:
            return
        child.terminated, child.reason = True, reason
        actor = child.actor
        if actor is None or actor.gone:
            child.status, child.stopped = "FAILED", self.hub.now
            return
        self.hub.terminate(actor)
        self.hub.after(GRACE_S, lambda: self.hub.kill(actor))
