"""The cloud's time, and what is to happen at a time. Tests move it; nobody has to wait an hour for a time-out."""

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
    """A call that is to be made later; `cancel` and it is not."""

    __slots__ = ("action",)

    def __init__(self, action: Callable[[], None]) -> None:
        self.action: Callable[[], None] | None = action

    def cancel(self) -> None:
        self.action = None


class Clock:
    """One thread makes all later calls. They must be short: whoever has work to do hands it on."""

    def __init__(self) -> None:
        self._offset = 0.0
        self._heap: list[tuple[float, int, Alarm]] = []
        self._order = itertools.count()
        self._changed = threading.Condition()
        threading.Thread(target=self._run, name="clock", daemon=True).start()

    def now(self) -> float:
        """Seconds since 1970."""
        return time.time() + self._offset

    def millis(self) -> int:
        return int(self.now() * 1000)

    def after(self, seconds: float, action: Callable[[], None]) -> Alarm:
        alarm = Alarm(action)
        with self._changed:
            heapq.heappush(self._heap, (self.now() + seconds, next(self._order), alarm))
            self._changed.notify()
        return alarm

    def advance(self, seconds: float) -> None:
        """Move on: what would have happened meanwhile happens now."""
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
