"""The relaxation of docs/planner.md as columns: the part of a commodity that each choice takes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.problem import NO_COPY, NO_POOL
from orchestrator.planner.model.solution import DoesNotFit
from orchestrator.planner.solver.program import numbered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.planner.model.arrays import Booleans, Floats, Integers
    from orchestrator.planner.model.commodities import Commodity
    from orchestrator.planner.model.problem import Problem


@dataclass(frozen=True)
class Entries:
    """What columns take of limits: each of these is 1 at most."""

    limit: Integers
    column: Integers
    part: Floats


@dataclass(frozen=True)
class Allowance:
    """Parts of all lanes and of the budget that may be used: roundings need some."""

    lanes: float = 1.0
    budget: float = 1.0


@dataclass(frozen=True)
class Duals:
    """DualEstimate: of all of each limit, and of what each link allows."""

    limits: Floats
    links: Floats

    def towards(self, other: Duals, part: float) -> Duals:
        return Duals(
            (1 - part) * self.limits + part * other.limits,
            (1 - part) * self.links + part * other.links,
        )


@dataclass
class Columns:
    """By commodity. Limits are lanes, then totals, pools and the budget; more may be added."""

    rows: Integers
    """The choice of each column."""
    group: Integers
    """Its commodity."""
    weight: Floats
    """All of it, in tasks of that choice."""
    usd: Floats
    """Of all of it there."""
    charges: Floats
    link: Integers
    """Of each column: the number of its (commodity, copy), or NO_COPY."""
    copy_of: Integers
    """Of each link."""
    entries: Entries
    limits: int = 0
    lanes: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """The first limits are these."""
    charged: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """The limit that copies count under as well, if there is a budget,"""
    charge_part: Floats = field(default_factory=lambda: np.empty(0))
    """and how much of it each copy takes."""

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def starts(self) -> Integers:
        """The first column of each commodity."""
        return np.searchsorted(self.group, np.arange(int(self.group[-1]) + 1))

    @cached_property
    def first_limit(self) -> tuple[Integers, Floats]:
        """Of each column: its lane, as a rule, and the part of it that it takes; `limits` where it is under none."""
        entries = self.entries
        _, first = np.unique(entries.column, return_index=True)
        limit, part = np.full(len(self), self.limits), np.ones(len(self))
        limit[entries.column[first]], part[entries.column[first]] = entries.limit[first], entries.part[first]
        return limit, part

    @cached_property
    def worst(self) -> float:
        """No plan costs more."""
        return float(np.maximum.reduceat(self.usd, self.starts).sum() + self.charges.sum())

    def limit(self, more: Entries, count: int) -> None:
        """More limits, numbered from 0 on in `more`."""
        old = self.entries
        self.entries = Entries(
            np.concatenate([old.limit, more.limit + self.limits]),
            np.concatenate([old.column, more.column]),
            np.concatenate([old.part, more.part]),
        )
        self.limits += count

    def high(self, allowance: Allowance) -> Floats:
        """How much of each limit there is."""
        high = np.ones(self.limits)
        high[: len(self.lanes)] = allowance.lanes
        high[self.charged] = allowance.budget
        return high

    def priced(self, duals: Duals) -> Floats:
        """The cost of each column at these prices."""
        entries = self.entries
        limits = np.bincount(
            entries.column, weights=duals.limits[entries.limit] * entries.part, minlength=len(self.rows)
        )
        return np.asarray(self.usd + limits + np.append(duals.links, 0.0)[self.link])

    def bound(self, duals: Duals, high: Floats) -> float:
        """Nothing costs less that takes no more of each limit than this, at whatever prices."""
        cheapest = np.minimum.reduceat(self.priced(duals), self.starts).sum()
        return float(cheapest - duals.limits @ high - np.maximum(-self.margin(duals), 0.0).sum())

    def margin(self, duals: Duals) -> Floats:
        """By copy: the part of its charge that its links do not pay yet."""
        charges = self.charges.copy()
        if self.charged.size:
            charges += duals.limits[self.charged[0]] * self.charge_part
        return np.asarray(charges - np.bincount(self.copy_of, weights=duals.links, minlength=len(charges)))

    def used(self, parts: Floats) -> Floats:
        """How much of each limit is taken, copies aside."""
        entries = self.entries
        used = np.bincount(entries.limit, weights=entries.part * parts[entries.column], minlength=self.limits)
        return np.asarray(used, dtype=np.float64)


def columns(problem: Problem, groups: Sequence[Commodity]) -> Columns:
    """DoesNotFit if some commodity has none."""
    choices, most = problem.choices, problem.most
    rows = np.concatenate([group.rows for group in groups])
    group = np.repeat(np.arange(len(groups)), [len(group.rows) for group in groups])
    paid = np.append(problem.funds, np.inf)[choices.pool[rows]] > 0
    usable = (most[choices.lane[rows]] >= 1) & paid
    rows, group = rows[usable], group[usable]
    if len(np.unique(group)) < len(groups):
        raise DoesNotFit
    weight = np.array([group.weight for group in groups])[group]
    lane, copied = choices.lane[rows], choices.copy[rows] != NO_COPY
    keys = group * max(len(problem.charges), 1) + choices.copy[rows]
    link = np.full(len(rows), NO_COPY)
    link[copied] = numbered(keys[copied])[1]
    found = Columns(
        rows=rows,
        group=group,
        weight=weight,
        usd=choices.usd[rows] * weight,
        charges=problem.charges,
        link=link,
        copy_of=np.unique(keys[copied]) % max(len(problem.charges), 1),
        entries=Entries(*_nothing()),
    )
    slots = choices.hours[rows] * weight / problem.busy_hours[lane]
    _limit(found, np.isfinite(most[lane]), lane, slots / most[lane])
    found.lanes = np.unique(lane[np.isfinite(most[lane])])
    for total in problem.shared:
        _limit(found, np.isin(lane, total.lanes), np.zeros_like(rows), slots / total.slots)
    pool = choices.pool[rows]
    funds = np.append(problem.funds, np.inf)[pool]
    _limit(found, pool != NO_POOL, pool, choices.draw[rows] * weight / funds)
    if np.isfinite(problem.budget):
        found.charged, found.charge_part = np.array([found.limits]), problem.charges / problem.budget
        every = np.ones(len(rows), dtype=bool)
        promise = np.concatenate([group.promise for group in groups])[usable]
        _limit(found, every, np.zeros_like(rows), promise * weight / problem.budget)
    return found


def _limit(found: Columns, under: Booleans, limit: Integers, part: Floats) -> None:
    """The columns under it, and which limit it is for each of all columns."""
    column = np.flatnonzero(under)
    count, number = numbered(limit[column])
    found.limit(Entries(number, column, part[column]), count)


def _nothing() -> tuple[Integers, Integers, Floats]:
    return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)
