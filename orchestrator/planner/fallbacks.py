"""Where a share goes if its first place has no capacity.

For each other Region, its best place; Regions first that still have slots for the share. Slots that one share may need
are not there for the next one of its Region, so that a Region's failure does not send everybody to the same place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.problem import NO_COPY

if TYPE_CHECKING:
    from orchestrator.planner.cost import Offer
    from orchestrator.planner.problem import Booleans, Floats, Solution

MAX_PLACES = 4


class Fallbacks:
    """Hands out second choices, share by share. Each Region's failure is thought of alone."""

    def __init__(self, solution: Solution, offer: Offer) -> None:
        problem = solution.problem
        choices = problem.choices
        load = np.bincount(choices.lane, weights=solution.tasks * choices.hours, minlength=len(problem.slots))
        self._solution = solution
        self._region = offer.lanes["region"].to_numpy()
        self._spare: Floats = problem.slots * problem.horizon - load
        self._left: dict[str, Floats] = {}
        """By the Region that fails: instance-hours still spare on each lane."""
        self._data_is_there: Booleans = np.isin(choices.copy, [NO_COPY, *solution.copies])

    def ranked(self, row: int) -> list[int]:
        """The choices of a share's tasks, best first, beginning with its own."""
        choices, count = self._solution.problem.choices, int(self._solution.tasks[row])
        first = self._solution.problem.first
        cohort = choices.cohort[row]
        others = [
            other
            for other in range(first[cohort], first[cohort + 1])
            if other != row and self._data_is_there[other] and self._solution.problem.slots[choices.lane[other]] > 0
        ]
        home = self._region[choices.lane[row]]
        left = self._left.setdefault(home, self._spare.copy())
        seen: dict[str, int] = {home: 1}
        rounds = []
        for other in others:  # cheapest first: the best of each other Region, then the second best of each
            region = self._region[choices.lane[other]]
            turn = seen.get(region, 0)
            seen[region] = turn + 1
            roomy = left[choices.lane[other]] >= count * choices.hours[other]
            rounds.append((turn, not roomy if region != home else False, other))
        best = [other for _, _, other in sorted(rounds)][: MAX_PLACES - 1]
        if best:
            left[choices.lane[best[0]]] -= count * choices.hours[best[0]]
        return [row, *best]
