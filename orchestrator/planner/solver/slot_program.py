"""A linear program whose columns are fillings: ways to fill one slot of a lane with whole tasks.

The relaxation sees hours as a fluid. Here what is wasted at the end of a slot is seen, so tasks that fill slots well
come together. Fillings that would pay at the program's duals come in, until it costs hardly more than the relaxation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from orchestrator.planner.model.arrays import SLACK
from orchestrator.planner.model.choices import NO_POOL
from orchestrator.planner.solver.fill_slot import Kind, fill_slot
from orchestrator.planner.solver.incremental import IncrementalProgram

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.planner.model.arrays import Booleans, Floats, Integers
    from orchestrator.planner.model.problem import Problem
    from orchestrator.planner.model.time_limit import TimeLimit

ROUNDS = 8
"""Times that new fillings are looked for."""
NEAR = 3e-4
"""The part of the bound by which the program may cost more, for its fillings to be good enough."""
KINDS = 12
"""Kinds of tasks that are looked at for one slot: those that are worth most by the hour."""
SMALL = 1e-6
"""The part of all cost that other fillings of a lane must be able to save, to be looked for."""
LEFT_OUT = 10.0
"""Leaving a task out costs so many times its dearest choice."""
DIVES, AGAIN = 400, 1
"""Times that slots are filled as the program says, and the times after which new fillings are looked for."""
LEAST, NEAR_LARGEST = 0.05, 0.0
"""The part of a filling that the program must take for the filling to be taken whole; and what is about as large."""


class Filling(NamedTuple):
    """One slot with whole tasks in it. On a lane that is under no limit it is one task."""

    lane: int
    rows: Integers
    """Its choices."""
    counts: Integers
    """The number of tasks of each."""


class SlotProgram:
    """The program for these choices of a problem, all of whose data is there."""

    def __init__(self, problem: Problem, rows: Integers) -> None:
        choices = problem.choices
        self._problem, self._rows = problem, rows
        self._lanes = np.unique(choices.lane[rows])
        self._shared = problem.still_shared(self._lanes)
        self._left = problem.counts.copy()
        """Tasks of each cohort that are not placed yet."""
        self._slots = problem.most_slots.copy()
        """Slots of each lane that are not filled yet."""
        self._units = np.array([limit.free for limit in self._shared])
        """Units of each shared limit that no slot holds yet."""
        self._funds, self._budget = problem.funds.copy(), problem.budget
        self._tasks = np.zeros(len(choices), dtype=np.int64)
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
        self._add(self._equal_tasks())

    def improve(self, bound: float, time_limit: TimeLimit) -> None:
        """Look for better fillings, until the program costs hardly more than the bound, or few are found."""
        for _ in range(ROUNDS):
            usd, _, duals = self._program.solve()
            if usd <= bound * (1 + NEAR) or time_limit.is_out:
                break
            new = [filling for filling in self._paying(duals, usd) if self._is_new(filling)]
            if not new:
                break
            self._add(new)

    def place(self, time_limit: TimeLimit) -> Integers:
        """Return the tasks of each choice that whole slots hold. Some tasks may be left over.

        Slots are filled as often as the program says in whole numbers. Where it says parts only, the filling that it
        takes the largest part of is taken whole. Then the program is solved again for what is left.
        """
        for number in range(DIVES):
            usd, values, duals = self._program.solve()
            if not self._left.any():
                break
            if number % AGAIN == AGAIN - 1 and not time_limit.is_out:
                new = [filling for filling in self._paying(duals, usd) if self._is_new(filling)]
                if new:
                    self._add(new)
                    _, values, _ = self._program.solve()
            parts = values[len(self._left) :]
            times = np.floor(parts + 1e-6).astype(np.int64)
            if not times.any():
                if parts.max(initial=0.0) < LEAST:
                    break
                times = (parts >= max(float(parts.max()) - NEAR_LARGEST, LEAST)).astype(np.int64)
            for filling in np.flatnonzero(times).tolist():
                self._fill(self._fillings[filling], int(times[filling]))
            self._program.set_bounds(self._limit_rows, *self._bounds())
        return self._tasks

    def _bounds(self) -> tuple[Floats, Floats]:
        """Return the bounds of all rows: cohorts, lanes, shared limits, pools and the budget."""
        limits = (self._slots[self._lanes], self._units, self._funds, np.array([self._budget]))
        high = np.concatenate([np.full(len(self._left), np.inf), *limits])
        low = np.full(len(high), -np.inf)
        low[: len(self._left)] = self._left
        return low, np.maximum(high, 0.0)

    def _equal_tasks(self) -> list[Filling]:
        """Return a filling for each choice: as many of its tasks as a slot holds."""
        choices, rows = self._problem.choices, self._rows
        open_hours = self._problem.latest_end[choices.lane[rows]] * SLACK - choices.wait[rows]
        each = np.where(self._is_limited(rows), np.floor(open_hours / choices.hours[rows]), 1).astype(np.int64)
        every = zip(choices.lane[rows].tolist(), rows[:, None], np.maximum(each, 1)[:, None], strict=True)
        return [Filling(lane, row, count) for lane, row, count in every]

    def _is_limited(self, rows: Integers) -> Booleans:
        return np.asarray(np.isfinite(self._problem.most_slots[self._problem.choices.lane[rows]]))

    def _paying(self, duals: Floats, usd: float) -> Iterator[Filling]:
        """Yield the best filling of each lane that is worth more than a slot costs at these duals."""
        choices, rows = self._problem.choices, self._rows
        cohorts, lanes, shared, pools, budget = self._split(duals)
        price = np.zeros(self._problem.lanes)
        price[self._lanes] = -lanes
        for limit, dual in zip(self._shared, shared.tolist(), strict=True):
            price[limit.lanes] -= dual * limit.units
        worth = cohorts[choices.cohort[rows]] - choices.usd[rows] + budget * choices.promise[rows]
        worth += np.append(pools, 0.0)[choices.pool[rows]] * choices.draw[rows]
        by_hour = worth / choices.hours[rows]
        best_first = np.lexsort((-by_hour, choices.lane[rows]))
        best_first = best_first[(worth[best_first] > 1e-9) & self._is_limited(rows[best_first])]
        lane_of = choices.lane[rows[best_first]]
        for some in np.split(best_first, np.flatnonzero(np.diff(lane_of)) + 1):
            if not len(some):
                continue
            lane = int(choices.lane[rows[some[0]]])
            until, slots = float(self._problem.latest_end[lane]), float(self._slots[lane])
            if (by_hour[some[0]] * until - price[lane]) * slots <= SMALL * usd:
                continue
            kinds = some[:KINDS]
            waits = choices.wait[rows[kinds]]
            for wait in sorted({float(waits.min()), float(waits.max())}):
                its = kinds[waits <= wait]
                filling, value = self._best(lane, its, worth, until - wait)
                if value > price[lane] * (1 + 1e-6):
                    yield filling

    def _best(self, lane: int, kinds: Integers, worth: Floats, until: float) -> tuple[Filling, float]:
        """Return the filling of these kinds of tasks that is worth most, and what it is worth."""
        choices, rows = self._problem.choices, self._rows[kinds]
        facts = zip(
            worth[kinds].tolist(), choices.hours[rows].tolist(), self._left[choices.cohort[rows]].tolist(), strict=True
        )
        counts, value = fill_slot([Kind(*each) for each in facts], until)
        used = np.flatnonzero(counts)
        return Filling(lane, rows[used], np.array(counts)[used]), value

    def _split(self, duals: Floats) -> list[Floats]:
        """Return the duals of cohorts, lanes, shared limits, pools and the budget."""
        sizes = [len(self._left), len(self._lanes), len(self._units), len(self._funds)]
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
        every, first_lane = np.arange(len(fillings)), len(self._left)
        first_shared = first_lane + len(self._lanes)
        first_pool = first_shared + len(self._shared)
        row_of = [choices.cohort[rows]]
        column_of, value_of = [column], [counts.astype(np.float64)]

        def enter(row: Integers, columns: Integers, values: Floats) -> None:
            row_of.append(row)
            column_of.append(columns)
            value_of.append(values)

        slot = every[np.isfinite(self._problem.most_slots[lane])]
        enter(first_lane + np.searchsorted(self._lanes, lane[slot]), slot, np.ones(len(slot)))
        for number, limit in enumerate(self._shared):
            units = self._problem.units_on(limit)[lane]
            under = np.flatnonzero(units)
            enter(np.full(len(under), first_shared + number), under, units[under])
        paid = np.flatnonzero(choices.pool[rows] != NO_POOL)
        enter(first_pool + choices.pool[rows[paid]], column[paid], choices.draw[rows[paid]] * counts[paid])
        if np.isfinite(self._budget):
            promise = np.bincount(column, weights=choices.promise[rows] * counts).astype(np.float64)
            enter(np.full(len(every), first_pool + len(self._funds)), every, promise)
        usd = np.bincount(column, weights=choices.usd[rows] * counts, minlength=len(fillings)).astype(np.float64)
        row_all, column_all, value_all = (np.concatenate(parts) for parts in (row_of, column_of, value_of))
        order = np.lexsort((row_all, column_all))
        sizes = np.bincount(column_all, minlength=len(fillings))
        upper = np.full(len(fillings), np.inf)
        self._program.add_columns(usd, upper, sizes, row_all[order], value_all[order])
        self._fillings.extend(fillings)

    def _fill(self, filling: Filling, times: int) -> None:
        """Fill so many slots like this, as far as there are slots and tasks."""
        problem, choices = self._problem, self._problem.choices
        lane = filling.lane
        if np.isfinite(problem.most_slots[lane]):
            times = min(times, int(self._slots[lane]))
            self._slots[lane] -= times
            for number, limit in enumerate(self._shared):
                self._units[number] -= problem.units_on(limit)[lane] * times
        for row, count in zip(filling.rows.tolist(), filling.counts.tolist(), strict=True):
            placed = min(count * times, int(self._left[choices.cohort[row]]))
            self._tasks[row] += placed
            self._left[choices.cohort[row]] -= placed
            self._budget -= float(choices.promise[row]) * placed
            if choices.pool[row] != NO_POOL:
                self._funds[choices.pool[row]] -= choices.draw[row] * placed
