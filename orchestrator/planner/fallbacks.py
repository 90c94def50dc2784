"""Ranks the places where a share goes if its first place has no capacity.

First comes the cheapest place in another Region that still has slots for the whole share; then, of each Region, its
best. The slots are packed: what one share may need is not there for the next one of its Region. So the failure of a
Region does not send everybody to the same place.

With a budget, a place where an honest run does not fit into the task's envelope is left out: it would be paid in vain.

Where tasks may change their number of instances, each other lot is tried with the number that is cheapest there. The
same lot is tried once more with fewer: where AWS has not four, it may have two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.choices import NO_COPY, NO_POOL
from orchestrator.planner.pack.lanes import Lanes
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Booleans, Floats, Integers
    from orchestrator.planner.model.solution import Solution
    from orchestrator.planner.offer.offer import Offer
    from orchestrator.spec.sweep import Sweep

MAX_PLACES = 4
"""Places of a share at most, the first included."""
_ROUNDING = 1e-9
"""The part by which two envelopes may differ and count as equal."""
_PLENTY = 1e12
"""Slots that a lane without a known quota counts as having."""


@dataclass(frozen=True)
class RankedChoices:
    """The choices of a share's tasks, best first."""

    rows: list[int]
    """The choices' rows. The first is where the share goes."""
    second_holds: int
    """Tasks of the share that the second choice has slots for, when the first one's Region fails alone."""


