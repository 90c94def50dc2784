"""How full the slots of a lane can get: tasks are whole, so rarely to the last minute."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.problem import SLACK

if TYPE_CHECKING:
    from orchestrator.planner.problem import Floats, Problem

STEPS = 2**16
"""The time in so many steps. Hours are rounded down to them, so the answer is never too small."""
FEW = 400
"""Slots that hold more tasks than this lose nothing worth knowing."""


def fullest(problem: Problem) -> Floats:
    """By lane: no slot of it can be busy for more of the time that it is ours than this, whatever it is given."""
    found = problem.open.copy()
    choices = problem.choices
    by_lane = np.argsort(choices.lane, kind="stable")
    for rows in np.split(by_lane, np.flatnonzero(np.diff(choices.lane[by_lane])) + 1):
        if len(rows) and np.isfinite(problem.most[choices.lane[rows[0]]]):
            lane = int(choices.lane[rows[0]])
            lengths = np.unique(choices.hours[rows]) / problem.open[lane]
            if lengths[0] * FEW > 1:
                found[lane] = _busy(lengths) * problem.open[lane]
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
