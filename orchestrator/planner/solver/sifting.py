"""The relaxation, solved over few columns: those that are worth it at the prices so far come in, until none is.

At any prices there is a proven bound over *all* columns, so this may stop as soon as the bound is near.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.problem import NO_COPY
from orchestrator.planner.model.solution import DoesNotFit
from orchestrator.planner.solver.columns import Allowance, Duals
from orchestrator.planner.solver.dual_estimate import Cooling, DualEstimate
from orchestrator.planner.solver.incremental import IncrementalProgram

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Booleans, Floats, Integers
    from orchestrator.planner.model.time_limit import TimeLimit
    from orchestrator.planner.solver.columns import Columns

NEAR, PATIENCE = 1e-4, 1
"""Parts of the cost by which the bound may be lower, in the end; twice, three times as much if it takes more rounds."""
FIRST, MORE = 3, 4
"""Columns of each commodity: to begin with, and in each round."""
FROM_AFAR, FROM_NEAR = Cooling(1.0, 0.002, 160), Cooling(0.003, 0.0003, 50)
TOWARDS = 0.3
"""A program over few columns exaggerates: from the best prices so far, it is followed this far."""
DEARER = 0.02
"""Than its cheapest choice, slots and copies included: what is not looked at again."""
WAYS = 4
"""Columns of each commodity and copy that are looked at in any case, if they are no dearer."""
FEW = 4_000
"""Columns that are looked at twice, beside those that are used; if there are no more in all, then every one."""
ROUNDS = 300
STUCK, STUCK_MORE, STUCK_MOST = 3.0, 30.0, 1e7
"""Times its dearest choice is what leaving a commodity out costs; and then so many times more, up to the last, unless
the bound proves before that one must be left out."""
LEFT_OUT = 1e-6


@dataclass(frozen=True)
class Sifted:
    columns: Integers
    """Those that came in and are worth a second look."""
    parts: Floats
    """Of its commodity, that each of them takes."""
    bound: float
    """Nothing costs less."""


class Sifting:
    """Holds what came in so far, and the best prices so far."""

    def __init__(self, columns: Columns) -> None:
        self._columns, self._prices = columns, DualEstimate(columns)
        self._high = columns.high(Allowance())
        self._best = self._prices.first(FROM_AFAR)
        self._bound = columns.bound(self._best, self._high)
        self._program = IncrementalProgram()
        groups, copies = len(columns.starts), len(columns.charges)
        self._program.rows(np.ones(groups), np.ones(groups), *_nothing(groups))
        self._limit_rows = self._program.rows(
            np.full(columns.limits, -np.inf), np.ones(columns.limits), *_nothing(columns.limits)
        )
        self._active: list[Integers] = []
        self._is_active: Booleans = np.zeros(len(columns), dtype=bool)
        self._link_row = np.full(len(columns.copy_of), -1)
        charged = np.repeat(self._limit_rows[columns.charged], copies if columns.charged.size else 0)
        each = np.full(copies, int(columns.charged.size))
        self._program.columns(columns.charges, np.ones(copies), each, charged, columns.charge_part)
        self._stuck, self._dearest = STUCK, np.maximum.reduceat(columns.usd, columns.starts) + columns.worst / groups
        ones = np.ones(groups)
        self._stays_out = self._program.columns(
            STUCK * self._dearest, ones, ones.astype(np.int64), np.arange(groups), ones
        )
        priced = columns.priced(self._best)
        self._add(np.unique(np.concatenate([filled(columns, priced), best_of(columns, priced, FIRST)])))

    def solve(self, time_limit: TimeLimit) -> Sifted:
        """DoesNotFit, if not everything fits."""
        columns = self._columns
        for number in range(ROUNDS):
            near = NEAR * max(1, number - PATIENCE)
            usd, values, rows = self._program.solve()
            duals = self._duals(rows)
            self._try(duals)
            if usd - self._bound > near * usd:
                towards, before = self._best.towards(duals, TOWARDS), self._bound
                self._try(self._prices.settled(towards, FROM_NEAR))
                if self._bound == before:  # the program is far from sense yet
                    self._try(self._prices.settled(Duals(self._best.limits, towards.links), FROM_NEAR))
                    self._try(self._prices.settled(self._best, FROM_NEAR))
            if self._bound > columns.worst * (1 + 1e-9):
                raise DoesNotFit
            new = self._wanted(columns.priced(duals), rows, usd)
            complete = values[self._stays_out].max(initial=0.0) <= LEFT_OUT
            if usd - self._bound <= near * usd or not len(new):
                if complete:
                    return self._sifted(values)
                self._insist()
            if complete and time_limit.is_out:
                return self._sifted(values)
            self._add(new)
        raise DoesNotFit

    def fill(self, allowance: Allowance) -> None:
        """Only so much of the limits may be used from now on."""
        self._high = self._columns.high(allowance)
        self._program.limit_to(self._limit_rows, self._high)
        self._bound = self._columns.bound(self._best, self._high)

    def _try(self, duals: Duals) -> None:
        bound = self._columns.bound(duals, self._high)
        if bound > self._bound:
            self._bound, self._best = bound, duals

    def _insist(self) -> None:
        """Leaving something out becomes dearer."""
        self._stuck *= STUCK_MORE
        if self._stuck > STUCK_MOST:
            raise DoesNotFit
        self._program.cost(self._stays_out, self._stuck * self._dearest)

    def _duals(self, rows: Floats) -> Duals:
        """Links without a row are paid what is left of their copy's charge, as far as columns seem worth it: a copy
        must be worth all of it."""
        columns = self._columns
        links = np.where(self._link_row >= 0, np.maximum(-rows[self._link_row], 0.0), 0.0)
        duals = Duals(np.maximum(-rows[self._limit_rows], 0.0), links)
        if not len(links):
            return duals
        gain = self._gain(columns.priced(duals), rows)
        asked = np.bincount(columns.copy_of, weights=gain, minlength=len(columns.charges))
        left = np.maximum(columns.margin(duals), 0.0)
        part = np.minimum(left / np.maximum(asked, 1e-12), 1.0)
        return Duals(duals.limits, links + gain * part[columns.copy_of])

    def _gain(self, priced: Floats, rows: Floats) -> Floats:
        """By link: what its best column would save."""
        columns = self._columns
        saved = np.maximum(rows[columns.group] - priced, 0.0)
        gain = np.zeros(len(columns.copy_of) + 1)
        np.maximum.at(gain, columns.link, saved)
        return gain[:-1]

    def _wanted(self, priced: Floats, rows: Floats, usd: float) -> Integers:
        """The columns that would save most, of each commodity some."""
        columns = self._columns
        saved = rows[columns.group] - priced
        new = np.flatnonzero((saved > 1e-9 * usd / len(columns.starts)) & ~self._is_active)
        few = new[_ranks(columns.group[new], -saved[new]) < MORE]
        more = filled(columns, columns.priced(self._best))
        return np.unique(np.concatenate([few, more[~self._is_active[more]]]))

    def _sifted(self, values: Floats) -> Sifted:
        columns, active = self._columns, np.concatenate(self._active)
        parts = np.zeros(len(columns))
        parts[active] = values[len(values) - len(active) :]
        priced = columns.priced(self._best)
        if len(columns) <= FEW:
            return Sifted(np.arange(len(columns)), parts, self._bound)
        dearer = priced / np.maximum(np.minimum.reduceat(priced, columns.starts), 1e-12)[columns.group] - 1
        # With whole copies, data may well go where no part of it went: of each place for it, something is looked at.
        way = np.where(columns.link == NO_COPY, columns.group, len(columns.starts) + columns.link)
        near = np.flatnonzero((dearer <= DEARER) & (parts == 0) & (self._is_active | (_ranks(way, priced) < WAYS)))
        nearest = near[np.argsort(dearer[near], kind="stable")[:FEW]]
        kept = np.sort(np.concatenate([np.flatnonzero(parts), nearest]))
        return Sifted(kept, parts[kept], self._bound)

    def _add(self, new: Integers) -> None:
        """Columns, and the links that they are the first to need."""
        columns, entries = self._columns, self._columns.entries
        links = np.unique(columns.link[new])
        links = links[links != NO_COPY]
        links = links[self._link_row[links] < 0]
        ones = np.ones(len(links), dtype=np.int64)
        self._link_row[links] = self._program.rows(
            np.full(len(links), -np.inf), np.zeros(len(links)), ones, columns.copy_of[links], -np.ones(len(links))
        )
        position = np.full(len(columns), -1)
        position[new] = np.arange(len(new))
        some = np.flatnonzero(position[entries.column] >= 0)
        linked = np.flatnonzero(columns.link[new] != NO_COPY)
        number = np.concatenate([np.arange(len(new)), position[entries.column[some]], linked])
        row = np.concatenate(
            [columns.group[new], self._limit_rows[entries.limit[some]], self._link_row[columns.link[new[linked]]]]
        )
        value = np.concatenate([np.ones(len(new)), entries.part[some], np.ones(len(linked))])
        order = np.argsort(number, kind="stable")
        counts = np.bincount(number, minlength=len(new))
        upper = np.full(len(new), np.inf)
        self._program.columns(columns.usd[new], upper, counts, row[order], value[order])
        self._active.append(new)
        self._is_active[new] = True


def _nothing(rows: int) -> tuple[Integers, Integers, Floats]:
    return np.zeros(rows, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)


def best_of(columns: Columns, priced: Floats, count: int) -> Integers:
    """The cheapest columns of each commodity."""
    return np.flatnonzero(_ranks(columns.group, priced) < count)


def filled(columns: Columns, priced: Floats) -> Integers:
    """Columns that hold about everything: those that each commodity in turn, the dearest first, finds allowance in."""
    limit, part = columns.first_limit
    allowance = np.append(np.ones(columns.limits), np.inf)
    stops = np.append(columns.starts[1:], len(columns))
    found = []
    for commodity in np.argsort(-np.minimum.reduceat(priced, columns.starts), kind="stable").tolist():
        these = np.arange(columns.starts[commodity], stops[commodity])
        these = these[np.argsort(priced[these], kind="stable")]
        can = np.minimum(allowance[limit[these]] / part[these], 1.0)
        taken = np.clip(1 - (np.cumsum(can) - can), 0.0, can)
        used = taken > 1e-9
        found.append(these[used])
        np.subtract.at(allowance, limit[these[used]], (taken * part[these])[used])
    return np.concatenate(found)


def _ranks(group: Integers, value: Floats) -> Integers:
    """The place of each in its group, the smallest value first."""
    order = np.lexsort((value, group))
    sorted_groups = group[order]
    starts = np.flatnonzero(np.append(True, sorted_groups[1:] != sorted_groups[:-1])) if len(group) else order
    ranks = np.empty(len(group), dtype=np.int64)
    ranks[order] = np.arange(len(group)) - np.repeat(starts, np.diff(np.append(starts, len(group))))
    return ranks
