"""A linear program that tells what all tasks cost, as far as hours tell, if some copies are made and no others.

It is solved again and again, each time from where it stood. So one set of copies after another takes milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.choices import NO_COPY
from orchestrator.planner.solver.columns import Duals
from orchestrator.planner.solver.incremental import IncrementalProgram

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.planner.model.arrays import Floats, Integers
    from orchestrator.planner.solver.columns import Columns

LEFT_OUT = 3.0
"""Leaving a commodity out costs so many times its dearest choice."""
NONE = 1e-9
"""A column that takes no more than this part of its commodity takes nothing."""

CopySet = frozenset[int]


@dataclass(frozen=True)
class Prices:
    """What a set of copies costs, and what its duals say of others. Both gains and losses are never underestimated."""

    usd: float
    gain: Floats
    """$ that making each copy as well would save at most, its charge paid; below 0 for a copy that saves nothing."""
    loss: dict[int, float]
    """$ that all would cost more without each of the copies made, at least. Below 0 where that may save something."""


class SetProgram:
    """The relaxation over these of its columns, with whole copies."""

    def __init__(self, columns: Columns, looked_at: Integers) -> None:
        self._columns, self._rows = columns, looked_at
        self._copy = np.append(columns.copy_of, NO_COPY)[columns.link[looked_at]]
        """The copy of each column that is looked at, or NO_COPY."""
        self._position = np.full(len(looked_at), -1)
        """The program's column for each column that is looked at, or -1 as long as it has none."""
        self._made: CopySet = frozenset()
        self._entries = _entries_by_column(columns)
        self._program = IncrementalProgram(dual=True)
        commodities = len(columns.starts)
        empty, nothing = np.zeros(commodities, dtype=np.int64), np.empty(0, dtype=np.int64)
        ones = np.ones(commodities)
        self._commodity_rows = self._program.add_rows(ones, ones, empty, nothing, np.empty(0))
        count = columns.limit_count
        none = np.zeros(count, dtype=np.int64)
        self._limit_rows = self._program.add_rows(np.full(count, -np.inf), np.ones(count), none, nothing, np.empty(0))
        dearest = LEFT_OUT * (np.maximum.reduceat(columns.usd, columns.starts) + columns.worst_usd / commodities)
        self._program.add_columns(dearest, ones, ones.astype(np.int64), np.arange(commodities), ones)
        self._left_out: Integers = np.arange(commodities)
        self._known: set[int] = set()
        self._bring_in(NO_COPY)
        self.solved = 0
        """Times that the program was solved."""

    @property
    def width(self) -> int:
        """The number of the program's columns."""
        return self._program.width

    def usd(self, copies: CopySet) -> float:
        """Return what all costs with these copies. What is left out is dear."""
        return self._solve(copies)[0]

    def is_complete(self, copies: CopySet) -> bool:
        """Return whether nothing is left out with these copies."""
        return bool(self._solve(copies)[1][self._left_out].max(initial=0.0) <= NONE)

    def prices(self, copies: CopySet) -> Prices:
        """Return what these copies cost, and what their duals say of all others."""
        usd, values, row_duals = self._solve(copies)
        columns, rows = self._columns, self._rows
        duals = Duals(np.maximum(-row_duals[self._limit_rows], 0.0), np.zeros(len(columns.copy_of)))
        costs = columns.reduced_costs(duals)[rows]
        worth = row_duals[self._commodity_rows]
        flow = np.where(self._position >= 0, values[self._position], 0.0)
        return Prices(usd, self._gain(costs, worth, duals), self._loss(copies, costs, worth, flow))

    def _gain(self, costs: Floats, worth: Floats, duals: Duals) -> Floats:
        """Return the $ that each copy would save, at what limits and commodities are worth now."""
        columns, rows = self._columns, self._rows
        saved = np.zeros(len(columns.copy_of) + 1)
        np.maximum.at(saved, columns.link[rows], worth[columns.commodity[rows]] - costs)
        found = np.bincount(columns.copy_of, weights=saved[:-1], minlength=len(columns.charges))
        return np.asarray(found - columns.unpaid_charges(duals))

    def _loss(self, copies: CopySet, costs: Floats, worth: Floats, flow: Floats) -> dict[int, float]:
        """Return what it costs to send the flow of each copy elsewhere, at what limits are worth now."""
        columns, made = self._columns, sorted(copies)
        usable = np.flatnonzero(np.isin(self._copy, [NO_COPY, *made]))
        commodity, copy = columns.commodity[self._rows[usable]], self._copy[usable]
        number = np.searchsorted([NO_COPY, *made], copy)
        cheapest = np.full((len(columns.starts), len(made) + 1), np.inf)
        np.minimum.at(cheapest, (commodity, number), costs[usable])
        taken = np.zeros_like(cheapest)
        np.add.at(taken, (commodity, number), flow[usable])
        found = {}
        for position, each in enumerate(made, start=1):
            its = np.flatnonzero(taken[:, position] > NONE)
            elsewhere = np.delete(cheapest[its], position, axis=1).min(axis=1)
            more = np.minimum(elsewhere - worth[its], columns.worst_usd)
            found[each] = float(taken[its, position] @ more - columns.charges[each])
        return found

    def _solve(self, copies: CopySet) -> tuple[float, Floats, Floats]:
        self._make(copies)
        self.solved += 1
        usd, values, row_duals = self._program.solve()
        return usd + float(self._columns.charges[sorted(copies)].sum()), values, row_duals

    def _make(self, copies: CopySet) -> None:
        """Let the program have the columns of these copies, and of no others."""
        for copy in sorted(self._made - copies):
            self._bound(copy, 0.0)
        for copy in sorted(copies - self._made):
            if copy in self._known:
                self._bound(copy, np.inf)
            else:
                self._bring_in(copy)
        self._made = copies
        self._leave_budget(copies)

    def _leave_budget(self, copies: CopySet) -> None:
        """Leave to tasks what the charges of these copies leave of the budget."""
        columns = self._columns
        if columns.budget_limit.size:
            spent = float(columns.budget_part[sorted(copies)].sum())
            row = self._limit_rows[columns.budget_limit]
            self._program.set_upper_bounds(row, np.array([max(1.0 - spent, 0.0)]))

    def _bound(self, copy: int, upper: float) -> None:
        position = self._position[self._copy == copy]
        self._program.set_column_bounds(position, upper)

    def _bring_in(self, copy: int) -> None:
        """Add the columns of this copy, or those that need none."""
        self._known.add(copy)
        its = np.flatnonzero(self._copy == copy)
        columns, rows = self._columns, self._rows[its]
        starts, limit, part = self._entries
        sizes = starts[rows + 1] - starts[rows]
        # The entries of each column, one column after the other.
        offsets = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        entry = np.repeat(starts[rows], sizes) + offsets
        number = np.concatenate([np.arange(len(its)), np.repeat(np.arange(len(its)), sizes)])
        row = np.concatenate([self._commodity_rows[columns.commodity[rows]], self._limit_rows[limit[entry]]])
        value = np.concatenate([np.ones(len(its)), part[entry]])
        order = np.argsort(number, kind="stable")
        self._position[its] = self._program.add_columns(
            columns.usd[rows], np.full(len(its), np.inf), sizes + 1, row[order], value[order]
        )


def set_of(copies: Iterable[int]) -> CopySet:
    """Return these copies as a set."""
    return frozenset(int(copy) for copy in copies)


def _entries_by_column(columns: Columns) -> tuple[Integers, Integers, Floats]:
    """Return the first entry of each column in what follows, and one more; then the limits, and the parts of them."""
    usage = columns.usage
    order = np.argsort(usage.column, kind="stable")
    starts = np.searchsorted(usage.column[order], np.arange(len(columns) + 1))
    return starts, usage.limit[order], usage.part[order]
