"""Says what a task is billed for beside the hours that it trains, and by how much one bill is more than another."""

from __future__ import annotations

from math import isclose
from typing import TYPE_CHECKING

from orchestrator.spec.duration import HOUR, spell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.planner.offer.offer import Offer


def billed_besides(offer: Offer, lane: int, trained_h: float) -> Iterator[str]:
    """Yield what a task of so many hours is billed for on a lane beside these, if anything."""
    row = offer.lanes.iloc[lane]
    start, least = float(row["billed_start_h"]), float(row["least_h"])
    if trained_h + start < least:
        yield f"  billed: {spell(least * HOUR)}, the least there is"
    elif start:
        yield f"  billed: its start of {spell(start * HOUR)} as well, {trained_h + start:.3g} h in all"


def more_than(this: float, that: float) -> float:
    """Return by how much one number is more than another: 0 where they differ by rounding alone."""
    return 0.0 if isclose(this, that, rel_tol=1e-9) else this - that
