"""Solves the relaxation over few of its columns: those that are worth it at the duals so far come in, until none is.

Any duals prove a bound over *all* columns, so this may stop as soon as the bound is near.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.choices import NO_COPY
from orchestrator.planner.model.solution import DoesNotFit, NotFound
from orchestrator.planner.solver.columns import Allowance, Duals
from orchestrator.planner.solver.dual_estimate import Cooling, DualEstimate
from orchestrator.planner.solver.incremental import IncrementalProgram
from orchestrator.planner.solver.pick_columns import cheapest_columns, greedy_columns, rank_in_group

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Booleans, Floats, Integers
    from orchestrator.planner.model.time_limit import TimeLimit
    from orchestrator.planner.solver.columns import Columns

NEAR, PATIENCE = 1e-4, 1
"""The part of the cost by which the bound may be lower in the end. It is twice, three times as much in later rounds."""
FIRST, MORE = 3, 4
"""Columns of each commodity that come in to begin with, and in each round."""
FROM_AFAR, FROM_NEAR = Cooling(1.0, 0.002, 160), Cooling(0.003, 0.0003, 50)
"""The cooling when duals are estimated at first, and when they are settled again."""
TOWARDS = 0.3
"""A program over few columns exaggerates, so the best duals move only this part of the way towards its own."""
DEARER = 0.02
"""Columns are dropped if they are dearer than their commodity's cheapest by more than this, duals included."""
WAYS = 4
"""Columns of each commodity and copy that are looked at again in any case, if they are no dearer."""
FEW = 4_000
"""Columns that are looked at again, beside those that are used. If there are no more in all, every one is."""
ROUNDS = 300
LEAVE_OUT, LEAVE_OUT_MORE, LEAVE_OUT_MOST = 3.0, 30.0, 1e7
"""Leaving a commodity out costs so many times its dearest choice. If that is not enough, it costs so many times more,
again and again. Beyond the last of these factors, or when the bound proves it before, nothing fits."""
LEFT_OUT = 1e-6
"""A commodity of which no more than this part is left out counts as complete."""


@dataclass(frozen=True)
class Sifted:
    """A solution of the relaxation, over those of its columns that are worth a second look."""

    columns: Integers
    parts: Floats
    """The part of its commodity that each of these columns takes."""
    bound: float
    """$ that every plan costs at least: this is proven."""


