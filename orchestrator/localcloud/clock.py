"""The cloud's time, and what is to happen at a time. Tests move it, so nobody waits an hour for a time-out."""

from __future__ import annotations

import heapq
import itertools
import logging
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

log = logging.getLogger(__name__)


class Alarm:
    """A call that is to be made later."""

    __slots__ = ("action",)

    def __init__(self, action: Callable[[], None]) -> None:
        self.action: Callable[[], None] | None = action

    def cancel(self) -> None:
        """Do not make the call. Cancelling twice, or too late, does nothing."""
        self.action = None


class Clock:
    """The cloud's time. One thread makes all later calls, so these must be short and hand their work on."""

    def __init__(self) -> None:
        self._offset = 0.0
        self._heap: list[tuple[float, int, Alarm]] = []
        self._order = itertools.count()
        self._changed = threading.Condition()
        threading.Thread(target=self._run, name="clock", daemon=True).start()

    def now(self) -> float:
        """Return the seconds since 1970."""
        return time.time() + self._offset

    def millis(self) -> int:
        """Return the milliseconds since 1970, as Batch and the logs count."""
        return int(self.now() * 1000)

    def after(self, seconds: float, action: Callable[[], None]) -> Alarm:
        """Make a call so many seconds from now. Return the alarm that cancels it."""
        alarm = Alarm(action)
        with self._changed:
            heapq.heappush(self._heap, (self.now() + seconds, next(self._order), alarm))
            self._changed.notify()
        return alarm

    def advance(self, seconds: float) -> None:
        """Move the time on. What would have happened meanwhile happens now."""
        with self._changed:
            self._offset += seconds
            self._changed.notify()

    def _run(self) -> None:
        while True:
            action = self._next().action
            if action is None:
                continue
            try:
                action()
            except Exception:
                log.exception("an alarm failed")

    def _next(self) -> Alarm:
        with self._changed:
            while True:
                if not self._heap:
                    self._changed.wait()
                elif (wait := self._heap[0][0] - self.now()) > 0:
                    self._changed.wait(wait)
                else:
                    return heapq.heappop(self._heap)[2]