class Fallbacks:
    """Hands out second choices, share by share. Each Region is thought to fail alone."""

    def __init__(self, solution: Solution, offer: Offer, sweep: Sweep, envelopes: float | None) -> None:
        """`envelopes` says how many times its promise a task's envelope is; None where it has none."""
        problem = solution.problem
        self._envelopes = envelopes
        choices = problem.choices
        load = np.bincount(choices.lane, weights=solution.tasks * choices.hours, minlength=problem.lanes)
        self._solution = solution
        regions, _ = offer.lanes["region"].factorize()
        self._lane: Integers = choices.lane
        self._region: Integers = regions
        """The number of each lane's Region."""
        self._lot, self._instances = problem.lots, problem.instances
        self._may_change_instances = sweep.train.may_change_instances
        stays = (offer.lanes["purchase"] != Purchase.SPOT.value).to_numpy()[choices.lane]
        self._stays: Booleans | None = stays if sweep.weighs_spot else None
        """The choices that nobody takes away, if tasks on spot are to have one of these to fall back on."""
        self._lanes = Lanes(problem)
        self._lanes.add_all(solution.tasks, solution.slots)
        self._spare: Floats = np.minimum(problem.most_slots, _PLENTY) * problem.open_hours - load
        self._left: dict[int, tuple[Lanes, Floats]] = {}
        """The lanes with all that they would hold, and about their free hours, for each Region that could fail."""
        self._refused: dict[tuple[int, int], list[tuple[float, float, int]]] = {}
        """Hours, wait and number of tasks that a lane had no room for, by the Region that fails and the lane."""
        there = np.isin(choices.copy, [NO_COPY, *solution.copies])
        # Savings plans are spent by those that were planned for them; a window that opens later is no help now.
        now = (choices.pool == NO_POOL) & (offer.lanes["opens_h"].to_numpy() <= 0)[choices.lane]
        self._usable = there & now & (problem.most_slots[choices.lane] > 0)

    def rank(self, row: int) -> RankedChoices:
        """Return the choices of the share that was sent this way, and keep slots for it at the second one."""
        problem, count = self._solution.problem, int(self._solution.tasks[row])
        choices, cohort = problem.choices, self._solution.problem.choices.cohort[row]
        others = np.arange(problem.first_choice[cohort], problem.first_choice[cohort + 1])
        others = self._worth_a_try(row, others[self._usable[others]])
        home = int(self._region[self._lane[row]])
        if home not in self._left:
            self._left[home] = self._lanes.copy(), self._spare.copy()
        lanes, free = self._left[home]
        away = others[self._region[self._lane[others]] != home]
        likely = away[free[choices.lane[away]] >= count * choices.hours[away]].tolist()
        second = next((other for other in likely if self._has_room(home, lanes, other, count)), None)
        best = self._with_one_that_stays(row, self._by_turns(others, home, second), others)
        if not best or self._region[self._lane[best[0]]] == home:
            return RankedChoices([row, *best], 0)
        free[choices.lane[best[0]]] -= count * choices.hours[best[0]]
        return RankedChoices([row, *best], lanes.add(best[0], count))

    def _has_room(self, home: int, lanes: Lanes, other: int, count: int) -> bool:
        """Return whether a lane holds all of so many tasks of a choice. As lanes fill up, what was refused stays so."""
        choices = self._solution.problem.choices
        asked = (float(choices.hours[other]), float(choices.wait[other]), count)
        refused = self._refused.setdefault((home, int(choices.lane[other])), [])
        if any(all(more >= known for more, known in zip(asked, one, strict=True)) for one in refused):
            return False
        if lanes.has_room(other, count):
            return True
        refused.append(asked)
        return False

    def _worth_a_try(self, row: int, others: Integers) -> Integers:
        """Return those of the other choices, cheapest first, that make sense when this one is refused."""
        lane, here = self._lane[others], self._lane[row]
        fits = self._may_change_instances | (self._instances[lane] == self._instances[here])
        elsewhere = self._lot[lane] != self._lot[here]
        others = others[fits & (elsewhere | (self._instances[lane] < self._instances[here]))]
        if self._envelopes is not None:
            promise = self._solution.problem.choices.promise
            others = others[promise[others] <= promise[row] * self._envelopes * (1 + _ROUNDING)]
        _, first_of_lot = np.unique(self._lot[self._lane[others]], return_index=True)
        return others[np.sort(first_of_lot)]

    def _with_one_that_stays(self, row: int, best: list[int], others: Integers) -> list[int]:
        """Return the best choices, the last of them on demand if none is: in the same Region, where checkpoints lie."""
        if self._stays is None or self._stays[row]:
            return best
        staying = others[self._stays[others]]
        hours = self._solution.problem.choices.hours
        # The plan counts on going on there in time: it is as fast as spot, or there is no faster one.
        staying = staying[hours[staying] <= max(hours[staying].min(initial=np.inf), hours[row])]
        if np.isin(best, staying).any():
            return best
        at_home = staying[self._region[self._lane[staying]] == self._region[self._lane[row]]]
        safe = (at_home if len(at_home) else staying)[:1].tolist()
        return [*best[: MAX_PLACES - 2], *safe] if safe else best

    def _by_turns(self, others: Integers, home: int, second: int | None) -> list[int]:
        """Return `second`, then the best choice of each other Region, then the second best of each, and so on."""
        others = others[: self._enough(others, home, second)]
        region = self._region[self._lane[others]]
        turn = _turns(region) + (region == home)
        turn[others == second] = -1
        if second is not None:
            turn[(region == self._region[self._lane[second]]) & (others != second)] += 1
        return [int(other) for other in others[np.lexsort((others, turn))[: MAX_PLACES - 1]]]

    def _enough(self, others: Integers, home: int, second: int | None) -> int:
        """Return how many of the other choices are enough to know the best places: all further ones come later.

        Those are some in more other Regions than a share has places, and `second`.
        """
        seen, until_second = {home}, 0 if second is None else int(np.searchsorted(others, second)) + 1
        for number, region in enumerate(self._region[self._lane[others]].tolist(), start=1):
            seen.add(region)
            if len(seen) > MAX_PLACES + 1:
                return max(number, until_second)
        return len(others)


def _turns(groups: Integers) -> Integers:
    """Return for each row how many rows of its group come before it."""
    order = np.argsort(groups, kind="stable")
    ordered = groups[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    turns = np.empty(len(groups), dtype=np.int64)
    turns[order] = np.arange(len(groups)) - np.repeat(starts, np.diff(np.append(starts, len(groups))))
    return turns
