"""What is left while slots are filled with whole tasks: tasks without a place, and slots without tasks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.choices import NO_POOL

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Floats, Integers
    from orchestrator.planner.model.problem import Limit, Problem


@dataclass
class Rest:
    """The tasks of each choice so far, and what they leave."""

    problem: Problem
    shared: tuple[Limit, ...]
    """The limits that lanes share."""
    tasks: Integers
    """Tasks of each choice that have a place."""
    left: Integers
    """Tasks of each cohort that have none yet."""
    slots: Floats
    """Slots of each lane that are not filled yet."""
    units: Floats
    """Units of each shared limit that no slot holds yet."""
    funds: Floats
    """$ that each pool still pays for."""
    budget: float
    """$ that may still be promised."""

    @classmethod
    def of(cls, problem: Problem, shared: tuple[Limit, ...]) -> Rest:
        """Return all of the problem: nothing has a place yet."""
        return cls(
            problem,
            shared,
            tasks=np.zeros(len(problem.choices), dtype=np.int64),
            left=problem.counts.copy(),
            slots=problem.most_slots.copy(),
            units=np.array([limit.free for limit in shared]),
            funds=problem.funds.copy(),
            budget=problem.budget,
        )

    def copy(self) -> Rest:
        return replace(
            self,
            tasks=self.tasks.copy(),
            left=self.left.copy(),
            slots=self.slots.copy(),
            units=self.units.copy(),
            funds=self.funds.copy(),
        )

    def put(self, row: int, count: int) -> int:
        """Give so many tasks of a choice their place, or as many as are left and can be paid. Return their number."""
        choices = self.problem.choices
        cohort, pool, draw = int(choices.cohort[row]), int(choices.pool[row]), float(choices.draw[row])
        count = min(count, int(self.left[cohort]))
        if pool != NO_POOL and draw > 0:
            count = min(count, max(int(self.funds[pool] / draw + 1e-9), 0))
        self._change(row, cohort, pool, count)
        return count

    def hold(self, lane: int, slots: int) -> None:
        """Let the lane have so many slots, and no more."""
        for number, limit in enumerate(self.shared):
            self.units[number] -= self.problem.units_on(limit)[lane] * slots
        self.slots[lane] = 0

    def most_slots(self, lane: int) -> int:
        """Return how many slots the lane could have, with what shared limits have left."""
        most = self.slots[lane]
        for number, limit in enumerate(self.shared):
            units = self.problem.units_on(limit)[lane]
            if units:
                most = min(most, np.floor(self.units[number] / units + 1e-9))
        return int(max(most, 0))

    def clear(self, lane: int, rows: Integers, held: int) -> None:
        """Take the tasks of these choices, which are all of a lane that holds so many slots, out again."""
        choices = self.problem.choices
        for row in rows[self.tasks[rows] > 0].tolist():
            self._change(row, int(choices.cohort[row]), int(choices.pool[row]), -int(self.tasks[row]))
        for number, limit in enumerate(self.shared):
            self.units[number] += self.problem.units_on(limit)[lane] * held
        self.slots[lane] = self.problem.most_slots[lane]

    def _change(self, row: int, cohort: int, pool: int, count: int) -> None:
        self.tasks[row] += count
        self.left[cohort] -= count
        self.budget -= float(self.problem.choices.promise[row]) * count
        if pool != NO_POOL:
            self.funds[pool] -= self.problem.choices.draw[row] * count
