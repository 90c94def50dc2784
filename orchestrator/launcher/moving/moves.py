"""Brings a task's newest checkpoint to where its next attempt runs, before that attempt is recorded.

Where the task goes on is written down first (`attempts/<task>/<n>.moved`). Whoever comes later, after a kill or beside
us, goes there too. So the checkpoint is brought to one Region, and its price is counted once. The attempt is recorded
when all of the checkpoint is there: no training begins with a part of one.
"""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from orchestrator.aws.copies import PART_BYTES, copy_object
from orchestrator.errors import AccessError, AlreadyExists, InvalidRequest, NotFound
from orchestrator.launcher.moving.newest import newest_checkpoint
from orchestrator.launcher.moving.saved import NOTHING_AHEAD, USUAL_USD_PER_GB, Ahead, Saved
from orchestrator.launcher.task_history import Standing
from orchestrator.wire.beside.moves import Move
from orchestrator.wire.names import S3Uri
from orchestrator.wire.result import TaskState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from orchestrator.aws.s3 import S3, Listed
    from orchestrator.launcher.task_history import TaskHistory
    from orchestrator.launcher.trainings import Trainings
    from orchestrator.launcher.world import World
    from orchestrator.wire.result import Attempt
    from orchestrator.wire.task import Place

log = logging.getLogger(__name__)

GB = 1e9
BATCH = 64
"""Small objects that are copied between two looks at whether we may go on."""
AT_ONCE = 8
"""Small objects that are copied at the same time."""
UNREADABLE = (AccessError, NotFound, InvalidRequest)
"""Errors after which a checkpoint is done without: they will not pass."""


@dataclass(frozen=True)
class _Found:
    """The newest checkpoint of the task."""

    uri: str
    region: str
    bucket: S3
    prefix: str
    objects: list[Listed]

    @property
    def gb(self) -> float:
        return sum(item.size for item in self.objects) / GB


