"""Says when a training on spot is stopped, so that its task goes on elsewhere and ends by its deadline.

The policy is asked when the training has just lost its machines, or has waited for some for long.

The move is written down before the training is stopped. A training that hears SIGTERM saves a checkpoint, and ends. Its
task goes on where the move says, once the platform has said that it has ended.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.errors import AccessError
from orchestrator.launcher.keep_deadline import Lost, choose_to_leave
from orchestrator.launcher.moving.checkpoint import find_checkpoint
from orchestrator.wire.result import Cause, TaskState
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from orchestrator.launcher.moving.moves import Moves
    from orchestrator.wire.beside.moves import Move
    from orchestrator.wire.result import Attempt, Outcome

log = logging.getLogger(__name__)

START_S = 900.0
"""Seconds that any start may take without a want of machines."""


class Leaving:
    """Watches one task's trainings for a reason to leave the place that they run at."""

    def __init__(self, moves: Moves) -> None:
        self.moves = moves
        self.task = moves.task
        self.history = moves.history
        self._number = 0
        """The number of the attempt that is watched."""
        self._move: Move | None = None
        self._losses = 0
        """Times that it has lost its machines, of which the policy was asked."""
        self._asked_at = 0.0

    def has_come(self, attempt: Attempt, outcome: Outcome) -> bool:
        """Return whether the training is to be stopped: a move is written down, maybe by us just now."""
        if attempt.lane.purchase is not Purchase.SPOT or attempt.others:
            return False
        if not self.moves.may_leave or attempt.number != self.history.newest:
            return False
        self._watch(attempt)
        if self._move is None:
            self._move = self._reconsider(attempt, outcome)
        return self._move is not None

    def explain(self, attempt: Attempt, outcome: Outcome) -> Outcome:
        """Return the end of a training as what it was: one that a move has stopped had lost its machines."""
        if outcome.cause is not Cause.STOPPED or not self.moves.may_leave or attempt.number != self.history.newest:
            return outcome
        move = self.moves.read()  # another launcher may have decided it, and stopped the training
        if move is None:
            return outcome
        cause = Cause.INTERRUPTED if outcome.seconds else Cause.CAPACITY
        return replace(outcome, state=TaskState.FAILED, cause=cause, reason=f"moved: {move.why}")

    def _watch(self, attempt: Attempt) -> None:
        """Begin to watch an attempt, if it is another one. A launcher before us may have decided to leave it."""
        if attempt.number != self._number:
            self._number, self._losses, self._asked_at = attempt.number, 0, 0.0
            self._move = self.moves.read()

    def _reconsider(self, attempt: Attempt, outcome: Outcome) -> Move | None:
        """Ask the policy when machines were lost, or have not come for long. Write down a move that it wants."""
        now = self.moves.world.now()
        waited_s = self._waited_s(attempt, outcome, now)
        waits = waited_s >= max(self.task.limits.patience_s, START_S)
        if outcome.interruptions <= self._losses and not waits:
            return None
        self._losses = outcome.interruptions
        if waits:
            self._asked_at = now
        envelope = self.task.limits.envelope
        # What it has run so far is billed at its end: until then it counts as the most that it can be.
        unbilled = max(attempt.rate * attempt.instances * outcome.seconds / 3600 - outcome.usd, 0.0)
        usd_left = None if envelope is None else envelope - self.history.spent - unbilled
        place = self._choose(Lost(attempt, outcome, waits, usd_left), now)
        if place is None:
            return None
        to = self.task.places[place]
        why = f"it lost its machines in {attempt.lane.region}"
        if waits:
            why = f"no machines in {attempt.lane.region} for {waited_s / 60:.0f} minutes"
        log.info("task %d attempt %d: %s: it goes on as %s", self.task.number, attempt.number, why, to.lane)
        return self.moves.decide(to, why)

    def _waited_s(self, attempt: Attempt, outcome: Outcome, now: float) -> float:
        """Return the seconds for which it has had no machines, since the policy was asked last."""
        since = outcome.lost_at
        if outcome.state is TaskState.STARTING and outcome.started_at is None:
            since = attempt.recorded_at
        return 0.0 if since is None else now - max(since, self._asked_at)

    def _choose(self, lost: Lost, now: float) -> int | None:
        try:
            found = find_checkpoint(self.history.attempts, self.moves.trainings)
        except AccessError as error:
            log.warning("task %d: stays, for its checkpoints cannot be looked at: %s", self.task.number, error)
            return None
        saved = self.moves.saved(found) if found else None
        return choose_to_leave(self.task, self.history.tried_before(lost.attempt), lost, now, saved)
