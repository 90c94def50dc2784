"""Chooses copies: one more, one less, or one instead of another, as long as all tasks together become cheaper.

Duals rank the changes, because what they promise is never too little. What a change saves, a linear program tells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from orchestrator.planner.model.choices import NO_COPY
from orchestrator.planner.solver.copies.set_program import CopySet, SetProgram, set_of
from orchestrator.planner.solver.pick_columns import rank_in_group

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.planner.model.arrays import Floats, Integers
    from orchestrator.planner.model.time_limit import TimeLimit
    from orchestrator.planner.solver.columns import Columns
    from orchestrator.planner.solver.copies.set_program import Prices

FROM = (0.3, 0.1, 0.0)
"""A search begins with the copies of which the relaxation makes more than this part; then others do."""
NEAR = 5e-4
"""The part of the bound by which a set may be dearer, for no better one to be looked for."""
LEAST = 1e-6
"""The part of the cost that a change must save."""
LIKELY, DEEP, PAIRS = 30, 12, 3
"""Copies that may come in: the best so many. Changes that are looked beyond, and second changes after each."""
WORK, MOST = 1_500_000, 400
"""Sets are looked at as long as their number times the program's columns is no more than this, and `MOST` at most."""
FEWER = 40
"""Sets that are looked at where a good one is improved."""
COLUMNS = 60_000
"""Columns that are looked at, the nearest to their commodity's cheapest at the relaxation's duals."""


class Change(NamedTuple):
    """One copy goes, another comes, or both. `usd` is what all would cost at least."""

    usd: float
    out: int
    into: int

    def of(self, copies: CopySet) -> CopySet:
        return (copies - {self.out}) | ({self.into} - {NO_COPY})


def choose_copies(
    columns: Columns, costs: Floats, parts: Floats, bound: float, time_limit: TimeLimit
) -> list[tuple[CopySet, float]]:
    """Return good sets of copies, the best first, and what all costs with each, as far as hours tell.

    `parts` are what the relaxation's columns take, and `costs` are what they cost at its duals.
    """
    program = SetProgram(columns, _looked_at(columns, costs, parts))
    search = _Search(program, bound, time_limit)
    made = made_parts(columns, parts)
    found = []
    for begin in FROM:
        found.append(search.search(set_of(np.flatnonzero(made > begin))))
        if search.is_over(min(usd for _, usd in found)):
            break
    complete = {copies: usd for copies, usd in found if program.is_complete(copies)}
    if not complete:  # with all that it makes parts of, the relaxation leaves nothing out
        every = set_of(np.flatnonzero(made > 0))
        complete[every] = program.usd(every)
    return sorted(complete.items(), key=lambda each: (each[1], sorted(each[0])))


def improve_set(program: SetProgram, copies: CopySet, bound: float, time_limit: TimeLimit) -> CopySet:
    """Return these copies, or better ones: those that no change makes cheaper, or the best that is found in time."""
    return _Search(program, bound, time_limit, FEWER).search(copies)[0]


class _Search:
    """Looks for better sets of copies. It remembers what sets cost."""

    def __init__(self, program: SetProgram, bound: float, time_limit: TimeLimit, most: int = MOST) -> None:
        self._program, self._bound, self._time_limit, self._most = program, bound, time_limit, most
        self._usd: dict[CopySet, float] = {}

    def is_over(self, usd: float) -> bool:
        """Return whether a set that costs so much is good enough, or enough sets were looked at."""
        solved = self._program.solved
        worked = solved >= self._most or solved * self._program.width > WORK
        return usd <= self._bound * (1 + NEAR) or worked or self._time_limit.is_out

    def search(self, copies: CopySet) -> tuple[CopySet, float]:
        """Return a set that no change makes cheaper, and what it costs; or the best that was found in time."""
        prices = self._look(copies)
        while not self.is_over(prices.usd):
            better = self._better(copies, prices)
            if better is None:
                break
            copies = better
            prices = self._look(copies)
        return copies, prices.usd

    def _better(self, copies: CopySet, prices: Prices) -> CopySet | None:
        """Return a cheaper set that is a change or two away, or None if none is found."""
        adds, drops = _adds(copies, prices), _drops(copies, prices)
        found = self._first(copies, [*adds, *drops], prices.usd)
        if found is not None:
            return found
        for change in sorted(drops)[:DEEP]:
            without = self._look(change.of(copies))
            found = self._first(change.of(copies), _adds(copies, without)[:PAIRS], prices.usd)
            if found is not None:
                return found
        for change in sorted(adds)[:DEEP]:
            if change.usd < prices.usd:
                beside = self._look(change.of(copies))
                others = [drop for drop in _drops(change.of(copies), beside) if drop.out != change.into]
                found = self._first(change.of(copies), others[:PAIRS], prices.usd)
                if found is not None:
                    return found
        return None

    def _first(self, copies: CopySet, changes: Iterable[Change], usd: float) -> CopySet | None:
        """Return the set after the first change that makes it cheaper than this, the most promising first."""
        for change in sorted(changes):
            if change.usd > usd * (1 - LEAST) or self.is_over(usd):
                return None
            changed = change.of(copies)
            if changed not in self._usd:
                self._usd[changed] = self._program.usd(changed)
            if self._usd[changed] < usd * (1 - LEAST):
                return changed
        return None

    def _look(self, copies: CopySet) -> Prices:
        prices = self._program.prices(copies)
        self._usd[copies] = prices.usd
        return prices


def _adds(copies: CopySet, prices: Prices) -> list[Change]:
    """Return each copy that may be worth its charge, the most promising first."""
    best = np.argsort(-prices.gain, kind="stable").tolist()
    likely = [copy for copy in best if copy not in copies][:LIKELY]
    return [Change(prices.usd - float(prices.gain[copy]), NO_COPY, copy) for copy in likely if prices.gain[copy] > 0]


def _drops(copies: CopySet, prices: Prices) -> list[Change]:
    """Return each copy that may go, the most promising first."""
    return sorted(Change(prices.usd + prices.loss[copy], copy, NO_COPY) for copy in copies)


def made_parts(columns: Columns, parts: Floats) -> Floats:
    """Return the part of each copy that the relaxation makes."""
    linked = np.flatnonzero(columns.link != NO_COPY)
    of_link = np.bincount(columns.link[linked], weights=parts[linked], minlength=len(columns.copy_of))
    made = np.zeros(len(columns.charges))
    np.maximum.at(made, columns.copy_of, of_link)
    return np.where(made > 1e-9, made, 0.0)


def _looked_at(columns: Columns, costs: Floats, parts: Floats) -> Integers:
    """Return the columns that sets are compared over: all, or the nearest of each commodity and copy."""
    if len(columns) <= COLUMNS:
        return np.arange(len(columns))
    way = np.where(columns.link == NO_COPY, columns.commodity, len(columns.starts) + columns.link)
    rank = rank_in_group(way, costs)
    most = COLUMNS // max(len(np.unique(way)), 1) + 1
    return np.flatnonzero((rank < most) | (parts > 0))
