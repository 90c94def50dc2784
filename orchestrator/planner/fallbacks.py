"""Where a share goes if its first place has no capacity.

First the cheapest place in another Region that still has slots for the whole share; then, of each Region, its best.
The slots are packed: what one share may need is not there for the next one of its Region, so that a Region's failure
does not send everybody to the same place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.problem import NO_COPY, NO_POOL
from orchestrator.planner.pack.lanes import Lanes

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Floats, Integers
    from orchestrator.planner.model.solution import Solution
    from orchestrator.planner.offer.offer import Offer

MAX_PLACES = 4
_PLENTY = 1e12
"""Slots of a lane without a known quota."""


@dataclass(frozen=True)
class Ranked:
    rows: list[int]
    """The choices of a share's tasks, best first, beginning with its own."""
    room: int
    """How many of its tasks the second one has slots for, when the first one's Region fails alone."""


class Fallbacks:
    """Hands out second choices, share by share. Each Region's failure is thought of alone."""

    def __init__(self, solution: Solution, offer: Offer) -> None:
        problem = solution.problem
        choices = problem.choices
        load = np.bincount(choices.lane, weights=solution.tasks * choices.hours, minlength=len(problem.slots))
        self._solution = solution
        regions, _ = offer.lanes["region"].factorize()
        self._region: Integers = regions[choices.lane]
        self._lanes = Lanes(problem)
        self._lanes.hold(solution.tasks, solution.slots)
        self._spare: Floats = np.minimum(problem.most, _PLENTY) * problem.open - load
        self._left: dict[int, tuple[Lanes, Floats]] = {}
        """By the Region that fails: the lanes with all that they would hold then, and about how many hours are free."""
        there = np.isin(choices.copy, [NO_COPY, *solution.copies])
        # Savings plans are spent by those that were planned for them; a window that opens later is no help now.
        now = (choices.pool == NO_POOL) & (offer.lanes["opens_h"].to_numpy() <= 0)[choices.lane]
        self._usable = there & now & (problem.most[choices.lane] > 0)

    def ranked(self, row: int) -> Ranked:
        problem, count = self._solution.problem, int(self._solution.tasks[row])
        choices, cohort = problem.choices, self._solution.problem.choices.cohort[row]
        others = np.arange(problem.first[cohort], problem.first[cohort + 1])
        others = others[self._usable[others] & (choices.lane[others] != choices.lane[row])]
        home = int(self._region[row])
        if home not in self._left:
            self._left[home] = self._lanes.copy(), self._spare.copy()
        lanes, free = self._left[home]
        away = others[self._region[others] != home]
        roomy = away[free[choices.lane[away]] >= count * choices.hours[away]].tolist()
        second = next((other for other in roomy if lanes.fits(other, count) == count), None)
        best = self._by_turns(others, home, second)
        if not best or self._region[best[0]] == home:
            return Ranked([row, *best], 0)
        free[choices.lane[best[0]]] -= count * choices.hours[best[0]]
        return Ranked([row, *best], lanes.add(best[0], count))

    def _by_turns(self, others: Integers, home: int, second: int | None) -> list[int]:
        """Cheapest first: the best of each other Region, then the second best of each; but `second` before all."""
        region = self._region[others]
        turn = _turns(region) + (region == home)
        turn[others == second] = -1
        if second is not None:
            turn[(region == self._region[second]) & (others != second)] += 1
        return [int(other) for other in others[np.lexsort((others, turn))[: MAX_PLACES - 1]]]


def _turns(groups: Integers) -> Integers:
    """How many of its own group come before each."""
    order = np.argsort(groups, kind="stable")
    ordered = groups[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    turns = np.empty(len(groups), dtype=np.int64)
    turns[order] = np.arange(len(groups)) - np.repeat(starts, np.diff(np.append(starts, len(groups))))
    return turns
