"""Which job runs when: the jobs of a Region's queues, and the compute environments that bound them.

Nothing here waits or polls. A job is started when room is made: at submit, at another's end, when a limit is raised.
"""

from __future__ import annotations

import shutil
import signal
import sys
import threading
from collections import deque
from typing import TYPE_CHECKING

from orchestrator.localcloud.batch.jobs import ENDED, NOT_STARTED, Attempt, Job
from orchestrator.localcloud.batch.retry import Exit
from orchestrator.localcloud.logs import Stream
from orchestrator.localcloud.processes import Command, Ending

if TYPE_CHECKING:
    from orchestrator.localcloud.batch.resources import ComputeEnvironment, Queue, Resources
    from orchestrator.localcloud.site import Site

LOG_GROUP = "/aws/batch/job"
GRACE_S = 30.0
"""Between SIGTERM and SIGKILL."""

CONTAINER_ENDED = "Essential container in task exited"
TIMED_OUT = "Job attempt duration exceeded timeout"


class Scheduler:
    """Of one Region. `lock` guards it, its jobs and its resources."""

    def __init__(self, site: Site, region: str, resources: Resources) -> None:
        self.lock = threading.RLock()
        self._site = site
        self._region = region
        self._resources = resources
        self._waiting: dict[str, deque[Job]] = {}
        self._running: dict[Job, ComputeEnvironment] = {}

    def submit(self, jobs: list[Job]) -> None:
        """Jobs of one queue, in order."""
        with self.lock:
            for job in jobs:
                self._wait(job)
            self.dispatch()

    def dispatch(self) -> None:
        """Start what has room, queue by queue; a queue's head holds back those behind it."""
        with self.lock:
            for queue in self._resources.queues_by_priority():
                waiting = self._waiting.get(queue.arn, deque())
                while waiting and queue.enabled:
                    if waiting[0].status != "RUNNABLE":  # cancelled meanwhile
                        waiting.popleft()
                    elif room := self._room(queue, waiting[0].spec.vcpus):
                        self._start(waiting.popleft(), room)
                    else:
                        break

    def cancel(self, job: Job, reason: str) -> None:
        """What has not started is not going to; what has started goes on."""
        with self.lock:
            for each in job.children or [job]:
                if each.status in NOT_STARTED:
                    each.cancelled = True
                    self._fail(each, reason)

    def terminate(self, job: Job, reason: str) -> None:
        """What has not started fails; what runs gets SIGTERM, and SIGKILL after the grace."""
        with self.lock:
            for each in job.children or [job]:
                each.terminated = each.terminated or each.status not in ENDED
                if each.status in NOT_STARTED:
                    self._fail(each, reason)
                elif each.status not in ENDED:
                    self._stop(each, reason)

    def _wait(self, job: Job) -> None:
        job.move("RUNNABLE", self._site.clock.millis())
        self._waiting.setdefault(job.spec.queue, deque()).append(job)

    def _room(self, queue: Queue, vcpus: float) -> ComputeEnvironment | None:
        for environment in self._resources.environments_of(queue):
            used = sum(job.spec.vcpus for job, where in self._running.items() if where is environment)
            if environment.enabled and used + vcpus <= environment.max_vcpus:
                return environment
        return None

    def _start(self, job: Job, environment: ComputeEnvironment) -> None:
        job.move("STARTING", self._site.clock.millis())
        self._running[job] = environment
        folder = self._site.work / "batch" / self._region / job.id
        folder.mkdir(parents=True)
        file = folder.with_suffix(".log")
        job.tail = self._site.logs.open(Stream(self._region, LOG_GROUP, job.log_stream), file)
        job.process = self._site.processes.start(
            Command(_argv(job), self._environment(job, environment), folder, file),
            started=lambda: self._on_started(job),
            ended=lambda ending: self._on_ended(job, ending),
        )

    def _environment(self, job: Job, environment: ComputeEnvironment) -> dict[str, str]:
        queue = job.spec.queue.rpartition("/")[2]
        ours = {
            "AWS_REGION": self._region,
            "AWS_DEFAULT_REGION": self._region,
            "AWS_BATCH_JOB_ID": job.id,
            "AWS_BATCH_JOB_ATTEMPT": str(len(job.attempts) + 1),
            "AWS_BATCH_JQ_NAME": queue,
            "AWS_BATCH_CE_NAME": environment.name,
        }
        if job.parent:
            ours["AWS_BATCH_JOB_ARRAY_INDEX"] = str(job.index)
            ours["AWS_BATCH_JOB_ARRAY_SIZE"] = str(len(job.parent.children))
        region = {key: ours[key] for key in ("AWS_REGION", "AWS_DEFAULT_REGION")}
        return {**self._site.environment, "PYTHONUNBUFFERED": "1", **region, **job.spec.environment, **ours}

    def _on_started(self, job: Job) -> None:
        with self.lock:
            job.started = self._site.clock.millis()
            job.move("RUNNING", job.started)
            if job.spec.timeout_s:
                job.alarm = self._site.clock.after(job.spec.timeout_s, lambda: self._time_out(job, len(job.attempts)))
            if job.ending:  # terminated between the order to start and the start
                self._stop(job, job.ending)

    def _on_ended(self, job: Job, ending: Ending) -> None:
        with self.lock:
            exit_ = _exit(ending, job.ending)
            self._record(job, exit_)
            del self._running[job]
            if ending.code == 0 and job.ending is None:
                job.status_reason = exit_.status_reason
                job.move("SUCCEEDED", self._site.clock.millis())
            elif job.ending is None and job.spec.retry.again(exit_, len(job.attempts)):
                job.stopped = None
                self._wait(job)
            else:
                self._fail(job, exit_.status_reason)
            self.dispatch()

    def _record(self, job: Job, exit_: Exit) -> None:
        """The attempt is over: its log is complete, its folder goes."""
        now = self._site.clock.millis()
        tail, job.tail, job.process = job.tail, None, None
        if job.alarm:
            job.alarm.cancel()
            job.alarm = None
        job.stopped = now
        started = job.started if job.status == "RUNNING" else None
        job.attempts.append(
            Attempt(
                started, now, exit_.exit_code, exit_.reason, exit_.status_reason, tail.stream.name if tail else None
            )
        )
        if tail:
            self._site.logs.close(tail)
            tail.file.unlink(missing_ok=True)
            shutil.rmtree(tail.file.with_suffix(""), ignore_errors=True)

    def _fail(self, job: Job, reason: str) -> None:
        job.stopped = self._site.clock.millis()
        job.status_reason = reason
        job.move("FAILED", job.stopped)

    def _time_out(self, job: Job, attempt: int) -> None:
        with self.lock:
            if job.status == "RUNNING" and len(job.attempts) == attempt:
                self._stop(job, TIMED_OUT)

    def _stop(self, job: Job, reason: str) -> None:
        job.ending = reason
        process = job.process
        if process:
            self._site.processes.signal(process, signal.SIGTERM)
            self._site.clock.after(GRACE_S, lambda: self._site.processes.signal(process, signal.SIGKILL))


def _argv(job: Job) -> list[str]:
    """`python` is the Python that runs this cloud: it has what the image would have."""
    program, *arguments = job.spec.command
    return [sys.executable if program in ("python", "python3") else program, *arguments]


def _exit(ending: Ending, why: str | None) -> Exit:
    if ending.code is None:
        reason = (
            f"CannotStartContainerError: Error response from daemon: failed to create task: {ending.refusal}: unknown"
        )
        return Exit(None, reason[:255], why or "Task failed to start")
    return Exit(ending.code, "", why or CONTAINER_ENDED)
