"""One run's objects in the control bucket, typed, and the rule for each of what may be written over it.

The rules in full, and why they make two arrays of one run harmless: docs/protocol.md.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from orchestrator.errors import AlreadyExists, InvalidRequest, NewerVersion, NotFound, Throttled
from orchestrator.wire.markers import CancelMarker, Fence
from orchestrator.wire.names import RunKeys
from orchestrator.wire.result import Attempt, Result, TaskState
from orchestrator.wire.template import Template

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.aws.s3 import S3, Stored
    from orchestrator.wire.ranges import Ranges

_T = TypeVar("_T")
_M = TypeVar("_M", Result, CancelMarker, Fence)

READERS = 16
"""Objects read at once."""
WRITE_TRIES = 20
"""Times that a write is tried which other writers of the object get ahead of: there are never more than a few."""


class Control:
    """The objects of one run in the control bucket. Several threads and machines may use them at once."""

    def __init__(self, s3: S3, run: str) -> None:
        self.s3 = s3
        self.run = run
        self.keys = RunKeys(run)

    def attempts(self, task: int) -> list[Attempt]:
        """Return all attempts that were ever recorded for the task, oldest first."""
        keys = [item.key for item in self.s3.list(self.keys.attempts_of(task))]
        return sorted(map(self._attempt, keys), key=lambda attempt: attempt.number)

    def attempt(self, task: int, number: int) -> Attempt:
        """Return this attempt. NotFound if it was never recorded."""
        return self._attempt(self.keys.attempt(task, number))

    def recorded(self, task: int | None = None) -> list[tuple[int, int]]:
        """Return the task and the number of every attempt of this task, or of all tasks, in order. None is read."""
        prefix = self.keys.attempts if task is None else self.keys.attempts_of(task)
        paths = [item.key.removeprefix(self.keys.attempts).removesuffix(".json") for item in self.s3.list(prefix)]
        return sorted((int(task), int(number)) for task, _, number in (path.partition("/") for path in paths))

    def record(self, attempt: Attempt) -> bool:
        """Record the attempt, and return True; return False when its number is taken.

        Then what was recorded before is what counts. An answer lost on the way also makes it False: see `S3.put_once`.
        """
        key = self.keys.attempt(attempt.task, attempt.number)
        return self.s3.put_once(key, _encode(attempt.to_json()))

    def result(self, task: int) -> tuple[Result, str] | None:
        """Return how the task stands, and the etag of that object; None when the task has left nothing yet."""
        return self._find(self.keys.result(task), Result.from_json)

    def write_result(self, result: Result) -> None:
        """Write this result, unless what lies there is newer. A writer that loses a race looks again."""
        self._advance(
            self.keys.result(result.task),
            Result.from_json,
            lambda there: there if there and not replaces(result, there) else result,
        )

    def newest_attempts(self) -> list[Attempt]:
        """Return the last attempt recorded of every task that has one, found by one listing."""
        last: dict[str, str] = {}
        for item in self.s3.list(self.keys.attempts):
            last[item.key.rpartition("/")[0]] = item.key  # listed in the order of their numbers
        with ThreadPoolExecutor(READERS) as pool:
            return list(pool.map(self._attempt, last.values()))

    def cancel_marker(self) -> CancelMarker:
        """Return which submissions are to stop, and which of them have."""
        found = self._find(self.keys.cancel, CancelMarker.from_json)
        return found[0] if found else CancelMarker()

    def cancelled(self, submission: int) -> bool:
        """Return whether this submission is to stop. A retry after a cancel is a later submission, and may run."""
        return submission <= self.cancel_marker().through

    def cancel(self, through: int) -> None:
        """Write the marker, or move it forward: from now on nothing of submissions 1..through is started."""
        self._advance(
            self.keys.cancel,
            CancelMarker.from_json,
            lambda there: replace(there, through=max(through, there.through)) if there else CancelMarker(through),
        )

    def conclude_cancel(self, through: int) -> None:
        """Say that nothing runs any more of submissions 1..through, which are cancelled."""
        self._advance(
            self.keys.cancel,
            CancelMarker.from_json,
            lambda there: replace(there or CancelMarker(through), ended=max(through, there.ended if there else 0)),
        )

    def fence(self) -> Fence:
        """Return which submission each task belongs to."""
        found = self._find(self.keys.fence, Fence.from_json)
        return found[0] if found else Fence()

    def hand_over(self, tasks: Ranges, to: int) -> None:
        """Move the fence: from now on these tasks belong to this submission, unless a newer one has them."""
        self._advance(self.keys.fence, Fence.from_json, lambda there: (there or Fence()).moved(to, tasks))

    def template(self, platform: str, region: str) -> Template:
        """Return what the run's tasks share in a Region, as `submit` left it."""
        key = self.keys.template(platform, region)
        return self._decode(key, self.s3.get(key), Template.from_json)

    def _attempt(self, key: str) -> Attempt:
        return self._decode(key, self.s3.get(key), Attempt.from_json)

    def _find(self, key: str, read: Callable[[dict[str, Any]], _T]) -> tuple[_T, str] | None:
        """Return what lies there and its etag, or None."""
        try:
            stored = self.s3.get(key)
        except NotFound:
            return None
        return self._decode(key, stored, read), stored.etag

    def _advance(self, key: str, read: Callable[[dict[str, Any]], _M], change: Callable[[_M | None], _M]) -> None:
        """Replace what lies there, if anything does, by what `change` makes of it. Who loses a race looks again."""
        for _ in range(WRITE_TRIES):
            found = self._find(key, read)
            there, etag = found or (None, None)
            wanted = change(there)
            if wanted == there:
                return
            try:
                self.s3.put_if(key, _encode(wanted.to_json()), etag)
            except (AlreadyExists, NotFound):
                continue  # somebody wrote, or removed, it since we looked
            return
        raise Throttled("too many writers of one object", where=self.s3.uri(key))

    def _decode(self, key: str, stored: Stored, read: Callable[[dict[str, Any]], _T]) -> _T:
        try:
            return read(stored.json())
        except NewerVersion as error:
            raise NewerVersion(error.message, where=self.s3.uri(key), hint=error.hint) from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InvalidRequest(f"cannot be understood: {error!r}", where=self.s3.uri(key)) from error


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
