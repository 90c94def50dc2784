"""All lanes while they are being filled, task by task: their slots, what totals leave to them, and the pools."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.problem import NO_POOL
from orchestrator.planner.pack.packing import Load, Packing, pack
from orchestrator.planner.pack.schedule import by_lane

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.planner.model.arrays import Floats, Integers
    from orchestrator.planner.model.problem import Problem


class Lanes:
    """Holds tasks in slots. A lane under a total takes as few slots of it as it can, and more only when it must."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._totals_of: dict[int, list[int]] = {}
        for number, total in enumerate(problem.shared):
            for lane in total.lanes.tolist():
                self._totals_of.setdefault(lane, []).append(number)
        self._spare = np.array([total.slots for total in problem.shared])
        """Slots of each total that no lane has."""
        self._funds = problem.funds.copy()
        self.slots: Floats = problem.most.copy()
        self.slots[list(self._totals_of)] = 0
        self._packed: dict[int, Packing] = {}

    def copy(self) -> Lanes:
        other = copy(self)
        other._spare, other._funds, other.slots = self._spare.copy(), self._funds.copy(), self.slots.copy()
        other._packed = {lane: packing.copy() for lane, packing in self._packed.items()}
        return other

    def hold(self, tasks: Integers, slots: Floats | None = None) -> Integers:
        """Puts in as many of these tasks as fit, and says how many those are. `slots` are known to be about enough."""
        held = np.zeros_like(tasks)
        for lane, rows, loads in by_lane(self._problem, tasks):
            wanted = [self._pay(row, load) for row, load in zip(rows.tolist(), loads, strict=True)]
            if lane in self._totals_of:
                self._take(lane, self._enough(lane, wanted, None if slots is None else int(slots[lane])))
            self._packed[lane], held[rows] = pack(self.slots[lane], self._problem.until[lane], wanted)
            for row, load in zip(rows.tolist(), wanted, strict=True):
                self._refund(row, load.count - int(held[row]))
        return held

    def add(self, row: int, count: int) -> int:
        """Puts in as many of so many tasks of a choice as fit; how many those are."""
        lane, load = int(self._problem.choices.lane[row]), self._pay(row, self._load(row, count))
        if lane not in self._packed:
            self._packed[lane] = Packing(self.slots[lane], self._problem.until[lane])
        packing = self._packed[lane]
        placed = packing.add(load)
        if placed < load.count and (more := min(self._room(lane), packing.slots_for(load, load.count - placed))):
            self._take(lane, self.slots[lane] + more)
            packing.open(more)
            placed += packing.add(Load(load.hours, load.wait, load.count - placed))
        self._refund(row, load.count - placed)
        return placed

    def fits(self, row: int, count: int) -> int:
        """How many `add` would put in."""
        lane = int(self._problem.choices.lane[row])
        spare, funds, slots = self._spare.copy(), self._funds.copy(), self.slots[lane]
        before = self._packed[lane].copy() if lane in self._packed else None
        placed = self.add(row, count)
        self._spare, self._funds, self.slots[lane] = spare, funds, slots
        if before is None:
            del self._packed[lane]
        else:
            self._packed[lane] = before
        return placed

    def _load(self, row: int, count: int) -> Load:
        choices = self._problem.choices
        return Load(float(choices.hours[row]), float(choices.wait[row]), count)

    def _room(self, lane: int) -> float:
        """More slots that the lane could have."""
        spare = [self._spare[number] for number in self._totals_of.get(lane, ())]
        return float(min([self._problem.most[lane] - self.slots[lane], *spare])) if spare else 0.0

    def _take(self, lane: int, slots: float) -> None:
        self._spare[self._totals_of[lane]] -= slots - self.slots[lane]
        self.slots[lane] = slots

    def _enough(self, lane: int, loads: Sequence[Load], about: int | None) -> float:
        """The fewest slots that hold all this, as far as there are any."""
        until, most = self._problem.until[lane], int(self._room(lane))
        busy = sum(load.hours * load.count for load in loads)
        low, high = 0, min(max(int(np.ceil(busy / until * (1 - 1e-9))), 1), most) if about is None else about
        high = min(high, most)

        def holds(slots: int) -> bool:
            _, placed = pack(slots, until, loads)
            return all(count == load.count for count, load in zip(placed, loads, strict=True))

        step = 1
        while high < most and not holds(high):
            low, high, step = high, min(high + step, most), step * 2
        while about is None and high > low + 1:
            middle = (low + high) // 2
            low, high = (low, middle) if holds(middle) else (middle, high)
        return high

    def _pay(self, row: int, load: Load) -> Load:
        """Of these tasks, those that the pool can pay for."""
        pool, draw = self._problem.choices.pool[row], self._problem.choices.draw[row]
        if pool == NO_POOL or draw <= 0:
            return load
        paid = min(load.count, int(self._funds[pool] / draw + 1e-9))
        self._funds[pool] -= paid * draw
        return Load(load.hours, load.wait, paid)

    def _refund(self, row: int, count: int) -> None:
        if (pool := self._problem.choices.pool[row]) != NO_POOL:
            self._funds[pool] += count * self._problem.choices.draw[row]


def spread(problem: Problem, tasks: Integers, slots: Floats) -> Floats:
    """What the totals have beyond these slots goes to the lanes as well, in proportion: more at once ends sooner."""
    shared = problem.shared
    if not shared:
        return problem.most
    count = np.bincount(problem.choices.lane, weights=tasks, minlength=len(slots))
    under = np.unique(np.concatenate([total.lanes for total in shared]))
    found = problem.most.copy()

    def grown(factor: float) -> Floats:
        found[under] = np.minimum(np.floor(slots * factor + 1e-9), np.minimum(problem.most, count))[under]
        return found

    low, high = 1.0, max(float(count.max(initial=1.0)), 2.0)
    for _ in range(40):
        middle = (low + high) / 2
        wide = grown(middle)
        low, high = (middle, high) if all(wide[each.lanes].sum() <= each.slots for each in shared) else (low, middle)
    return grown(low)
