"""How full the slots of a lane can get: tasks are whole, so rarely to the last minute."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.arrays import SLACK

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Booleans, Floats, Integers

STEPS = 2**16
"""The time in so many steps. Hours are rounded down to them, so the answer is never too small."""
FEW = 400
"""Slots that hold more tasks than this lose nothing worth knowing."""


def busy_hours(lane: Integers, hours: Floats, open_hours: Floats, limited: Booleans) -> Floats:
    """Return, by lane, the hours that one slot of it can be busy for at most, whatever choices it is given.

    `lane` and `hours` are those of each choice. `open_hours` is the time that a slot of each lane is ours, which is
    also the answer for lanes that are not `limited`: nobody has to fill those well.
    """
    found = open_hours.copy()
    by_lane = np.argsort(lane, kind="stable")
    for rows in np.split(by_lane, np.flatnonzero(np.diff(lane[by_lane])) + 1):
        if len(rows) and limited[number := int(lane[rows[0]])]:
            lengths = np.unique(hours[rows]) / open_hours[number]
            if lengths[0] * FEW > 1:
                found[number] = _busy(lengths) * open_hours[number]
    return found


def _busy(lengths: Floats) -> float:
    """`lengths` as parts of the time, ascending."""
    times = lengths / lengths[0]
    if np.abs(times - np.rint(times)).max() < 1e-9:
        return float(min(np.floor(1 / lengths[0] * SLACK) * lengths[0], 1.0))
    steps = np.unique(np.floor(lengths * STEPS + 1e-6)).astype(np.int64).tolist()
    # Each task was rounded down by at most one step.
    return float(min((_reached(steps) + STEPS // steps[0]) / STEPS, 1.0))


def _reached(lengths: list[int]) -> int:
    """The largest sum of these lengths, each taken as often as one likes, within the time."""
    sums = np.zeros(STEPS + 1, dtype=bool)
    sums[0] = True
    for length in lengths:
        step = length
        while step <= STEPS:  # once more, twice more, four times more
            sums[step:] |= sums[:-step].copy()
            step *= 2
    return int(np.flatnonzero(sums)[-1])
