"""The time, sleep, chance and SIGTERM: what a launcher takes from outside. Tests hand in their own."""

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

LONGEST_BACK_OFF = 20
"""Poll intervals to which a wait after refusals grows, and no further."""


@dataclass(frozen=True)
class World:
    """All that a launcher takes from outside, but for AWS."""

    now: Callable[[], float]
    """Returns the time, in seconds since the epoch."""
    sleep: Callable[[float], None]
    """Sleeps for so many seconds, or until a SIGTERM comes."""
    terminated: Callable[[], bool]
    """Returns whether a SIGTERM has come."""
    uniform: Callable[[float, float], float]
    """Returns a random number between two others."""
    siblings: int = 1
    """Children of our array: all of them call the same AWS."""

    def back_off(self, poll_s: float, refusals: int) -> float:
        """Return the seconds to wait: at random, up to a bound that doubles with every refusal in a row."""
        bound = max(poll_s * LONGEST_BACK_OFF, self.siblings)
        return self.uniform(0, min(bound, poll_s * 2.0 ** min(refusals, 30)))


def real_world(siblings: int) -> World:
    """Return the world as it is. Call it once, from the main thread: it takes SIGTERM over."""
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
