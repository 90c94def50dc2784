"""The hours that a slot can be busy for. Tasks are whole, so a slot is rarely full to the last minute."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.arrays import SLACK

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Booleans, Floats, Integers

STEPS = 2**16
"""Steps that the open time is cut into. Hours are rounded down to steps, so the answer is never too small."""
MANY_TASKS = 400
"""Tasks in one slot from which on the time lost at its end is not worth knowing."""


def busy_hours(lane: Integers, hours: Floats, open_hours: Floats, limited: Booleans) -> Floats:
    """Return, for each lane, the hours that one slot can be busy for at most, whichever choices it holds.

    `lane` and `hours` say for each choice where it runs and how long. `open_hours` says for each lane how long a slot
    is ours. It is also the answer for a lane that is not `limited`: nobody has to fill such a lane well.
    """
    found = open_hours.copy()
    by_lane = np.argsort(lane, kind="stable")
    for rows in np.split(by_lane, np.flatnonzero(np.diff(lane[by_lane])) + 1):
        if len(rows) and limited[number := int(lane[rows[0]])]:
            lengths = np.unique(hours[rows]) / open_hours[number]
            if lengths[0] * MANY_TASKS > 1:
                found[number] = _busy_part(lengths) * open_hours[number]
    return found


def _busy_part(lengths: Floats) -> float:
    """Return the part of the open time that tasks of these lengths can fill. Lengths are parts of it, ascending."""
    times = lengths / lengths[0]
    if np.abs(times - np.rint(times)).max() < 1e-9:  # all are multiples of the shortest, which alone fills as much
        return float(min(np.floor(1 / lengths[0] * SLACK) * lengths[0], 1.0))
    steps = np.unique(np.floor(lengths * STEPS + 1e-6)).astype(np.int64).tolist()
    # Each task was rounded down by at most one step.
    return float(min((_largest_sum(steps) + STEPS // steps[0]) / STEPS, 1.0))


def _largest_sum(lengths: list[int]) -> int:
    """Return the largest sum of these lengths within STEPS. Each may be taken any number of times."""
    is_sum = np.zeros(STEPS + 1, dtype=bool)
    is_sum[0] = True
    for length in lengths:
        step = length
        while step <= STEPS:  # once more, twice more, four times more
            is_sum[step:] |= is_sum[:-step].copy()
            step *= 2
    return int(np.flatnonzero(is_sum)[-1])