class Moves:
    """The moves of one task, as its launcher sees them."""

    def __init__(self, history: TaskHistory, trainings: Trainings, world: World) -> None:
        self.history = history
        self.task = history.task
        self.control = history.control
        self.trainings = trainings
        self.world = world
        self.copy_object = copy_object
        self._looked_after = 0
        """The number of the attempt after which we have looked for the newest checkpoint."""
        self._newest: _Found | None = None
        self._decided: Move | None = None
        """What was written down of a move when the next step was decided last."""
        self._there = ""
        """The address to which the newest checkpoint has been brought."""

    def ahead(self) -> Ahead:
        """Return what is known of where the task may go on. Ask when no attempt is open."""
        found = self._find()
        self._decided = self._read() if found else None
        if found is None:
            return NOTHING_AHEAD
        paid = self._decided is not None and bool(self._decided.paid_from)
        paid_to = self._decided.lane.region if paid and self._decided else ""
        return Ahead(self._saved(found, paid_to), self._place_of(self._decided))

    def bring(self, place: Place) -> bool:
        """Have the newest checkpoint where the next attempt runs. Return False if its step must be decided again."""
        found = self._find()
        target = self.trainings.template(place.lane).checkpoints_of(self.task.number)
        if found is None or target in ("", found.uri, self._there):
            return True
        if self.world.terminated():
            return False
        if not self._may_go_on():
            return self.history.standing() is not Standing.WANTED
        move = self._decide(place)
        if move is None:
            return False
        try:
            self._charge(move, found, place)
            if not self._copy(found, place.lane.region, target):
                return False
        except AlreadyExists as error:
            log.warning("task %d: its checkpoint has changed: %s", self.task.number, error)
            self._looked_after = 0
            self.world.sleep(self.world.back_off(self.trainings.poll_s, 1))
            return False
        except UNREADABLE as error:
            log.warning("task %d: begins anew, for its checkpoint cannot be copied: %s", self.task.number, error)
            self._newest = None
            return False
        self._there = target
        log.info("task %d: its checkpoint of %.3g GB is in %s", self.task.number, found.gb, place.lane.region)
        return True

    # Where it lies

    def _find(self) -> _Found | None:
        """Return the newest checkpoint if one of the task's places is in another Region; else None."""
        attempts = self.history.attempts
        if not attempts or all(place.lane.region == attempts[-1].lane.region for place in self.task.places):
            return None
        number = self.history.newest
        if self._looked_after != number:
            self._newest, self._there = self._look(attempts), ""
            self._looked_after = number
        return self._newest

    def _look(self, attempts: Sequence[Attempt]) -> _Found | None:
        """Return what the last of these attempts has saved, or has been given, or the one before it."""
        seen = {""}
        for attempt in reversed(attempts):
            uri = self.trainings.template(attempt.lane).checkpoints_of(self.task.number)
            if uri in seen:
                continue
            seen.add(uri)
            try:
                at = S3Uri.parse(f"{uri}/")
                bucket = self.control.s3.elsewhere(attempt.lane.region, at.bucket)
                objects = newest_checkpoint(bucket.list(at.key), at.key, lambda key: bucket.get(key).body)  # noqa: B023
            except UNREADABLE as error:
                log.warning("task %d: its checkpoints cannot be looked at: %s", self.task.number, error)
                return None
            if objects:
                return _Found(uri, attempt.lane.region, bucket, at.key, objects)
        return None

    def _saved(self, found: _Found, paid_to: str = "") -> Saved:
        prices = [place.leave_usd_per_gb for place in self.task.places if place.lane.region == found.region]
        known = [price for price in prices if price is not None]
        return Saved(found.region, found.gb, max(known, default=USUAL_USD_PER_GB), paid_to)

    # Where it goes

    @property
    def _key(self) -> str:
        return self.control.keys.moved(self.task.number, self.history.newest)

    def _read(self) -> Move | None:
        """Return the move that our submission has decided after the newest attempt. What it costs is noted."""
        found = self.control.find(self._key, Move.from_json)
        if found is None:
            return None
        self._note_price(found[0])
        return found[0] if found[0].submission == self.history.submission else None

    def _decide(self, place: Place) -> Move | None:
        """Write down that the task goes there. None if somebody else has decided something since we did."""
        there = self._read()
        if there and self._place_of(there) != self._place_of(self._decided):
            return None
        lane, number = place.lane, self.history.newest
        why = f"the newest checkpoint is brought to {lane.region}"
        move = Move(
            self.task.number,
            number,
            lane,
            place.site,
            place.instances,
            self.world.now(),
            self.history.submission,
            why,
        )
        known = self._decided
        self.control.advance(
            self._key, Move.from_json, lambda there: there.decided_again(move, known) if there else move
        )
        self._decided = self._read()
        return self._decided

    def _place_of(self, move: Move | None) -> int | None:
        """Return the number of the place that a move goes to; None if it is none of the task's."""
        if move is None:
            return None
        to = (move.lane, move.site, move.instances)
        places = enumerate(self.task.places)
        return next((number for number, one in places if (one.lane, one.site, one.instances) == to), None)

    def _charge(self, move: Move, found: _Found, place: Place) -> None:
        """Count what bringing the checkpoint costs, before anything is copied."""
        usd = self._saved(found).usd_to(place.lane.region)
        self.control.advance(self._key, Move.from_json, lambda there: (there or move).charged(found.uri, usd))
        self._read()
        reason = f"its checkpoint of {found.gb:.3g} GB is brought from {found.region} to {place.lane.region}"
        self.history.publish(TaskState.RUNNING, reason)

    def _note_price(self, move: Move) -> None:
        outcome = self.history.outcomes.get(move.number)
        if outcome is not None:
            self.history.outcomes[move.number] = replace(outcome, moved_usd=move.usd)

    # How it comes there

    def _copy(self, found: _Found, region: str, uri: str) -> bool:
        """Copy what is not there yet, what says that all is whole last. Return whether all of it is there."""
        at = S3Uri.parse(f"{uri}/")
        target = self.control.s3.elsewhere(region, at.bucket)
        there = {item.key: item for item in target.list(at.key)}
        missing = [item for item in found.objects if not _is_copy(there.get(self._to(item, found, at)), item)]
        last = found.objects[-1]
        if missing and last not in missing:
            missing.append(last)
        for batch in _batches(missing, last):
            if not self._may_go_on():
                return False
            if not all(_at_once(lambda item: self._copy_one(found, item, target, at), batch)):
                return False
        return True

    def _copy_one(self, found: _Found, item: Listed, target: S3, at: S3Uri) -> bool:
        to = self._to(item, found, at)
        return self.copy_object(found.bucket, item, target, to, self, self._may_go_on)

    def _to(self, item: Listed, found: _Found, at: S3Uri) -> str:
        return at.key + item.key.removeprefix(found.prefix)

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


def _at_once(act: Callable[[Listed], bool], items: Sequence[Listed]) -> list[bool]:
    if len(items) == 1:
        return [act(items[0])]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(act, items))


def _is_copy(there: Listed | None, item: Listed) -> bool:
    """Return whether what lies at the target is a copy of an object: the same content, or made of it later."""
    if there is None or there.size != item.size:
        return False
    return there.etag == item.etag or there.modified_at > item.modified_at


def _batches(missing: Sequence[Listed], last: Listed) -> Iterator[list[Listed]]:
    """Yield small objects in batches, each large one by itself, and the last one after all others."""
    small = [item for item in missing if item.size <= PART_BYTES and item != last]
    for first in range(0, len(small), BATCH):
        yield small[first : first + BATCH]
    yield from ([item] for item in missing if item.size > PART_BYTES and item != last)
    yield from ([item] for item in missing if item == last)
