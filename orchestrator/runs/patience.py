"""Patience with AWS: what passes is waited out, for a while, and said."""

from __future__ import annotations

import logging
import random
import time
from typing import TYPE_CHECKING, TypeVar

from orchestrator.errors import SweepError, Throttled, Unreachable

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

PASSING = (Throttled, Unreachable)
"""Errors that say nothing about what was asked: asking again helps, and nothing else does."""
LIMIT_S = 900.0
"""Seconds without any answer after which it is given up."""
LONGEST_S = 30.0
"""Seconds of the longest wait."""

log = logging.getLogger(__name__)


class Patience:
    """Waits out errors that pass, longer from one to the next, until one call has gone through."""

    def __init__(self, sleep: Callable[[float], None] | None = None, limit_s: float = LIMIT_S) -> None:
        self._sleep = sleep or time.sleep
        self._limit_s = limit_s
        self._waited_s = 0.0
        self._errors = 0

    def ask(self, call: Callable[[], T]) -> T:
        """Return what this call returns, however often it must be made. Raise its error when patience is over."""
        while True:
            try:
                answer = call()
            except PASSING as error:
                self._wait(error)
            else:
                self._waited_s, self._errors = 0.0, 0
                return answer

    def _wait(self, error: SweepError) -> None:
        if self._waited_s >= self._limit_s:
            raise error
        self._errors += 1
        seconds = random.uniform(0.5, 1.0) * min(LONGEST_S, 2.0**self._errors)
        log.warning("%s: asking again in %.0f s", error.message, seconds)
        self._waited_s += seconds
        self._sleep(seconds)
