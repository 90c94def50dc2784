"""One run's objects in the control bucket, typed, and the rule for each of what may be written over it.

The rules in full, and why they make two arrays of one run harmless: docs/protocol.md.
"""

from __future__ import annotations

import json
import logging
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from orchestrator.aws.s3 import Written
from orchestrator.errors import AlreadyExists, Damaged, NotFound, SweepError, Throttled
from orchestrator.wire.beside.board import Board
from orchestrator.wire.beside.markers import CancelMarker, Fence, Limit, PauseMarker
from orchestrator.wire.beside.measured import KeptMetric, Measured
from orchestrator.wire.beside.moves import Move
from orchestrator.wire.beside.news import News
from orchestrator.wire.names import MOVED, RunKeys
from orchestrator.wire.result import Attempt, Result, TaskState
from orchestrator.wire.stored import damage_named
from orchestrator.wire.template import Template

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.aws.s3 import S3, Stored
    from orchestrator.wire.ranges import Ranges

_T = TypeVar("_T")
_M = TypeVar("_M", Result, CancelMarker, PauseMarker, Limit, Measured, Fence, Move)

log = logging.getLogger(__name__)

_ATTEMPT = re.compile(r"(?P<task>[0-9]{1,18})/(?P<number>[0-9]{1,9})\.json")
"""The rest of an attempt's key. What else lies there is none of ours."""
WRITE_TRIES = 20
"""Times that a write is tried which other writers of the object get ahead of: there are never more than a few."""


@dataclass(frozen=True)
class SeenBoard:
    """A board as it was read."""

    board: Board
    etag: str
    moment: int
    """The time of reading: milliseconds since the epoch, by S3's own clock."""


