"""Which job runs when: the jobs of a Region's queues, and the compute environments that bound them.

Nothing here waits or polls. A job is started when room is made: at submit, at another's end, when a limit is raised.
"""

from __future__ import annotations

import hashlib
import shutil
import signal
import sys
import threading
from collections import deque
from typing import TYPE_CHECKING

from orchestrator.localcloud.machines.processes import Command, Ending
from orchestrator.localcloud.services.batch import dependencies
from orchestrator.localcloud.services.batch.dependencies import Dependencies
from orchestrator.localcloud.services.batch.jobs import ENDED, NOT_STARTED, Attempt, Job
from orchestrator.localcloud.services.batch.retry import Exit
from orchestrator.localcloud.services.logs import Stream

if TYPE_CHECKING:
    from orchestrator.localcloud.services.batch.consumables import Consumables
    from orchestrator.localcloud.services.batch.resources import ComputeEnvironment, Queue, Resources
    from orchestrator.localcloud.site import Site

LOG_GROUP = "/aws/batch/job"
GRACE_S = 30.0
"""Between SIGTERM and SIGKILL."""

CONTAINER_ENDED = "Essential container in task exited"
TIMED_OUT = "Job attempt duration exceeded timeout"


class Scheduler:
    """Of one Region. `lock` guards it, its jobs and its resources."""

    def __init__(self, site: Site, region: str, resources: Resources, consumables: Consumables) -> None:
        self.lock = threading.RLock()
        self._site = site
        self._region = region
        self._resources = resources
        self._consumables = consumables
        self._dependencies = Dependencies()
        self._waiting: dict[str, deque[Job]] = {}
        self._running: dict[Job, ComputeEnvironment] = {}

    def submit(self, job: Job, awaited: list[tuple[Job, list[Job]]]) -> None:
        """A job, or an array's children in order; `awaited`: which of them wait for which others."""
        with self.lock:
            for each, others in awaited:
                self._dependencies.add(each, others)
            for each in job.children or [job]:
                if self._dependencies.holds(each):
                    self._move(each, "PENDING")
                else:
                    self._wait(each)
            for other in dependencies.ended_already(awaited):
                self._settle(other)
            self.dispatch()

    def dispatch(self) -> None:
        """Start what has room, queue by queue; a queue's head holds back those behind it."""
        with self.lock:
            for queue in self._resources.queues_by_priority():
                waiting = self._waiting.get(queue.arn, deque())
                while waiting and queue.enabled:
                    head = waiting[0]
                    if head.status != "RUNNABLE":  # cancelled meanwhile
                        waiting.popleft()
                    elif self._consumables.suffice(head.spec.needs) and (room := self._room(queue, head.spec.vcpus)):
                        self._start(waiting.popleft(), room)
                    else:
                        break

    def cancel(self, job: Job, reason: str) -> None:
        """What has not started is not going to; what has started goes on."""
        with self.lock:
            waiting = [each for each in job.children or [job] if each.status in NOT_STARTED]
            for each in waiting:
                each.cancelled, each.ending = True, reason
            self._give_up(waiting)

    def terminate(self, job: Job, reason: str) -> None:
        """What has not started fails; what runs gets SIGTERM, and SIGKILL after the grace."""
        with self.lock:
            living = [each for each in job.children or [job] if each.status not in ENDED]
            for each in living:
                each.terminated, each.ending = True, reason
            self._give_up([each for each in living if each.status in NOT_STARTED])
            for each in living:
                if each.status not in ENDED:
                    self._stop(each)

    def fail(self, job: Job, reason: str) -> None:
        """What was accepted, but can never run."""
        with self.lock:
            for each in job.children or [job]:
                self._end(each, "FAILED", reason)

    def strike(self, job: Job, *, reclaim: bool) -> bool:
        """Kill its process, or take away the host that it runs on; whether it ran."""
        with self.lock:
            if job.process is None:
                return False
            job.reclaimed = reclaim
            self._site.processes.signal(job.process, signal.SIGKILL)
            return True

    # The way to RUNNABLE, and from it

    def _give_up(self, waiting: list[Job]) -> None:
        """Jobs that wait for others fail when those have ended: so does Batch."""
        for each in waiting:
            if each.status in NOT_STARTED and not self._dependencies.holds(each):
                self._end(each, "FAILED", each.ending or "")
        self.dispatch()

    def _settle(self, ended: Job) -> None:
        """A job has ended: those behind it may run, or fall with it, and then those behind these."""
        queue = deque([ended])
        while queue:
            for job, succeeded in self._dependencies.settle(queue.popleft()):
                if succeeded and not job.ending:
                    self._wait(job)
                else:
                    queue += self._close(job, "FAILED", job.ending or dependencies.FAILED)

    def _wait(self, job: Job) -> None:
        self._move(job, "RUNNABLE")
        self._waiting.setdefault(job.spec.queue, deque()).append(job)

    def _room(self, queue: Queue, vcpus: float) -> ComputeEnvironment | None:
        for environment in self._resources.environments_of(queue):
            used = sum(job.spec.vcpus for job, where in self._running.items() if where is environment)
            if environment.enabled and used + vcpus <= environment.max_vcpus:
                return environment
        return None

    def _start(self, job: Job, environment: ComputeEnvironment) -> None:
        self._consumables.take(job.spec.needs)
        self._move(job, "STARTING")
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

    # Running, and the end

    def _on_started(self, job: Job) -> None:
        with self.lock:
            job.started = self._site.clock.millis()
            self._move(job, "RUNNING")
            if job.spec.timeout_s:
                job.alarm = self._site.clock.after(job.spec.timeout_s, lambda: self._time_out(job, len(job.attempts)))
            if job.ending:  # terminated between the order to start and the start
                self._stop(job)

    def _on_ended(self, job: Job, ending: Ending) -> None:
        with self.lock:
            exit_ = _exit(job, ending)
            self._record(job, exit_)
            del self._running[job]
            self._consumables.give_back(job.spec.needs)
            if exit_.exit_code == 0 and job.ending is None:
                self._end(job, "SUCCEEDED", exit_.status_reason)
            elif job.ending is None and job.spec.retry.again(exit_, len(job.attempts)):
                job.stopped = None
                self._wait(job)
            else:
                self._end(job, "FAILED", exit_.status_reason)
            self.dispatch()

    def _record(self, job: Job, exit_: Exit) -> None:
        """The attempt is over: its log is complete, its folder goes."""
        now = self._site.clock.millis()
        tail, job.tail, job.process, job.reclaimed = job.tail, None, None, False
        if job.alarm:
            job.alarm.cancel()
            job.alarm = None
        job.stopped = now
        started = job.started if job.status == "RUNNING" else None
        stream = tail.stream.name if tail else None
        job.attempts.append(Attempt(started, now, exit_.exit_code, exit_.reason, exit_.status_reason, stream))
        if tail:
            self._site.logs.close(tail)
            tail.file.unlink(missing_ok=True)
            shutil.rmtree(tail.file.with_suffix(""), ignore_errors=True)

    def _end(self, job: Job, status: str, reason: str) -> None:
        for ended in self._close(job, status, reason):
            self._settle(ended)

    def _close(self, job: Job, status: str, reason: str) -> list[Job]:
        """The last change of a job's state; the jobs that have ended by it: this one, and perhaps its array."""
        job.stopped = self._site.clock.millis()
        job.status_reason = reason
        self._move(job, status)
        return [each for each in (job, job.parent) if each and each.status in ENDED]

    def _move(self, job: Job, status: str) -> None:
        job.move(status, self._site.clock.millis())
        self._site.events.of_job(self._region, job)
        if job.parent and job.parent.status in ENDED:
            self._site.events.of_job(self._region, job.parent)

    def _time_out(self, job: Job, attempt: int) -> None:
        with self.lock:
            if job.status == "RUNNING" and len(job.attempts) == attempt:
                job.ending = TIMED_OUT
                self._stop(job)

    def _stop(self, job: Job) -> None:
        process = job.process
        if process:
            self._site.processes.signal(process, signal.SIGTERM)
            self._site.clock.after(GRACE_S, lambda: self._site.processes.signal(process, signal.SIGKILL))


def _argv(job: Job) -> list[str]:
    """`python` is the Python that runs this cloud: it has what the image would have."""
    program, *arguments = job.spec.command
    return [sys.executable if program in ("python", "python3") else program, *arguments]


def _exit(job: Job, ending: Ending) -> Exit:
    if job.reclaimed and job.ending is None:
        return Exit(None, "", f"Host EC2 (instance {_instance(job)}) terminated.")
    if ending.code is None:
        reason = (
            f"CannotStartContainerError: Error response from daemon: failed to create task: {ending.refusal}: unknown"
        )
        return Exit(None, reason[:255], job.ending or "Task failed to start")
    return Exit(ending.code, "", job.ending or CONTAINER_ENDED)


def _instance(job: Job) -> str:
    """The id of the machine that an attempt had; the same whenever the same is replayed."""
    return "i-0" + hashlib.sha256(f"{job.id}/{len(job.attempts)}".encode()).hexdigest()[:16]
