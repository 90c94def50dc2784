"""Decides which job starts when: the jobs of a Region's queues, and the compute environments that bound them.

Nothing here waits or polls. A job starts when it can: once it is submitted, when another ends, when a limit is raised.
"""

from __future__ import annotations

import hashlib
import shutil
import signal
import threading
from collections import deque
from typing import TYPE_CHECKING

from orchestrator.localcloud.machines.processes import Command, Ending
from orchestrator.localcloud.services.batch import containers, dependencies
from orchestrator.localcloud.services.batch.dependencies import Dependencies
from orchestrator.localcloud.services.batch.jobs import ENDED, NOT_STARTED, Attempt, Job
from orchestrator.localcloud.services.batch.retry import Exit
from orchestrator.localcloud.services.logs import LogStream

if TYPE_CHECKING:
    from orchestrator.localcloud.services.batch.consumables import Consumables
    from orchestrator.localcloud.services.batch.jobs import JobSpec
    from orchestrator.localcloud.services.batch.resources import ComputeEnvironment, Queue, Resources
    from orchestrator.localcloud.site import Site

GRACE_S = 30.0
"""Seconds between SIGTERM and SIGKILL."""

CONTAINER_ENDED = "Essential container in task exited"
TIMED_OUT = "Job attempt duration exceeded timeout"


