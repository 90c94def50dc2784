"""Stored objects that cannot be understood: each costs its own task a line, for it is left out, and named."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from orchestrator.errors import Damaged

if TYPE_CHECKING:
    from orchestrator.errors import SweepError

_NAMED = 5
"""The most objects that one error names."""
_BRING_BACK = "bring an earlier version of it back"
_ASK_AGAIN = "`sweep retry --task N` finds out again how a task ended"


class Damage:
    """Collects the objects that were left out. Several threads may use it at once."""

    def __init__(self) -> None:
        self._found: dict[str, str] = {}
        self._hints: dict[str, str] = {}
        """What to do about each object."""
        self._lock = threading.Lock()
        self._tasks: set[tuple[str, int]] = set()

    def tasks(self, run: str) -> set[int]:
        """Return the tasks of a run whose results cannot be understood: nobody knows how they stand."""
        return {task for its_run, task in self._tasks if its_run == run}

    def note(self, error: SweepError) -> None:
        """Remember what an error says of an object, whose address is the error's `where`."""
        with self._lock:
            self._found[error.where] = error.message
            self._hints[error.where] = error.hint or (_BRING_BACK if isinstance(error, Damaged) else "")

    def note_task(self, error: SweepError, run: str, task: int) -> None:
        """Remember what an error says of the result of a task."""
        self.note(error)
        with self._lock:
            self._tasks.add((run, task))
            if isinstance(error, Damaged):
                self._hints[error.where] = f"{_BRING_BACK}; {_ASK_AGAIN}"

    def mend(self, where: str, run: str, task: int) -> None:
        """Forget what was said of the result of a task: it can be understood now."""
        with self._lock:
            self._found.pop(where, None)
            self._hints.pop(where, None)
            self._tasks.discard((run, task))

    def check(self) -> None:
        """Raise Damaged, with the addresses of the objects, if any were left out."""
        if not self._found:
            return
        named = [f"{where} {why}" for where, why in sorted(self._found.items())]
        more = f"; and {len(named) - _NAMED:,} more" if len(named) > _NAMED else ""
        what = "1 stored object is" if len(named) == 1 else f"{len(named):,} stored objects are"
        raise Damaged(
            f"{what} left out: {'; '.join(named[:_NAMED])}{more}",
            hint="; ".join(sorted({part for hint in self._hints.values() for part in hint.split("; ") if part})),
        )
