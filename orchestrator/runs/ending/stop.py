"""Stops the trainings of a cancelled run, by what was recorded of them, until each is proven to have ended."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from orchestrator.errors import AccessError, Damaged
from orchestrator.runs.ending.settle import poll
from orchestrator.runs.patience import PASSING

if TYPE_CHECKING:
    from orchestrator.aws.control import Control
    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.known.ledger import Ledger
    from orchestrator.runs.written.anchor import Anchor
    from orchestrator.wire.result import Attempt

log = logging.getLogger(__name__)

WORKERS = 4
"""Trainings that are asked for at once: AWS allows a few calls a second."""


class OpenAttempts:
    """The newest attempts of the submissions 1..through that nobody has seen end."""

    def __init__(self, anchor: Anchor, through: int, ledger: Ledger, cloud: Cloud) -> None:
        self._anchor = anchor
        self._through = through
        self._ledger = ledger
        self._cloud = cloud
        self.alive: dict[int, Attempt] = {}
        """Attempts by task that may run, or may have ended since."""
        self.unborn: dict[int, Attempt] = {}
        """Attempts by task that were recorded, and are not found. A start that was sent may still arrive."""
        self.ended: set[int] = set()
        """Tasks whose attempt we have seen end."""
        self.asked: set[tuple[str, str]] = set()
        """Region and name of each training that we have asked to stop."""
        self.proven: set[tuple[str, str]] = set()
        """Region and name of each training that we have seen ended."""
        self.hidden: dict[int, AccessError | Damaged] = {}
        """Attempts by task at which we may not look, or of which nobody can read where they are."""

    def find(self) -> None:
        """Look for attempts that were recorded since. The ledger must know the results that are in the bucket."""
        control = self._cloud.control(self._anchor.name)
        proven = self._ledger.proven(self._anchor.name)
        newest = {task: number for task, number in control.recorded() if number > proven.get(task, 0)}
        new = {
            task: number
            for task, number in newest.items()
            if task not in self.alive or self.alive[task].number < number
            if task not in self.ended
        }
        with ThreadPoolExecutor(WORKERS) as pool:
            found = pool.map(lambda task: self._read(control, task, new[task]), new)
            ours = [attempt for attempt in found if attempt and attempt.submission <= self._through]
            self.alive |= {attempt.task: attempt for attempt in ours}

    def _read(self, control: Control, task: int, number: int) -> Attempt | None:
        try:
            return control.attempt(task, number)
        except Damaged as error:
            self.hidden[task] = error
            return None

    def stop(self) -> None:
        """Ask each that has not ended to stop. One that cannot be reached holds up no other."""
        with ThreadPoolExecutor(WORKERS) as pool:
            list(pool.map(self._stop, list(self.alive.values())))

    def _stop(self, attempt: Attempt) -> None:
        task = attempt.task
        try:
            outcome = poll(attempt, self._cloud)
            self.unborn.pop(task, None)
            if outcome is None:
                self.unborn[task] = attempt
            elif outcome.state.terminal:
                self.ended.add(task)
                self.proven.add((attempt.lane.region, attempt.training))
                self.alive.pop(task, None)
            else:
                self._cloud.runner(attempt.lane.platform).stop(attempt)
                self.asked.add((attempt.lane.region, attempt.training))
        except PASSING as error:
            log.warning("%s: not known to have stopped yet: %s", attempt.training, error.message)
        except AccessError as error:
            self.hidden[task] = error
            self.alive.pop(task, None)