class Scheduler:
    """Starts and ends the jobs of one Region. `lock` guards it, its jobs and its resources."""

    def __init__(self, site: Site, region: str, resources: Resources, consumables: Consumables) -> None:
        self.most_vcpus = float("inf")
        """What this machine bears, whatever the compute environments allow."""
        self.lock = threading.RLock()
        self._site = site
        self._region = region
        self._resources = resources
        self._consumables = consumables
        self._dependencies = Dependencies()
        self._runnable: dict[str, deque[Job]] = {}
        self._running: dict[Job, ComputeEnvironment] = {}

    def enqueue(self, job: Job, waiting: list[tuple[Job, list[Job]]]) -> None:
        """Take a job, or an array's children in their order. `waiting` says which of them wait for which others."""
        with self.lock:
            for each, others in waiting:
                self._dependencies.add(each, others)
            for each in job.children or [job]:
                if self._dependencies.is_waiting(each):
                    self._move(each, "PENDING")
                else:
                    self._make_runnable(each)
            for other in dependencies.ended_already(waiting):
                self._release_waiting(other)
            self.dispatch()

    def dispatch(self) -> None:
        """Start all jobs that can start, queue by queue. A queue's head holds back the jobs behind it."""
        with self.lock:
            for queue in self._resources.queues_by_priority():
                self._dispatch_queue(queue)

    def cancel(self, job: Job, reason: str) -> None:
        """Cancel a job as CancelJob does: what has not started never starts, and what has started goes on."""
        with self.lock:
            not_started = [each for each in job.children or [job] if each.status in NOT_STARTED]
            for each in not_started:
                each.cancelled = True
                each.end_reason = reason
            self._fail_not_started(not_started)

    def terminate(self, job: Job, reason: str) -> None:
        """End a job as TerminateJob does: what has not started fails, and what runs gets SIGTERM, later SIGKILL."""
        with self.lock:
            living = [each for each in job.children or [job] if each.status not in ENDED]
            for each in living:
                each.terminated = True
                each.end_reason = reason
            self._fail_not_started([each for each in living if each.status in NOT_STARTED])
            for each in living:
                if each.status not in ENDED:
                    self._stop(each)

    def fail(self, job: Job, reason: str) -> None:
        """Fail a job that was accepted but can never run."""
        with self.lock:
            for each in job.children or [job]:
                self._end(each, "FAILED", reason)

    def kill(self, job: Job, *, reclaim: bool) -> bool:
        """Kill a job's process; return False when it has none. With `reclaim` it ends as if its host were gone."""
        with self.lock:
            if job.process is None:
                return False
            job.reclaimed = reclaim
            self._site.processes.signal(job.process, signal.SIGKILL)
            return True

    # The way to RUNNABLE, and from it

    def _fail_not_started(self, jobs: list[Job]) -> None:
        """Fail jobs that are being ended. One that waits for others fails only when these have ended, as in Batch."""
        for each in jobs:
            if each.status in NOT_STARTED and not self._dependencies.is_waiting(each):
                self._end(each, "FAILED", each.end_reason or "")
        self.dispatch()

    def _release_waiting(self, ended: Job) -> None:
        """Let the jobs that waited for an ended one run or fail, and then those that waited for the failed ones."""
        queue = deque([ended])
        while queue:
            for job, may_run in self._dependencies.release(queue.popleft()):
                if may_run and not job.end_reason:
                    self._make_runnable(job)
                else:
                    queue += self._close(job, "FAILED", job.end_reason or dependencies.FAILED)

    def _make_runnable(self, job: Job) -> None:
        self._move(job, "RUNNABLE")
        self._runnable.setdefault(job.spec.queue, deque()).append(job)

    def _dispatch_queue(self, queue: Queue) -> None:
        runnable = self._runnable.get(queue.arn, deque())
        while runnable and queue.enabled:
            head = runnable[0]
            if head.status != "RUNNABLE":  # cancelled meanwhile
                runnable.popleft()
                continue
            environment = self._environment_for(head.spec, queue)
            if environment is None:
                return
            self._start(runnable.popleft(), environment)

    def _environment_for(self, spec: JobSpec, queue: Queue) -> ComputeEnvironment | None:
        """Return an environment with enough free vCPUs; None when there is none, or a consumable is lacking."""
        if not self._consumables.suffice(spec.needs):
            return None
        if sum(job.spec.vcpus for job in self._running) + spec.vcpus > self.most_vcpus:
            return None
        for environment in self._resources.environments_of(queue):
            used = sum(job.spec.vcpus for job, where in self._running.items() if where is environment)
            if environment.enabled and used + spec.vcpus <= environment.max_vcpus:
                return environment
        return None

    def _start(self, job: Job, environment: ComputeEnvironment) -> None:
        self._consumables.take(job.spec.needs)
        self._move(job, "STARTING")
        self._running[job] = environment
        folder = self._site.work / "batch" / self._region / job.id
        folder.mkdir(parents=True)
        file = folder.with_suffix(".log")
        job.tail = self._site.logs.open(LogStream(self._region, job.log_group, job.log_stream), file)
        if refusal := containers.why_not(self._site, self._region, job):
            self._site.clock.after(0, lambda: self._on_ended(job, Ending(None, refusal)))
            return
        variables = containers.variables(self._site, self._region, job, environment.name)
        job.process = self._site.processes.start(
            Command(containers.argv(job), variables, folder, file),
            started=lambda: self._on_started(job),
            ended=lambda ending: self._on_ended(job, ending),
        )

    # Running, and the end

    def _on_started(self, job: Job) -> None:
        with self.lock:
            job.started = self._site.clock.millis()
            self._move(job, "RUNNING")
            if job.spec.timeout_s:
                job.alarm = self._site.clock.after(job.spec.timeout_s, lambda: self._time_out(job, len(job.attempts)))
            if job.end_reason:  # terminated between the order to start and the start
                self._stop(job)

    def _on_ended(self, job: Job, ending: Ending) -> None:
        with self.lock:
            exit_ = _exit(job, ending)
            self._record_attempt(job, exit_)
            del self._running[job]
            self._consumables.give_back(job.spec.needs)
            if exit_.exit_code == 0 and job.end_reason is None:
                self._end(job, "SUCCEEDED", exit_.status_reason)
            elif job.end_reason is None and job.spec.retry.allows_another(exit_, len(job.attempts)):
                job.stopped = None
                self._make_runnable(job)
            else:
                self._end(job, "FAILED", exit_.status_reason)
            self.dispatch()

    def _record_attempt(self, job: Job, exit_: Exit) -> None:
        """Add an attempt that is over to its job; complete its log and remove its folder."""
        now = self._site.clock.millis()
        tail = job.tail
        job.tail = None
        job.process = None
        job.reclaimed = False
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
        """End a job, and let those that wait for it run or fail."""
        for ended in self._close(job, status, reason):
            self._release_waiting(ended)

    def _close(self, job: Job, status: str, reason: str) -> list[Job]:
        """Change a job's state for the last time; return what has ended by it: the job, and perhaps its array."""
        job.stopped = self._site.clock.millis()
        job.status_reason = reason
        self._move(job, status)
        return [each for each in (job, job.parent) if each and each.status in ENDED]

    def _move(self, job: Job, status: str) -> None:
        """Change a job's state, and send the event of that."""
        job.move(status, self._site.clock.millis())
        self._site.events.send_job_change(self._region, job)
        if job.parent and job.parent.status in ENDED:
            self._site.events.send_job_change(self._region, job.parent)

    def _time_out(self, job: Job, attempt: int) -> None:
        """End an attempt that has run too long. Nothing happens when another attempt runs by now."""
        with self.lock:
            if job.status == "RUNNING" and len(job.attempts) == attempt:
                job.end_reason = TIMED_OUT
                self._stop(job)

    def _stop(self, job: Job) -> None:
        """Send SIGTERM to a job's process, and SIGKILL when the grace is over."""
        process = job.process
        if process:
            self._site.processes.signal(process, signal.SIGTERM)
            self._site.clock.after(GRACE_S, lambda: self._site.processes.signal(process, signal.SIGKILL))


def _exit(job: Job, ending: Ending) -> Exit:
    """Say in Batch's words how the attempt that runs has ended."""
    if job.reclaimed and job.end_reason is None:
        return Exit(None, "", f"Host EC2 (instance {_instance(job)}) terminated.")
    if ending.refusal.startswith(containers.NOT_PULLED):
        return Exit(None, ending.refusal[:255], job.end_reason or "Task failed to start")
    if ending.refusal.startswith(containers.NOT_STARTED):
        return Exit(None, "", job.end_reason or ending.refusal)
    if ending.code is None:
        reason = (
            f"CannotStartContainerError: Error response from daemon: failed to create task: {ending.refusal}: unknown"
        )
        return Exit(None, reason[:255], job.end_reason or "Task failed to start")
    return Exit(ending.code, "", job.end_reason or CONTAINER_ENDED)


def _instance(job: Job) -> str:
    """Return the id of an attempt's machine. It is made from names, so a run that is replayed has the same ids."""
    return "i-0" + hashlib.sha256(f"{job.id}/{len(job.attempts)}".encode()).hexdigest()[:16]
