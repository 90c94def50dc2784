"""The moves of a task: where it goes on is written down, then what runs is stopped, then its checkpoint is brought.

What is written (`attempts/<task>/<n>.moved`) is followed by whoever comes later, after a kill or beside us. So the
checkpoint is brought to one Region, and its price is counted once. The next attempt is recorded when all of the
checkpoint is there: no training begins with a part of one.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.aws.copies import arrived_bytes, copy_object
from orchestrator.errors import AccessError, AlreadyExists, CloudError, NotFound
from orchestrator.launcher.moving.checkpoint import GB, UNREADABLE, find_checkpoint
from orchestrator.launcher.moving.saved import USUAL_USD_PER_GB, Ahead, Saved
from orchestrator.launcher.task_history import Standing
from orchestrator.wire.beside.moves import Move
from orchestrator.wire.names import S3Uri
from orchestrator.wire.result import TaskState

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.aws.copies import Target
    from orchestrator.aws.s3 import S3, Listed
    from orchestrator.errors import SweepError
    from orchestrator.launcher.moving.checkpoint import Checkpoint, Missing
    from orchestrator.launcher.task_history import TaskHistory
    from orchestrator.launcher.trainings import Trainings
    from orchestrator.launcher.world import World
    from orchestrator.wire.task import Lane, Place

log = logging.getLogger(__name__)


class Moves:
    """The moves of one task, as its launcher sees them."""

    def __init__(self, history: TaskHistory, trainings: Trainings, world: World) -> None:
        self.history = history
        self.task = history.task
        self.control = history.control
        self.trainings = trainings
        self.world = world
        self.copy_object: Callable[..., bool] = copy_object
        self._looked_after = 0
        """The number of the attempt after which we have looked for the newest checkpoint."""
        self._newest: Checkpoint | None = None
        self._denied: AccessError | None = None
        """Why we may not look for it, if we may not."""
        self._decided: Move | None = None
        """What was written down of a move when the next step was decided last."""
        self._there = ""
        """The address to which the newest checkpoint has been brought."""
        self._closed: set[str] = set()
        """Regions to which it cannot be brought."""

    def ahead(self) -> Ahead:
        """Return what is known of where the task may go on. Ask when no attempt is open."""
        found = self._find()
        self._decided = self.read() if found or self.may_leave else None
        moves_to = self.place_of(self._decided)
        if moves_to is not None and self.task.places[moves_to].lane.region in self._closed:
            moves_to = None
        closed = frozenset(self._closed)
        if found is None:
            return Ahead(moves_to=moves_to, closed=closed)
        paid_to = self._decided.lane.region if self._decided and self._decided.paid_from else ""
        return Ahead(self.saved(found, paid_to), moves_to, closed=closed)

    def bring(self, place: Place) -> bool:
        """Have the newest checkpoint where the next attempt runs. Return False if its step must be decided again.

        Raise CloudError where it may not be brought, and no later place needs it brought: without it, all that the task
        has done would be done again.
        """
        found = self._find()
        uri = self.trainings.template(place.lane).checkpoints_of(self.task.number)
        if self._denied is not None and self._forgets(place):
            return self._pass_over(place, self.history.attempts[-1].lane.region, self._denied)
        if found is None or uri in ("", found.uri, self._there):
            return True
        if self.world.terminated():
            return False
        if not self._may_go_on():
            return self.history.standing() is not Standing.WANTED
        if not self._agree_on(place, found):
            return False
        try:
            if not self._bring(found, place.lane):
                return False
        except AlreadyExists as error:
            log.warning("task %d: its checkpoint has changed: %s", self.task.number, error)
            self._looked_after = 0
            self.world.sleep(self.world.back_off(self.trainings.poll_s, 1))
            return False
        except UNREADABLE as error:
            if not self._may_go_on():
                return False
            return self._pass_over(place, found.region, error)
        self._there = uri
        log.info("task %d: its checkpoint of %.3g GB is in %s", self.task.number, found.gb, place.lane.region)
        return True

    # What is written down

    def read(self) -> Move | None:
        """Return the move that our submission has decided after the newest attempt. What it costs is noted."""
        found = self.written()
        if found is None:
            return None
        self._note_price(found)
        return found if found.submission == self.history.submission else None

    def written(self) -> Move | None:
        """Return the move after the newest attempt, whichever submission has decided it."""
        found = self.control.find(self._key, Move.from_json)
        return found[0] if found else None

    def decide(self, place: Place, why: str, known: Move | None = None) -> Move | None:
        """Write down that the task goes there, unless a move was decided that we did not know. Return what counts."""
        move = Move(
            self.task.number,
            self.history.newest,
            place.lane,
            place.site,
            place.instances,
            self.world.now(),
            self.history.submission,
            why,
        )
        self.control.advance(
            self._key, Move.from_json, lambda there: there.decided_again(move, known) if there else move
        )
        return self.read()

    def place_of(self, move: Move | None) -> int | None:
        """Return the number of the place that a move goes to; None if it is none of the task's."""
        places = enumerate(self.task.places)
        found = (number for number, one in places if move and (one.lane, one.site, one.instances) == move.to)
        return next(found, None)

    @property
    def _key(self) -> str:
        return self.control.keys.moved(self.task.number, self.history.newest)

    @property
    def may_leave(self) -> bool:
        """Return whether a training of the task may be stopped so that it goes on elsewhere: see leaving.py."""
        return self.task.limits.end_by is not None and self.task.limits.saved_every_s > 0

    def _agree_on(self, place: Place, found: Checkpoint) -> bool:
        """Return whether a move there is what counts. False if somebody has decided otherwise since we did.

        What was paid for bringing the checkpoint to another Region, and has not arrived there, costs nothing.
        """
        written = self.written()
        if written and written.paid_from and written.lane.region != place.lane.region:
            self.give_back(found, written.lane)
        there = self.read()
        if there and self.place_of(there) != self.place_of(self._decided):
            return False
        self._decided = self.decide(place, f"the next place is in {place.lane.region}", there)
        to = (place.lane, place.site, place.instances)
        return self._decided is not None and self._decided.to == to

    def _note_price(self, move: Move) -> None:
        outcome = self.history.outcomes.get(move.number)
        if outcome is not None:
            self.history.outcomes[move.number] = replace(outcome, moved_usd=move.usd)

    # The checkpoint

    def _find(self) -> Checkpoint | None:
        """Return the newest checkpoint if one of the task's places is in another Region; else None."""
        attempts = self.history.attempts
        if not attempts or all(place.lane.region == attempts[-1].lane.region for place in self.task.places):
            return None
        number = self.history.newest
        if self._looked_after != number:
            self._newest, self._there, self._denied, self._closed = None, "", None, set()
            try:
                self._newest = find_checkpoint(attempts, self.trainings)
            except AccessError as error:
                log.warning("task %d: its checkpoints cannot be looked at: %s", self.task.number, error)
                self._denied = error
            self._looked_after = number
        return self._newest

    def _forgets(self, place: Place) -> bool:
        """Return whether the task has run elsewhere last, and has maybe left a checkpoint there."""
        elsewhere = self.history.attempts[-1].lane.region != place.lane.region
        return elsewhere and any(one.seconds for one in self.history.outcomes.values())

    def _pass_over(self, place: Place, here: str, error: SweepError) -> bool:
        """Return False, for the step must be decided again: there is a later place here, where the checkpoint lies.

        Raise CloudError if there is none.
        """
        self._closed.add(place.lane.region)
        places = self.task.places if self.may_leave else self.task.places[self.task.places.index(place) + 1 :]
        cannot = _cannot_bring(here, place.lane.region, error)
        if all(other.lane.region != here for other in places):
            raise cannot from error
        log.warning("task %d: %s. It stays in %s", self.task.number, cannot.message, here)
        return False

    def saved(self, found: Checkpoint, paid_to: str = "") -> Saved:
        """Return what it takes to bring a checkpoint elsewhere."""
        return Saved(found.region, found.gb, self._usd_per_gb(found), paid_to)

    def _usd_per_gb(self, found: Checkpoint) -> float:
        prices = [place.leave_usd_per_gb for place in self.task.places if place.lane.region == found.region]
        return max((price for price in prices if price is not None), default=USUAL_USD_PER_GB)

    def _bring(self, found: Checkpoint, lane: Lane) -> bool:
        """Copy what is missing, and count its price before. Return whether all of it is there."""
        missing = found.missing_at(*self._target(lane))
        usd = self._usd(found, lane, sum(one.item.size for one in missing))
        self.control.advance(self._key, Move.from_json, lambda there: self._known(there).charged(found.uri, usd))
        self.read()
        reason = f"its checkpoint of {found.gb:.3g} GB is brought from {found.region} to {lane.region}"
        self.history.publish(TaskState.RUNNING, reason)
        try:
            if found.copy(missing, self._copy_one, self._may_go_on):
                return True
        except UNREADABLE:
            self.give_back(found, lane)
            raise
        if self.history.standing() is not Standing.WANTED:  # nobody will bring the rest
            self.give_back(found, lane)
        return False

    def _usd(self, found: Checkpoint, lane: Lane, size: int) -> float:
        """Return the dollars for bringing so many bytes of a checkpoint to a lane's Region."""
        return 0.0 if lane.region == found.region else size / GB * self._usd_per_gb(found)

    def _target(self, lane: Lane) -> tuple[S3, str]:
        """Return where a lane's trainings look for the checkpoint: the bucket, and the prefix in it."""
        at = S3Uri.parse(f"{self.trainings.template(lane).checkpoints_of(self.task.number)}/")
        return self.control.s3.elsewhere(lane.region, at.bucket), at.key

    def give_back(self, found: Checkpoint, lane: Lane) -> None:
        """Count no price for what has not arrived of a checkpoint that was to be brought there, and was paid."""
        left = sum(one.item.size - self._arrived_bytes(one) for one in found.missing_at(*self._target(lane)))
        back = self._usd(found, lane, left)
        self.control.advance(self._key, Move.from_json, lambda there: self._known(there).given_back(found.uri, back))
        self.read()

    def _arrived_bytes(self, one: Missing) -> int:
        """Return how many bytes have arrived of an object that is brought in parts, and is not whole."""
        upload = self.find(one.target.key)
        return arrived_bytes(one.target, upload) if upload else 0

    def _copy_one(self, source: S3, item: Listed, target: Target) -> bool:
        return self.copy_object(source, item, target, self, self._may_go_on)

    def _may_go_on(self) -> bool:
        """Return whether the task still waits for us to bring its checkpoint."""
        newest = self.history.newest
        self.history.refresh()
        if self.world.terminated() or self.history.newest != newest:
            return False
        return self.history.standing() is Standing.WANTED

    # Uploads in parts, as `aws.copies` asks for them

    def find(self, key: str) -> str | None:
        there = self.control.find(self._key, Move.from_json)
        return there[0].uploads.get(key) if there else None

    def note(self, key: str, upload: str) -> str:
        self.control.advance(self._key, Move.from_json, lambda there: self._known(there).begun(key, upload))
        return self.find(key) or upload

    def _known(self, there: Move | None) -> Move:
        if there is None:
            raise NotFound("somebody has removed it", where=self.control.s3.uri(self._key))
        return there


def _cannot_bring(here: str, there: str, error: SweepError) -> CloudError:
    """Return the error that ends a task whose checkpoint stays where it is."""
    hint = "then `sweep retry` goes on from it"
    mend = "let the launchers' role do that" if isinstance(error, AccessError) else "mend that"
    return CloudError(
        f"its checkpoint cannot be brought from {here} to {there}: {error.message}", hint=f"{mend}: {hint}"
    )
