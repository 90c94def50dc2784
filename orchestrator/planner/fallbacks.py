"""Where a share goes if its first place has no capacity.

For each other Region, its best place; Regions first that still have slots for the share. Slots that one share may need
are not there for the next one of its Region, so that a Region's failure does not send everybody to the same place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.problem import NO_COPY, NO_POOL

if TYPE_CHECKING:
    from orchestrator.planner.cost import Offer
    from orchestrator.planner.problem import Floats, Integers, Solution

MAX_PLACES = 4
_PLENTY = 1e12
"""Slots of a lane without a known quota."""


class Fallbacks:
    """Hands out second choices, share by share. Each Region's failure is thought of alone."""

    def __init__(self, solution: Solution, offer: Offer) -> None:
        problem = solution.problem
        choices = problem.choices
        load = np.bincount(choices.lane, weights=solution.tasks * choices.hours, minlength=len(problem.slots))
        self._solution = solution
        regions, _ = offer.lanes["region"].factorize()
        self._region: Integers = regions[choices.lane]
        self._spare: Floats = np.minimum(problem.slots, _PLENTY) * problem.open - load
        self._left: dict[int, Floats] = {}
        """By the Region that fails: instance-hours still spare on each lane."""
        there = np.isin(choices.copy, [NO_COPY, *solution.copies])
        # Savings plans are spent by those that were planned for them; a window that opens later is no help now.
        now = (choices.pool == NO_POOL) & (offer.lanes["opens_h"].to_numpy() <= 0)[choices.lane]
        self._usable = there & now & (problem.slots[choices.lane] > 0)

    def ranked(self, row: int) -> list[int]:
        """The choices of a share's tasks, best first, beginning with its own."""
        problem, count = self._solution.problem, int(self._solution.tasks[row])
        choices, cohort = problem.choices, self._solution.problem.choices.cohort[row]
        others = np.arange(problem.first[cohort], problem.first[cohort + 1])
        others = others[self._usable[others] & (choices.lane[others] != choices.lane[row])]
        region, home = self._region[others], int(self._region[row])
        left = self._left.setdefault(home, self._spare.copy())
        crowded = (left[choices.lane[others]] < count * choices.hours[others]) & (region != home)
        # Cheapest first: the best of each other Region, then the second best of each.
        turn = _turns(region) + (region == home)
        best = others[np.lexsort((others, crowded, turn))[: MAX_PLACES - 1]].tolist()
        if best:
            left[choices.lane[best[0]]] -= count * choices.hours[best[0]]
        return [row, *best]


def _turns(groups: Integers) -> Integers:
    """How many of its own group come before each."""
    order = np.argsort(groups, kind="stable")
    ordered = groups[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    turns = np.empty(len(groups), dtype=np.int64)
    turns[order] = np.arange(len(groups)) - np.repeat(starts, np.diff(np.append(starts, len(groups))))
    return turns