class Control:
    """The objects of one run in the control bucket. Several threads and machines may use them at once."""

    def __init__(self, s3: S3, run: str) -> None:
        self.s3 = s3
        self.run = run
        self.keys = RunKeys(run)
        self._told: dict[int, str] = {}
        """The key of the news that we have told last, by task."""
        self._untold: dict[int, str] = {}
        """The key of news that are still to be told, by task."""

    def attempts(self, task: int) -> list[Attempt]:
        """Return all attempts that were ever recorded for the task, oldest first."""
        keys = [item.key for item in self.s3.list(self.keys.attempts_of(task)) if not item.key.endswith(MOVED)]
        return sorted(map(self._attempt, keys), key=lambda attempt: attempt.number)

    def attempt(self, task: int, number: int) -> Attempt:
        """Return this attempt. NotFound if it was never recorded."""
        return self._attempt(self.keys.attempt(task, number))

    def recorded(self, task: int | None = None) -> list[tuple[int, int]]:
        """Return the task and the number of every attempt of this task, or of all tasks, in order. None is read."""
        prefix = self.keys.attempts if task is None else self.keys.attempts_of(task)
        paths = (_ATTEMPT.fullmatch(item.key.removeprefix(self.keys.attempts)) for item in self.s3.list(prefix))
        return sorted((int(path["task"]), int(path["number"])) for path in paths if path)

    def record(self, attempt: Attempt) -> bool:
        """Record the attempt, and return True; return False when its number is taken.

        Then what was recorded before is what counts. An answer lost on the way also makes it False: see `S3.put_once`.
        """
        key = self.keys.attempt(attempt.task, attempt.number)
        return self.s3.put_once(key, _encode(attempt.to_json()))

    def result(self, task: int) -> tuple[Result, str] | None:
        """Return how the task stands, and the etag of that object; None when the task has left nothing yet.

        A damaged result is as good as none: the attempts are recorded apart, and the platform knows how they ended.
        """
        try:
            return self.find(self.keys.result(task), Result.from_json)
        except Damaged as error:
            log.warning("%s", error)
            return None

    def write_result(self, result: Result) -> None:
        """Write this result, unless what lies there is newer. A writer that loses a race looks again.

        What lies there and cannot be understood is replaced. Then tell it by a name, for those who list. What we have
        told of the task before is taken back: so most tasks have one name only. It is news, not truth: should we be
        killed here, who reads all results sees this one too.
        """
        written = self.advance(
            self.keys.result(result.task),
            Result.from_json,
            lambda there: there if there and not replaces(result, there) else result,
            even_damaged=True,
        )
        if written:
            self._untold[result.task] = self.keys.news + News.of(result, written.etag, written.moment).name
        self._tell(result.task)

    def tell_again(self, task: int) -> None:
        """Tell how a task stands: whoever wrote its result may have been killed before it told of it."""
        key = self.keys.result(task)
        stored = self._stored(key)
        if stored:
            result = self._decode(key, stored, Result.from_json)
            self._untold[task] = self.keys.news + News.of(result, stored.etag, stored.moment).name
            self._tell(task)

    def _tell(self, task: int) -> None:
        """Tell what is still to be told of a task. If that fails, it is told with the next try."""
        key = self._untold.pop(task, None)
        if key is None:
            return
        try:
            self.s3.put_once(key, b"")
        except SweepError:
            self._untold.setdefault(task, key)
            raise
        before = self._told.get(task)
        self._told[task] = key
        if before:
            self.s3.delete(before)

    def cancel_marker(self) -> CancelMarker:
        """Return which submissions are to stop, and which of them have."""
        found = self.find(self.keys.cancel, CancelMarker.from_json)
        return found[0] if found else CancelMarker()

    def cancelled(self, submission: int) -> bool:
        """Return whether this submission is to stop. A retry after a cancel is a later submission, and may run."""
        return submission <= self.cancel_marker().through

    def cancel(self, through: int) -> None:
        """Write the marker, or move it forward: from now on nothing of submissions 1..through is started.

        One that cannot be understood is replaced.
        """
        self.advance(
            self.keys.cancel,
            CancelMarker.from_json,
            lambda there: replace(there, through=max(through, there.through)) if there else CancelMarker(through),
            even_damaged=True,
        )

    def conclude_cancel(self, through: int) -> None:
        """Say that nothing runs any more of submissions 1..through, which are cancelled."""
        self.advance(
            self.keys.cancel,
            CancelMarker.from_json,
            lambda there: replace(there or CancelMarker(through), ended=max(through, there.ended if there else 0)),
            even_damaged=True,
        )

    def pause_marker(self) -> PauseMarker:
        """Return of which submissions nothing more is begun."""
        found = self.find(self.keys.pause, PauseMarker.from_json)
        return found[0] if found else PauseMarker()

    def pause(self, submission: int, reason: str) -> None:
        """Say that no more tasks of this submission are to begin, and why. The first who says it is heard."""
        self.advance(
            self.keys.pause, PauseMarker.from_json, lambda there: (there or PauseMarker()).paused(submission, reason)
        )

    def measured(self) -> Measured:
        """Return the metrics that were read from the logs afterwards, and kept."""
        found = self.find(self.keys.measured, Measured.from_json)
        return found[0] if found else Measured()

    def keep(self, metrics: dict[str, KeptMetric]) -> None:
        """Keep these metrics with the run. Those of the same names give way, and what cannot be understood."""
        self.advance(
            self.keys.measured,
            Measured.from_json,
            lambda there: (there or Measured()).with_metrics(metrics),
            even_damaged=True,
        )

    def fence(self) -> Fence:
        """Return which submission each task belongs to."""
        found = self.find(self.keys.fence, Fence.from_json)
        return found[0] if found else Fence()

    def hand_over(self, tasks: Ranges, to: int) -> None:
        """Move the fence: from now on these tasks belong to this submission, unless a newer one has them."""
        self.advance(self.keys.fence, Fence.from_json, lambda there: (there or Fence()).moved(to, tasks))

    def template(self, platform: str, region: str) -> Template:
        """Return what the run's tasks share in a Region, as `submit` left it."""
        key = self.keys.template(platform, region)
        return self._decode(key, self.s3.get(key), Template.from_json)

    def board(self, platform: str, region: str) -> SeenBoard | None:
        """Return the board of a Region; None if nobody has written one yet."""
        key = self.keys.board(platform, region)
        try:
            stored = self.s3.get(key)
        except NotFound:
            return None
        return SeenBoard(self._decode(key, stored, Board.from_json), stored.etag, stored.moment)

    def write_board(self, platform: str, region: str, board: Board, etag: str | None) -> Written:
        """Write the board over the one that has this etag. AlreadyExists or NotFound if it is another one by now."""
        return self.s3.write(self.keys.board(platform, region), _encode(board.to_json()), etag)

    def _attempt(self, key: str) -> Attempt:
        attempt = self._decode(key, self.s3.get(key), Attempt.from_json)
        if self.keys.attempt(attempt.task, attempt.number) != key:
            said = f"attempt {attempt.number} of task {attempt.task}"
            raise Damaged(f"cannot be understood: it says that it is {said}", where=self.s3.uri(key))
        return attempt

    def find(self, key: str, read: Callable[[dict[str, Any]], _T]) -> tuple[_T, str] | None:
        """Return what lies there and its etag, or None."""
        stored = self._stored(key)
        return (self._decode(key, stored, read), stored.etag) if stored else None

    def _stored(self, key: str) -> Stored | None:
        try:
            return self.s3.get(key)
        except NotFound:
            return None

    def advance(
        self,
        key: str,
        read: Callable[[dict[str, Any]], _M],
        change: Callable[[_M | None], _M],
        *,
        even_damaged: bool = False,
    ) -> Written | None:
        """Replace what lies there, if anything does, by what `change` makes of it. Who loses a race looks again.

        Return what was written; None if it need not be. What cannot be understood is raised as Damaged, or taken for
        nothing, as `even_damaged` says.
        """
        for tries in range(WRITE_TRIES):
            stored = self._stored(key)
            etag = stored.etag if stored else None
            try:
                there = self._decode(key, stored, read) if stored else None
            except Damaged:
                if not even_damaged:
                    raise
                there = None
            wanted = change(there)
            if stored and wanted == there:
                # After a try of ours it is ours, and its answer was lost.
                return Written(stored.etag, stored.moment) if tries else None
            try:
                return self.s3.write(key, _encode(wanted.to_json()), etag)
            except (AlreadyExists, NotFound):
                continue  # somebody wrote, or removed, it since we looked
        raise Throttled("too many writers of one object", where=self.s3.uri(key))

    def _decode(self, key: str, stored: Stored, read: Callable[[dict[str, Any]], _T]) -> _T:
        with damage_named(self.s3.uri(key)):
            return read(stored.json())


def replaces(new: Result, old: Result) -> bool:
    """Return whether a result may replace another: newer attempts replace older ones, later states earlier ones.

    Among two endings of the same attempt the first one stays, except that `done` replaces any: it is only ever
    written on the platform's own word, while the others may rest on a cancel or on a launcher that is gone.
    """
    if new.order != old.order:
        return new.order > old.order
    return new.state in {old.state, TaskState.DONE}


def _encode(body: dict[str, Any]) -> bytes:
    return json.dumps(body, separators=(",", ":"), allow_nan=False).encode()
