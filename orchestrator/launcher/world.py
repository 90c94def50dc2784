"""Clock, sleep, chance and SIGTERM: what a launcher takes from outside. Tests hand in their own."""

from __future__ import annotations

import os
import random
import select
import signal
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

STEEPEST = 20
"""Waits grow to this many poll intervals, and no further."""


@dataclass(frozen=True)
class World:
    clock: Callable[[], float]
    sleep: Callable[[float], None]
    """Returns early when a SIGTERM comes."""
    terminated: Callable[[], bool]
    """Whether a SIGTERM has come."""
    uniform: Callable[[float, float], float]
    siblings: int = 1
    """Children of our array: all of them ask the same AWS."""

    def interval(self, poll_s: float) -> float:
        """Between two looks at a training: the more siblings, the longer, so that together they stay polite."""
        return max(poll_s, self.siblings / 5) * self.uniform(0.75, 1.25)

    def back_off(self, poll_s: float, refusals: int) -> float:
        """Full jitter: anything up to a bound that doubles with every refusal in a row."""
        bound = max(poll_s * STEEPEST, self.siblings)
        return self.uniform(0, min(bound, poll_s * 2.0 ** min(refusals, 30)))


def real(siblings: int) -> World:
    """The world as it is. To be called once, from the main thread: it takes SIGTERM over."""
    woken, waker = os.pipe()
    os.set_blocking(waker, False)
    came: list[int] = []
    signal.set_wakeup_fd(waker)  # the signal itself ends a sleep, without a race between looking and sleeping
    signal.signal(signal.SIGTERM, lambda number, _: came.append(number))

    def sleep(seconds: float) -> None:
        if came:
            time.sleep(min(seconds, 1.0))  # little time is left, and still AWS must not be hammered
        else:
            select.select([woken], [], [], max(seconds, 0.0))

    return World(time.time, sleep, lambda: bool(came), random.uniform, siblings)
