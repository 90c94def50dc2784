"""A limit in seconds, for those who ask for one. Without it planning looks at no clock, so plans are reproducible."""

from __future__ import annotations

from math import inf
from time import monotonic

GRACE_S = 0.5
"""Seconds that each step gets even after the limit: a poor plan is better than none."""


class TimeLimit:
    """The time that planning may still take, from now. It never runs out where no limit is given."""

    def __init__(self, limit_s: float = inf) -> None:
        self._end = monotonic() + limit_s if limit_s < inf else inf
        self.stopped = False
        """True once any step ended early because of this limit. A plan then says so."""

    @property
    def left(self) -> float:
        """Seconds that the next step may take: GRACE_S at least, and inf where there is no limit."""
        return inf if self._end == inf else max(self._end - monotonic(), GRACE_S)

    @property
    def is_out(self) -> bool:
        """True when the time is over. Whoever looks must then stop: looking is noted in `stopped`."""
        out = self._end < inf and monotonic() > self._end
        self.stopped |= out
        return out
