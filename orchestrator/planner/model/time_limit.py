"""A limit in seconds, for those who ask for one. Else planning looks at no clock, so that plans are reproducible."""

from __future__ import annotations

from math import inf
from time import monotonic

GRACE = 0.5
"""Seconds that each step gets all the same: a poor plan is better than none."""


class TimeLimit:
    def __init__(self, limit_s: float = inf) -> None:
        self._end = monotonic() + limit_s if limit_s < inf else inf
        self.stopped = False
        """Whether anything ended early because of it."""

    @property
    def left(self) -> float:
        return inf if self._end == inf else max(self._end - monotonic(), GRACE)

    @property
    def is_out(self) -> bool:
        """Whoever asks and is told so stops."""
        out = self._end < inf and monotonic() > self._end
        self.stopped |= out
        return out
