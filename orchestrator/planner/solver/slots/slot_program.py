"""A linear program whose columns are fillings: ways to fill one slot of a lane with whole tasks.

The relaxation sees hours as a fluid. Here what is wasted at the end of a slot is seen, so tasks that fill slots well
come together. Fillings that would pay at the program's duals come in, until it costs hardly more than the relaxation.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.arrays import SLACK
from orchestrator.planner.model.choices import NO_POOL
from orchestrator.planner.solver.incremental import IncrementalProgram
from orchestrator.planner.solver.slots.best_fillings import BestFillings, Filling
from orchestrator.planner.solver.slots.known_slots import KnownSlots
from orchestrator.planner.solver.slots.rest import Rest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orchestrator.planner.model.arrays import Booleans, Floats, Integers
    from orchestrator.planner.model.problem import Problem
    from orchestrator.planner.model.time_limit import TimeLimit

ROUNDS = 16
"""Times that new fillings are looked for."""
SMALL = 1e-6
"""The part of all cost that other fillings of a lane must be able to save, to be looked for."""
NONE = 1e-9
"""A filling that is taken no more often than this is not taken."""
LEFT_OUT = 10.0
"""Leaving a task out costs so many times its dearest choice."""


@dataclass(frozen=True)
class SlotAnswer:
    """What the program says of the slots that are left."""

    usd: float
    parts: Floats
    """The times that each filling is taken."""
    worth: Floats
    """What one task of each choice is worth where it goes, in $; -inf for a choice that the program does not have."""
    slot_usd: Floats
    """What one slot of each lane costs."""
    slots_taken: Floats
    """Slots of each lane that are filled."""
    on_lane: Mapping[int, Sequence[tuple[Filling, float]]]
    """The fillings that are taken on each lane, and how often each."""

    def fillings(self, lane: int) -> Sequence[tuple[Filling, float]]:
        return self.on_lane.get(lane, ())

    def about(self, lane: int) -> dict[int, float]:
        """Return the tasks of each choice that the lane gets, in parts."""
        found: dict[int, float] = {}
        for filling, times in self.fillings(lane):
            for row, count in zip(filling.rows.tolist(), filling.counts.tolist(), strict=True):
                found[row] = found.get(row, 0.0) + count * times
        return found


class SlotProgram:
    """The program for these choices of a problem, all of whose data is there."""

    def __init__(self, problem: Problem, rows: Integers, near: Booleans, known: Sequence[Filling] = ()) -> None:
        """Begin with slots of equal tasks, for choices that are `near` only, and with fillings that are known.

        Others come in where they pay.
        """
        choices = problem.choices
        self._problem, self.rows = problem, rows
        self.lanes: Integers = np.unique(choices.lane[rows])
        self._shared = problem.still_shared(self.lanes)
        self.sharing = frozenset(int(lane) for limit in self._shared for lane in limit.lanes)
        """Lanes whose slots are not theirs alone."""
        self.rest = Rest.of(problem, self._shared)
        """What is left to be filled: whoever fills slots says so here."""
        self._best_fillings = BestFillings(problem, rows)
        self._fillings: list[Filling] = []
        self._known: set[tuple[bytes, bytes]] = set()
        self._program = IncrementalProgram()
        low, high = self._bounds()
        nothing = np.empty(0, dtype=np.int64)
        self._limit_rows = self._program.add_rows(low, high, np.zeros(len(low), dtype=np.int64), nothing, np.empty(0))
        dearest = np.zeros(len(problem.counts))
        np.maximum.at(dearest, choices.cohort[rows], choices.usd[rows])
        ones = np.ones(len(dearest))
        self._program.add_columns(
            LEFT_OUT * dearest + 1.0, ones * np.inf, ones.astype(np.int64), np.arange(len(dearest)), ones
        )
        self._add([*self._equal_tasks(rows[near[rows]]), *known])

    def improve(self, bound: float, near: float, time_limit: TimeLimit) -> None:
        """Look for better fillings, until the program costs hardly more than the bound: this part of it at most."""
        for _ in range(ROUNDS):
            usd, values, duals = self._program.solve()
            self._values, self._duals = values, duals
            if usd <= bound * (1 + near) or time_limit.is_out or not self._add_paying(duals, usd):
                break

    @property
    def known(self) -> KnownSlots:
        """What was known after the last improvement."""
        parts = self._values[len(self.rest.left) :]
        return KnownSlots(self._worth(self._duals), [self._fillings[number] for number in np.flatnonzero(parts > NONE)])

    def solve(self) -> SlotAnswer:
        """Return what the program says of what is left."""
        self._program.set_bounds(self._limit_rows, *self._bounds())
        return self._answer(*self._program.solve())

    def solve_with_more(self, answer: SlotAnswer) -> SlotAnswer:
        """Return what the program says once fillings that pay now have come in."""
        return self.solve() if self._add_paying(self._duals, answer.usd) else answer

    def _answer(self, usd: float, values: Floats, duals: Floats) -> SlotAnswer:
        parts, on_lane, self._duals = values[len(self.rest.left) :], defaultdict(list), duals
        taken = np.zeros(self._problem.lanes)
        for number in np.flatnonzero(parts > NONE).tolist():
            filling, times = self._fillings[number], float(parts[number])
            on_lane[filling.lane].append((filling, times))
            taken[filling.lane] += times
        return SlotAnswer(usd, parts, self._worth(duals), self._slot_usd(duals), taken, on_lane)

    def _add_paying(self, duals: Floats, usd: float) -> bool:
        """Add new fillings that pay at these duals. Return whether there are any."""
        paying = self._best_fillings.paying(self._worth(duals), self._slot_usd(duals), self.rest, SMALL * usd)
        new = [filling for filling in paying if self._is_new(filling)]
        if new:
            self._add(new)
        return bool(new)

    def _slot_usd(self, duals: Floats) -> Floats:
        """Return what one slot of each lane costs at these duals."""
        _, lanes, shared, _, _ = self._split(duals)
        found = np.zeros(self._problem.lanes)
        found[self.lanes] = -lanes
        for limit, dual in zip(self._shared, shared.tolist(), strict=True):
            found[limit.lanes] -= dual * limit.units
        return found

    def _worth(self, duals: Floats) -> Floats:
        """Return what one task of each choice is worth at these duals; -inf for choices that are left out."""
        choices, rows = self._problem.choices, self.rows
        cohorts, _, _, pools, budget = self._split(duals)
        found = np.full(len(choices), -np.inf)
        found[rows] = cohorts[choices.cohort[rows]] - choices.usd[rows] + budget * choices.promise[rows]
        found[rows] += np.append(pools, 0.0)[choices.pool[rows]] * choices.draw[rows]
        return found

    def _bounds(self) -> tuple[Floats, Floats]:
        """Return the bounds of all rows: cohorts, lanes, shared limits, pools and the budget."""
        rest = self.rest
        limits = (rest.slots[self.lanes], rest.units, rest.funds, np.array([rest.budget]))
        high = np.concatenate([np.full(len(rest.left), np.inf), *limits])
        low = np.full(len(high), -np.inf)
        low[: len(rest.left)] = rest.left
        return low, np.maximum(high, 0.0)

    def _equal_tasks(self, rows: Integers) -> list[Filling]:
        """Return a filling for each of these choices: as many of its tasks as a slot holds."""
        choices = self._problem.choices
        open_hours = self._problem.latest_end[choices.lane[rows]] * SLACK - choices.wait[rows]
        each = np.where(self._is_limited(rows), np.floor(open_hours / choices.hours[rows]), 1).astype(np.int64)
        every = zip(choices.lane[rows].tolist(), rows[:, None], np.maximum(each, 1)[:, None], strict=True)
        return [Filling(lane, row, count) for lane, row, count in every]

    def _is_limited(self, rows: Integers) -> Booleans:
        return np.asarray(np.isfinite(self._problem.most_slots[self._problem.choices.lane[rows]]))

    def _split(self, duals: Floats) -> list[Floats]:
        """Return the duals of cohorts, lanes, shared limits, pools and the budget."""
        sizes = [len(self.rest.left), len(self.lanes), len(self._shared), len(self._problem.pools)]
        return np.split(duals, np.cumsum(sizes))

    def _is_new(self, filling: Filling) -> bool:
        key = filling.rows.tobytes(), filling.counts.tobytes()
        if key in self._known:
            return False
        self._known.add(key)
        return True

    def _add(self, fillings: list[Filling]) -> None:
        """Add a column for each of these fillings."""
        choices = self._problem.choices
        rows, counts = (np.concatenate([filling[part] for filling in fillings]) for part in (1, 2))
        column = np.repeat(np.arange(len(fillings)), [len(filling.rows) for filling in fillings])
        lane = np.array([filling.lane for filling in fillings])
        every, first_lane = np.arange(len(fillings)), len(self.rest.left)
        first_shared = first_lane + len(self.lanes)
        first_pool = first_shared + len(self._shared)
        row_of = [choices.cohort[rows]]
        column_of, value_of = [column], [counts.astype(np.float64)]

        def enter(row: Integers, columns: Integers, values: Floats) -> None:
            row_of.append(row)
            column_of.append(columns)
            value_of.append(values)

        slot = every[np.isfinite(self._problem.most_slots[lane])]
        enter(first_lane + np.searchsorted(self.lanes, lane[slot]), slot, np.ones(len(slot)))
        for number, limit in enumerate(self._shared):
            units = self._problem.units_on(limit)[lane]
            under = np.flatnonzero(units)
            enter(np.full(len(under), first_shared + number), under, units[under])
        paid = np.flatnonzero(choices.pool[rows] != NO_POOL)
        enter(first_pool + choices.pool[rows[paid]], column[paid], choices.draw[rows[paid]] * counts[paid])
        if np.isfinite(self.rest.budget):
            promise = np.bincount(column, weights=choices.promise[rows] * counts).astype(np.float64)
            enter(np.full(len(every), first_pool + len(self._problem.pools)), every, promise)
        usd = np.bincount(column, weights=choices.usd[rows] * counts, minlength=len(fillings)).astype(np.float64)
        row_all, column_all, value_all = (np.concatenate(parts) for parts in (row_of, column_of, value_of))
        # A filling may have two choices of one cohort, of which a pool pays for one: they are one entry of its column.
        keys, entry = np.unique(column_all * len(self._limit_rows) + row_all, return_inverse=True)
        column_all, row_all = np.divmod(keys, len(self._limit_rows))
        value_all = np.bincount(entry, weights=value_all).astype(np.float64)
        sizes = np.bincount(column_all, minlength=len(fillings))
        upper = np.full(len(fillings), np.inf)
        self._program.add_columns(usd, upper, sizes, row_all, value_all)
        self._fillings.extend(fillings)
