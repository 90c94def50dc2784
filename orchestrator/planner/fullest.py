"""How full the slots of a lane can get: tasks are whole, so rarely to the last minute."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from orchestrator.planner.problem import Floats, Problem

STEPS = 2**16
"""The horizon in so many steps. Hours are rounded down to them, so the answer is never too small."""
FEW = 400
"""Slots that hold more tasks than this lose nothing worth knowing."""


def fullest(problem: Problem) -> Floats:
    """By lane: no slot of it can be busy for more of its horizon than this, whatever it is given."""
    found = np.full(len(problem.slots), problem.horizon)
    choices = problem.choices
    by_lane = np.argsort(choices.lane, kind="stable")
    for rows in np.split(by_lane, np.flatnonzero(np.diff(choices.lane[by_lane])) + 1):
        lane = int(choices.lane[rows[0]])
        lengths = np.unique(np.floor(choices.hours[rows] / problem.horizon * STEPS + 1e-6)).astype(np.int64)
        if np.isfinite(problem.slots[lane]) and lengths[0] * FEW > STEPS:
            # Each task was rounded down by at most one step.
            lost = STEPS // lengths[0]
            found[lane] = min((_reached(lengths.tolist()) + lost) / STEPS, 1.0) * problem.horizon
    return found


def _reached(lengths: list[int]) -> int:
    """The largest sum of these lengths, each taken as often as one likes, within the horizon."""
    sums = np.zeros(STEPS + 1, dtype=bool)
    sums[0] = True
    for length in lengths:
        step = length
        while step <= STEPS:  # once more, twice more, four times more
            sums[step:] |= sums[:-step].copy()
            step *= 2
    return int(np.flatnonzero(sums)[-1])
