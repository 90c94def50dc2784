"""A training's way through its statuses: it waits for instances, runs, is interrupted, stopped, and ends."""

from __future__ import annotations

import itertools
import logging
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from orchestrator.localcloud.services.sagemaker import capacity
from orchestrator.localcloud.services.sagemaker.execution import Execution
from orchestrator.localcloud.services.sagemaker.host.channel_data import BadManifest
from orchestrator.localcloud.services.sagemaker.metrics import read_metrics
from orchestrator.localcloud.services.sagemaker.permissions import Forbidden
from orchestrator.localcloud.services.sagemaker.toolkit.starter import CannotStart
from orchestrator.localcloud.services.sagemaker.training import ENDED

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.localcloud.services.sagemaker.training import Training
    from orchestrator.localcloud.site import Site

log = logging.getLogger(__name__)

GRACE_S = 120.0
"""Seconds between SIGTERM and SIGKILL."""
_CHECKPOINTS_EVERY_S = 1.0

INTERNAL_ERROR = "InternalServerError: We encountered an internal error. Please try again."


class Lifecycle:
    """Runs the trainings of all Regions. They share this machine, so only `at_once` of them run at once.

    `lock` guards it and all trainings. To prepare and to finish a training takes long; workers do it without the lock.
    """

    def __init__(self, site: Site, at_once: int) -> None:
        self.lock = threading.RLock()
        self._site = site
        self._at_once = at_once
        self._numbers = itertools.count(1)
        self._shortages: dict[capacity.Shortage, float] = {}
        """The moment at which each shortage is over."""
        self._waiting: list[Training] = []
        self._executions: dict[Training, Execution] = {}
        self._workers = ThreadPoolExecutor(max(2, os.cpu_count() or 1), thread_name_prefix="training")

    def start(self, training: Training) -> None:
        """Take a new training; it starts as soon as there are instances for it."""
        with self.lock:
            self._move(training, "Starting")
            limits = training.request["StoppingCondition"]
            if wait := limits.get("MaxWaitTimeInSeconds"):
                self._after(training, wait, lambda: self.stop(training, "MaxWaitTimeExceeded"))
            if (pending := limits.get("MaxPendingTimeInSeconds")) and capacity.may_wait(training):
                self._after(training, pending, lambda: self._stop_pending(training))
            self._waiting.append(training)
            self._start_waiting()

    def stop(self, training: Training, secondary: str, message: str | None = None) -> None:
        """Stop a training that has not ended: by SIGTERM, and by SIGKILL after the grace. It ends as `secondary`.

        One that waits for instances ends at once; then the message says why, if not as usual.
        """
        with self.lock:
            if training.status != "InProgress":
                return
            training.stopping = secondary
            training.status = "Stopping"
            self._move(training, "Stopping")
            if training in self._waiting:
                self._waiting.remove(training)
                self._end(training, "Stopped", secondary, message)
            elif execution := self._executions.get(training):
                execution.signal(signal.SIGTERM)
                self._site.clock.after(GRACE_S, lambda: execution.signal(signal.SIGKILL))

    # Faults

    def interrupt(self, training: Training) -> bool:
        """Take a training's spot instances away now; return False when it has none."""
        return self._lose_instances(training, "Interrupted") if training.spot else False

    def crash(self, training: Training) -> bool:
        """Let a training's instances fail, which is not its fault; return False when it has none."""
        return self._lose_instances(training, "InternalServerError")

    def kill(self, training: Training) -> bool:
        """Kill a training as if it had taken too much memory; return False when it does not run."""
        with self.lock:
            execution = self._executions.get(training)
            if execution:
                execution.kill_for_memory()
            return execution is not None

    def _lose_instances(self, training: Training, why: str) -> bool:
        with self.lock:
            execution = self._executions.get(training)
            if execution is None or training.status != "InProgress":
                return False
            execution.lost_by = why
            execution.signal(signal.SIGKILL)
            return True

    def add_shortage(self, shortage: capacity.Shortage, seconds: float) -> None:
        """Let a Region have no more of some instances for a while. What runs there goes on."""
        with self.lock:
            self._shortages[shortage] = self._now() + seconds
        self._site.clock.after(seconds, self._start_waiting)

    def end_shortage(self, shortage: capacity.Shortage) -> None:
        """Let a Region have these instances again, now."""
        self.add_shortage(shortage, 0)

    # Waiting for instances

    def _start_waiting(self) -> None:
        """Start those that wait, in order, as far as the Regions and this machine have instances for them."""
        with self.lock:
            for training in list(self._waiting):
                if training not in self._waiting:
                    continue  # one before it has failed, and so called this for all that wait
                if self._lacks_capacity(training):
                    self._wait_or_fail_for_capacity(training)
                elif len(self._executions) < self._at_once:
                    self._waiting.remove(training)
                    self._execute(training)

    def _lacks_capacity(self, training: Training) -> bool:
        """Say whether there is nothing of what a training wishes for; else select the first that there is."""
        now = self._now()
        short = [each for each, until in self._shortages.items() if now < until]
        for wish in training.wishes:
            if not any(each.concerns(training, wish) for each in short):
                training.wish = wish
                return False
        return True

    def _wait_or_fail_for_capacity(self, training: Training) -> None:
        if not capacity.may_wait(training):
            self._waiting.remove(training)
            self._end(training, "Failed", "Failed", capacity.NO_CAPACITY)
        elif training.spot:
            training.transitions[-1]["StatusMessage"] = capacity.WAITING_FOR_CAPACITY
        elif training.secondary != "Pending":
            self._move(training, "Pending")

    def _stop_pending(self, training: Training) -> None:
        with self.lock:
            if training in self._waiting and training.started is None:
                self.stop(training, "Stopped", capacity.PENDING_TOO_LONG)

    # Running

    def _execute(self, training: Training) -> None:
        """Give a training its instances, and have a worker prepare and start it there."""
        now = self._now()
        training.hold(now)
        execution = Execution(self._site, training, next(self._numbers), now)
        self._executions[training] = execution
        self._move(training, "Downloading")
        self._hand_to_worker(training, lambda: self._prepare(training, execution))

    def _prepare(self, training: Training, execution: Execution) -> None:
        """Prepare an execution and start it, unless it is stopped or lost meanwhile. A worker calls this."""
        execution.prepare()
        with self.lock:
            if training.stopping is None and execution.lost_by is None:
                self._move(training, "Training")
                left = training.request["StoppingCondition"]["MaxRuntimeInSeconds"] - training.held
                execution.alarm = self._site.clock.after(left, lambda: self.stop(training, "MaxRuntimeExceeded"))
                execution.start(ended=lambda: self._hand_to_worker(training, lambda: self._finish(training, execution)))
                if execution.has_checkpoints:
                    self._save_checkpoints_later(training, execution)
                return
        self._finish(training, execution)

    def _save_checkpoints_later(self, training: Training, execution: Execution) -> None:
        """Have a worker save the checkpoints in a second, and every second from then on."""

        def save() -> None:
            if self._executions.get(training) is execution and execution.lost_by is None:
                execution.save_checkpoints()
                self._save_checkpoints_later(training, execution)

        self._site.clock.after(_CHECKPOINTS_EVERY_S, lambda: self._hand_to_worker(training, save))

    def _finish(self, training: Training, execution: Execution) -> None:
        """Upload what an execution leaves, and end its training, or start it again. A worker calls this."""
        if execution.alarm:
            execution.alarm.cancel()
        lines = execution.close_logs()
        definitions = training.request["AlgorithmSpecification"].get("MetricDefinitions", [])
        training.metrics.update(read_metrics(lines, definitions, self._now()))
        if execution.lost_by and training.stopping is None:
            self._restart(training, execution.lost_by)
            return
        failed = execution.failed_ending if training.stopping is None else None
        if training.status == "InProgress" and not failed:
            with self.lock:
                self._move(training, "Uploading")
        execution.save_checkpoints()
        execution.upload_output()
        if failed:
            self._end(training, "Failed", "Failed", execution.failure_reason(failed, lines))
            return
        training.artifact = execution.upload_model()
        if training.stopping:
            self._end(training, "Stopped", training.stopping)
        else:
            self._end(training, "Completed", "Completed")

    def _restart(self, training: Training, why: str) -> None:
        """Let a training that has lost its instances wait for others, before all who wait; or fail it."""
        with self.lock:
            self._remove_execution(training)
            training.release(self._now())
            if why == "Interrupted":
                self._move(training, "Interrupted")
                self._move(training, "Restarting")
            elif training.retries_left:
                training.retries += 1
                self._move(training, "Starting")
            else:
                self._end(training, "Failed", "Failed", INTERNAL_ERROR)
                return
            self._waiting.insert(0, training)
            self._start_waiting()

    # The end

    def _end(self, training: Training, status: str, secondary: str, message: str | None = None) -> None:
        with self.lock:
            if training.status in ENDED:
                return
            self._remove_execution(training)
            for alarm in training.alarms:
                alarm.cancel()
            training.end(status, secondary, self._now(), message)
            self._site.events.send_training_change(training)
            self._start_waiting()

    def _remove_execution(self, training: Training) -> None:
        execution = self._executions.pop(training, None)
        if execution:
            execution.clean_up()

    def _hand_to_worker(self, training: Training, step: Callable[[], None]) -> None:
        """Let a worker do a step. Whatever breaks there is the training's failure, in the words of SageMaker."""

        def work() -> None:
            try:
                step()
            except CannotStart as reason:
                self._end(training, "Failed", "Failed", f"AlgorithmError: {reason}, exit code: 1")
            except Forbidden as reason:
                self._end(training, "Failed", "Failed", f"ClientError: {reason}")
            except BadManifest as reason:
                self._end(training, "Failed", "Failed", f"ClientError: Data download failed: {reason}")
            except Exception as error:
                log.exception("training %s broke", training.name)
                self._end(training, "Failed", "Failed", f"InternalServerError: {error}")

        self._workers.submit(work)

    def _move(self, training: Training, secondary: str) -> None:
        """Change a training's secondary status, and send the event of that."""
        training.move(secondary, self._now())
        self._site.events.send_training_change(training)

    def _after(self, training: Training, seconds: float, action: Callable[[], None]) -> None:
        training.alarms.append(self._site.clock.after(seconds, action))

    def _now(self) -> float:
        return self._site.clock.now()
