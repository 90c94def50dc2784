"""A training's way through its statuses: it waits for instances, runs, is interrupted, stopped, and ends."""

from __future__ import annotations

import itertools
import logging
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from orchestrator.localcloud.services.sagemaker import capacity, report, toolkit
from orchestrator.localcloud.services.sagemaker.job import ENDED
from orchestrator.localcloud.services.sagemaker.run import Run

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.localcloud.services.sagemaker.job import Training
    from orchestrator.localcloud.site import Site

log = logging.getLogger(__name__)

GRACE_S = 120.0
"""Between SIGTERM and SIGKILL."""
_CHECKPOINTS_EVERY_S = 1.0

INTERNAL = "InternalServerError: We encountered an internal error. Please try again."


class Lifecycle:
    """Of all Regions' trainings: they share this machine, so only some of them run at once."""

    def __init__(self, site: Site, at_once: int) -> None:
        self.lock = threading.RLock()
        self._site = site
        self._numbers = itertools.count(1)
        self._room = at_once
        self._shortages: dict[capacity.Shortage, float] = {}
        self._waiting: list[Training] = []
        self._runs: dict[Training, Run] = {}
        self._workers = ThreadPoolExecutor(max(2, os.cpu_count() or 1), thread_name_prefix="training")

    def start(self, training: Training) -> None:
        with self.lock:
            self._move(training, "Starting")
            limits = training.request["StoppingCondition"]
            if wait := limits.get("MaxWaitTimeInSeconds"):
                self._after(training, wait, lambda: self.stop(training, "MaxWaitTimeExceeded"))
            if (pending := limits.get("MaxPendingTimeInSeconds")) and capacity.may_wait(training):
                self._after(training, pending, lambda: self._stop_pending(training))
            self._waiting.append(training)
            self.admit()

    def stop(self, training: Training, secondary: str, message: str | None = None) -> None:
        """SIGTERM; SIGKILL after the grace. What has not started just ends."""
        with self.lock:
            if training.status != "InProgress":
                return
            training.stopping = secondary
            training.status = "Stopping"
            self._move(training, "Stopping")
            if training in self._waiting:
                self._waiting.remove(training)
                self._end(training, "Stopped", secondary, message)
            elif run := self._runs.get(training):
                run.signal(signal.SIGTERM)
                self._site.clock.after(GRACE_S, lambda: run.signal(signal.SIGKILL))

    # What befalls a training

    def interrupt(self, training: Training) -> bool:
        """Take its spot instances away, now; whether it had any."""
        return self._lose(training, "Interrupted") if training.spot else False

    def crash(self, training: Training) -> bool:
        """Its instances fail, and it is not to blame."""
        return self._lose(training, "InternalServerError")

    def kill(self, training: Training) -> bool:
        """Its processes are killed, as when they have taken too much memory."""
        with self.lock:
            run = self._runs.get(training)
            if run:
                run.exhaust()
            return run is not None

    def _lose(self, training: Training, why: str) -> bool:
        with self.lock:
            run = self._runs.get(training)
            if run is None or training.status != "InProgress":
                return False
            run.lost = why
            run.signal(signal.SIGKILL)
            return True

    def refuse(self, shortage: capacity.Shortage, seconds: float) -> None:
        """A Region has no more of these for a while; what runs there goes on."""
        with self.lock:
            self._shortages[shortage] = self._now() + seconds
        self._site.clock.after(seconds, self.admit)

    # Waiting

    def admit(self) -> None:
        """Give instances to those that wait, in order, as far as the Regions and this machine have any."""
        with self.lock:
            for training in list(self._waiting):
                if self._is_short(training):
                    self._refuse(training)
                elif self._room:
                    self._waiting.remove(training)
                    self._begin(training)

    def _is_short(self, training: Training) -> bool:
        now = self._now()
        return any(each.concerns(training) and now < until for each, until in self._shortages.items())

    def _refuse(self, training: Training) -> None:
        if not capacity.may_wait(training):
            self._waiting.remove(training)
            self._end(training, "Failed", "Failed", capacity.FAILURE)
        elif training.spot:
            training.transitions[-1]["StatusMessage"] = capacity.RETRYING
        elif training.secondary != "Pending":
            self._move(training, "Pending")

    def _stop_pending(self, training: Training) -> None:
        with self.lock:
            if training in self._waiting and training.started is None:
                self.stop(training, "Stopped", capacity.PENDING_TOO_LONG)

    # Running

    def _begin(self, training: Training) -> None:
        self._room -= 1
        now = self._now()
        training.hold(now)
        run = self._runs[training] = Run(self._site, training, next(self._numbers), now)
        self._move(training, "Downloading")
        self._work(training, lambda: self._prepare(training, run))

    def _prepare(self, training: Training, run: Run) -> None:
        """On a worker."""
        run.prepare()
        with self.lock:
            if training.stopping is None and run.lost is None:
                self._move(training, "Training")
                left = training.request["StoppingCondition"]["MaxRuntimeInSeconds"] - training.held
                run.alarm = self._site.clock.after(left, lambda: self.stop(training, "MaxRuntimeExceeded"))
                run.start(ended=lambda: self._work(training, lambda: self._finish(training, run)))
                if run.has_checkpoints:
                    self._site.clock.after(_CHECKPOINTS_EVERY_S, lambda: self._save_checkpoints(training, run))
                return
        self._finish(training, run)

    def _save_checkpoints(self, training: Training, run: Run) -> None:
        def save() -> None:
            if self._runs.get(training) is run and run.lost is None:
                run.save_checkpoints()
                self._site.clock.after(_CHECKPOINTS_EVERY_S, lambda: self._save_checkpoints(training, run))

        self._work(training, save)

    def _finish(self, training: Training, run: Run) -> None:
        """On a worker: what it leaves goes to S3 before its end is told."""
        if run.alarm:
            run.alarm.cancel()
        lines = run.close_logs()
        definitions = training.request["AlgorithmSpecification"].get("MetricDefinitions", [])
        training.metrics.update(report.metrics(lines, definitions, self._now()))
        if run.lost and training.stopping is None:
            self._restart(training, run.lost)
            return
        failed = run.failed if training.stopping is None else None
        if training.status == "InProgress" and not failed:
            with self.lock:
                self._move(training, "Uploading")
        run.save_checkpoints()
        run.upload_output()
        if failed:
            self._end(training, "Failed", "Failed", run.failure(failed, lines))
            return
        training.artifact = run.upload_model()
        if training.stopping:
            self._end(training, "Stopped", training.stopping)
        else:
            self._end(training, "Completed", "Completed")

    def _restart(self, training: Training, why: str) -> None:
        """It has lost its instances, and waits for others, if it may."""
        with self.lock:
            self._leave(training)
            training.release(self._now())
            if why == "Interrupted":
                self._move(training, "Interrupted")
                self._move(training, "Restarting")
            elif training.retries_left:
                training.retries += 1
                self._move(training, "Starting")
            else:
                self._end(training, "Failed", "Failed", INTERNAL)
                return
            self._waiting.insert(0, training)
            self.admit()

    # The end

    def _end(self, training: Training, status: str, secondary: str, message: str | None = None) -> None:
        with self.lock:
            if training.status in ENDED:
                return
            self._leave(training)
            for alarm in training.alarms:
                alarm.cancel()
            training.end(status, secondary, self._now(), message)
            self._site.events.of_training(training)
            self.admit()

    def _leave(self, training: Training) -> None:
        """Give back what it had of this machine."""
        run = self._runs.pop(training, None)
        if run:
            run.clear()
            self._room += 1

    def _work(self, training: Training, step: Callable[[], None]) -> None:
        """On a worker; whatever breaks there is the training's failure, told as SageMaker tells its own."""

        def run() -> None:
            try:
                step()
            except toolkit.Unlaunchable as reason:
                self._end(training, "Failed", "Failed", f"AlgorithmError: {reason}, exit code: 1")
            except Exception as error:
                log.exception("training %s broke", training.name)
                self._end(training, "Failed", "Failed", f"InternalServerError: {error}")

        self._workers.submit(run)

    def _move(self, training: Training, secondary: str) -> None:
        training.move(secondary, self._now())
        self._site.events.of_training(training)

    def _after(self, training: Training, seconds: float, action: Callable[[], None]) -> None:
        training.alarms.append(self._site.clock.after(seconds, action))

    def _now(self) -> float:
        return self._site.clock.now()
