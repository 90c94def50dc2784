"""The figures of a scaling run: speed-up, efficiency, and what the planner makes of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LEAST = 0.5
"""The efficiency at which twice the instances are no faster."""


@dataclass(frozen=True)
class Timing:
    """One training that has ended well."""

    instances: int
    seconds: float
    usd: float
    attempts: int = 1


@dataclass(frozen=True)
class ScalingRow:
    """One number of instances beside the smallest that was timed."""

    instances: int
    seconds: float
    speedup: float
    """Seconds on the smallest number, divided by those on this one."""
    ideal: float
    """The speed-up if no instance got less done than one of those."""
    efficiency: float
    """What is left of the ideal: 0.9 where each instance gets a tenth less done."""
    usd: float
    attempts: int
    """Starts of the training. More than one means that its time has losses in it that others do not have."""


def compare(timings: Sequence[Timing]) -> list[ScalingRow]:
    """Return a row for each timing, the smallest number of instances first: it is what the others are held against."""
    ordered = sorted(timings, key=lambda timing: timing.instances)
    rows = []
    for timing in ordered:
        speedup, ideal = ordered[0].seconds / timing.seconds, timing.instances / ordered[0].instances
        rows.append(
            ScalingRow(timing.instances, timing.seconds, speedup, ideal, speedup / ideal, timing.usd, timing.attempts)
        )
    return rows


def fit_efficiency(rows: Sequence[ScalingRow]) -> float | None:
    """Return the share of its speed that a training keeps when its instances double, as `train.efficiency` says it.

    It is the least-squares fit of log speed-up = log ideal × log₂(2η) through the smallest number. It is 1 at most, as
    the planner takes it, and `LEAST` where more instances are not faster. None if only one number was timed.
    """
    doublings = [math.log2(row.ideal) for row in rows]
    weight = math.fsum(x * x for x in doublings)
    if not weight:
        return None
    gained = math.fsum(x * math.log2(row.speedup) for x, row in zip(doublings, rows, strict=True)) / weight
    return min(max(2 ** (gained - 1), LEAST), 1.0)