class Sifting:
    """Solves the relaxation, and again when less is allowed. It keeps the columns that came in and the best duals."""

    def __init__(self, columns: Columns) -> None:
        self._columns, self._estimate = columns, DualEstimate(columns)
        self._allowed = columns.allowed(Allowance())
        self._best = self._estimate.estimate(FROM_AFAR)
        self._bound = columns.bound(self._best, self._allowed)
        self._active: list[Integers] = []
        """The columns that came in, in the order of the program."""
        self._is_active: Booleans = np.zeros(len(columns), dtype=bool)
        self._link_row = np.full(len(columns.copy_of), -1)
        """The program's row of each link, or -1."""
        self._program = IncrementalProgram()
        commodities, copies = len(columns.starts), len(columns.charges)
        self._program.add_rows(np.ones(commodities), np.ones(commodities), *_no_entries(commodities))
        low, high = np.full(columns.limit_count, -np.inf), np.ones(columns.limit_count)
        self._limit_rows = self._program.add_rows(low, high, *_no_entries(columns.limit_count))
        budget = np.repeat(self._limit_rows[columns.budget_limit], copies if columns.budget_limit.size else 0)
        each = np.full(copies, int(columns.budget_limit.size))
        self._program.add_columns(columns.charges, np.ones(copies), each, budget, columns.budget_part)
        self._leave_out = LEAVE_OUT
        self._dearest_usd = np.maximum.reduceat(columns.usd, columns.starts) + columns.worst_usd / commodities
        ones = np.ones(commodities)
        self._left_out = self._program.add_columns(
            LEAVE_OUT * self._dearest_usd, ones, ones.astype(np.int64), np.arange(commodities), ones
        )
        """The program's columns that leave commodities out."""
        costs = columns.reduced_costs(self._best)
        self._add(np.unique(np.concatenate([greedy_columns(columns, costs), cheapest_columns(columns, costs, FIRST)])))

    def solve(self, time_limit: TimeLimit, *, is_any_enough: bool = False) -> Sifted:
        """Return a solution that is near the bound, or the best that there is time for; or the first, if any is enough.

        DoesNotFit, if not everything fits; NotFound, if that takes too long to tell.
        """
        for number in range(ROUNDS):
            near = NEAR * max(1, number - PATIENCE)
            usd, values, row_duals = self._program.solve()
            complete = values[self._left_out].max(initial=0.0) <= LEFT_OUT
            if complete and is_any_enough:
                return self._sifted(values)
            duals = self._complete_duals(row_duals)
            self._keep_if_better(duals)
            if usd - self._bound > near * usd:
                self._improve_bound(duals)
            if self._bound > self._columns.worst_usd * (1 + 1e-9):
                raise DoesNotFit
            new = self._columns_to_add(duals, row_duals, usd)
            if usd - self._bound <= near * usd or not len(new):
                if complete:
                    return self._sifted(values)
                self._make_leaving_out_dearer()
            if complete and time_limit.is_out:
                return self._sifted(values)
            self._add(new)
        raise NotFound

    @property
    def costs(self) -> Floats:
        """What each column costs at the best duals."""
        return self._columns.reduced_costs(self._best)

    @property
    def limits(self) -> Floats:
        """The best duals of the limits."""
        return self._best.limits

    def allow(self, allowance: Allowance) -> None:
        """Allow no more than this of the limits from now on."""
        self._allowed = self._columns.allowed(allowance)
        self._program.set_upper_bounds(self._limit_rows, self._allowed)
        self._bound = self._columns.bound(self._best, self._allowed)

    def _keep_if_better(self, duals: Duals) -> None:
        bound = self._columns.bound(duals, self._allowed)
        if bound > self._bound:
            self._bound, self._best = bound, duals

    def _improve_bound(self, duals: Duals) -> None:
        """Settle the best duals again, after a step towards those of the program."""
        towards, before = self._best.towards(duals, TOWARDS), self._bound
        self._keep_if_better(self._estimate.settle(towards, FROM_NEAR))
        if self._bound == before:  # the program's duals of limits are still far off
            self._keep_if_better(self._estimate.settle(Duals(self._best.limits, towards.links), FROM_NEAR))
            self._keep_if_better(self._estimate.settle(self._best, FROM_NEAR))

    def _make_leaving_out_dearer(self) -> None:
        self._leave_out *= LEAVE_OUT_MORE
        if self._leave_out > LEAVE_OUT_MOST:
            raise DoesNotFit
        self._program.set_costs(self._left_out, self._leave_out * self._dearest_usd)

    def _complete_duals(self, row_duals: Floats) -> Duals:
        """Return the program's duals, with those of links that have no row yet.

        Such a link pays what is left of its copy's charge, as far as its columns seem worth it: together, the columns
        of a copy must be worth all of it.
        """
        columns = self._columns
        links = np.where(self._link_row >= 0, np.maximum(-row_duals[self._link_row], 0.0), 0.0)
        duals = Duals(np.maximum(-row_duals[self._limit_rows], 0.0), links)
        if not len(links):
            return duals
        gain = self._gain_of_links(columns.reduced_costs(duals), row_duals)
        asked = np.bincount(columns.copy_of, weights=gain, minlength=len(columns.charges))
        left = np.maximum(columns.unpaid_charges(duals), 0.0)
        part = np.minimum(left / np.maximum(asked, 1e-12), 1.0)
        return Duals(duals.limits, links + gain * part[columns.copy_of])

    def _gain_of_links(self, costs: Floats, row_duals: Floats) -> Floats:
        """Return for each link what its best column would save."""
        columns = self._columns
        saved = np.maximum(row_duals[columns.commodity] - costs, 0.0)
        gain = np.zeros(len(columns.copy_of) + 1)
        np.maximum.at(gain, columns.link, saved)
        return gain[:-1]

    def _columns_to_add(self, duals: Duals, row_duals: Floats, usd: float) -> Integers:
        """Return new columns: some of each commodity that would save most, and some that hold about everything."""
        columns = self._columns
        saved = row_duals[columns.commodity] - columns.reduced_costs(duals)
        saving = np.flatnonzero((saved > 1e-9 * usd / len(columns.starts)) & ~self._is_active)
        best = saving[rank_in_group(columns.commodity[saving], -saved[saving]) < MORE]
        greedy = greedy_columns(columns, columns.reduced_costs(self._best))
        return np.unique(np.concatenate([best, greedy[~self._is_active[greedy]]]))

    def _sifted(self, values: Floats) -> Sifted:
        """Return the program's solution, with the columns that are worth a second look."""
        columns, active = self._columns, np.concatenate(self._active)
        parts = np.zeros(len(columns))
        parts[active] = values[len(values) - len(active) :]
        costs = columns.reduced_costs(self._best)
        if len(columns) <= FEW:
            return Sifted(np.arange(len(columns)), parts, self._bound)
        cheapest = np.minimum.reduceat(costs, columns.starts)
        dearer = costs / np.maximum(cheapest, 1e-12)[columns.commodity] - 1
        # With whole copies, data may well go where no part of it went: of each place for it, something is looked at.
        way = np.where(columns.link == NO_COPY, columns.commodity, len(columns.starts) + columns.link)
        seen = self._is_active | (rank_in_group(way, costs) < WAYS)
        near = np.flatnonzero((dearer <= DEARER) & (parts == 0) & seen)
        nearest = near[np.argsort(dearer[near], kind="stable")[:FEW]]
        kept = np.sort(np.concatenate([np.flatnonzero(parts), nearest]))
        return Sifted(kept, parts[kept], self._bound)

    def _add(self, new: Integers) -> None:
        """Add columns to the program, and rows for the links that they are the first to need."""
        columns, usage = self._columns, self._columns.usage
        links = np.unique(columns.link[new])
        links = links[links != NO_COPY]
        links = links[self._link_row[links] < 0]
        ones = np.ones(len(links), dtype=np.int64)
        self._link_row[links] = self._program.add_rows(
            np.full(len(links), -np.inf), np.zeros(len(links)), ones, columns.copy_of[links], -np.ones(len(links))
        )
        position = np.full(len(columns), -1)
        position[new] = np.arange(len(new))
        here = np.flatnonzero(position[usage.column] >= 0)
        linked = np.flatnonzero(columns.link[new] != NO_COPY)
        number = np.concatenate([np.arange(len(new)), position[usage.column[here]], linked])
        row = np.concatenate(
            [columns.commodity[new], self._limit_rows[usage.limit[here]], self._link_row[columns.link[new[linked]]]]
        )
        value = np.concatenate([np.ones(len(new)), usage.part[here], np.ones(len(linked))])
        order = np.argsort(number, kind="stable")
        counts = np.bincount(number, minlength=len(new))
        upper = np.full(len(new), np.inf)
        self._program.add_columns(columns.usd[new], upper, counts, row[order], value[order])
        self._active.append(new)
        self._is_active[new] = True


def _no_entries(rows: int) -> tuple[Integers, Integers, Floats]:
    """Return the entries of so many empty rows."""
    return np.zeros(rows, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)
