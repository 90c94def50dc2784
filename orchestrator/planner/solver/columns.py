"""The relaxation of docs/planner-solving.md as columns: the part of a commodity that each choice takes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.choices import NO_COPY, NO_POOL
from orchestrator.planner.model.solution import DoesNotFit
from orchestrator.planner.solver.program import number_keys
from orchestrator.planner.solver.slots.windows import find_windows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.planner.model.arrays import Booleans, Floats, Integers
    from orchestrator.planner.model.commodities import Commodity
    from orchestrator.planner.model.problem import Limit, Problem


FEW, WINDOWS = 25_000, 3
"""Columns up to which windows of lanes are limits as well, and so many windows of each lane."""


@dataclass(frozen=True)
class Usage:
    """What columns use of limits: an entry for each column and limit that it is under. All of a limit is 1."""

    limit: Integers
    column: Integers
    part: Floats
    """The part of the limit that is used if the column takes all of its commodity."""


@dataclass(frozen=True)
class Allowance:
    """The parts of all lanes and of the budget that may be used. Rounding to whole tasks may need the rest."""

    lanes: float = 1.0
    budget: float = 1.0


@dataclass(frozen=True)
class Duals:
    """What the limits and links are worth, in dollars. Any duals that are not negative prove a bound."""

    limits: Floats
    """The dual of all of each limit."""
    links: Floats
    """The dual of what each link allows."""

    def towards(self, other: Duals, part: float) -> Duals:
        """Return the duals that lie this part of the way from these to the others."""
        return Duals(
            (1 - part) * self.limits + part * other.limits,
            (1 - part) * self.links + part * other.links,
        )


@dataclass
class Columns:
    """All columns of the relaxation, commodity by commodity, with the limits and links that they are under.

    The limits are lanes, then shared limits, pools, windows and the budget. A link is a commodity with a copy that some
    of its choices need: these run only as far as the copy is made.
    """

    choice: Integers
    """The choice of each column."""
    commodity: Integers
    """The commodity of each column."""
    weight: Floats
    """Tasks of its choice that a column has if it takes all of its commodity."""
    usd: Floats
    """Dollars that a column costs if it takes all of its commodity."""
    charges: Floats
    """Dollars of each copy."""
    link: Integers
    """The link of each column, or NO_COPY."""
    copy_of: Integers
    """The copy of each link."""
    usage: Usage
    limit_count: int = 0
    lanes: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """The lanes that are the first limits, in this order."""
    shared_limits: tuple[Limit, ...] = ()
    """The problem's limits that these columns could exceed together. They come next."""
    pools: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """The pools that these columns draw from. They come after the shared limits."""
    budget: float = np.inf
    """$ of the problem's budget."""
    budget_limit: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """The number of the budget's limit, which copies are under as well. It is empty if there is no budget."""
    budget_part: Floats = field(default_factory=lambda: np.empty(0))
    """The part of the budget that each copy uses."""

    def __len__(self) -> int:
        return len(self.choice)

    @cached_property
    def starts(self) -> Integers:
        """The first column of each commodity."""
        return np.searchsorted(self.commodity, np.arange(int(self.commodity[-1]) + 1))

    @cached_property
    def first_limit(self) -> tuple[Integers, Floats]:
        """The first limit of each column, which is its lane if that is limited, and the part of it that is used.

        A column that is under no limit has the number `limit_count`.
        """
        usage = self.usage
        _, first = np.unique(usage.column, return_index=True)
        limit, part = np.full(len(self), self.limit_count), np.ones(len(self))
        limit[usage.column[first]], part[usage.column[first]] = usage.limit[first], usage.part[first]
        return limit, part

    @cached_property
    def worst_usd(self) -> float:
        """Dollars that no plan exceeds: each commodity at its dearest choice, and every copy."""
        return float(np.maximum.reduceat(self.usd, self.starts).sum() + self.charges.sum())

    def add_limits(self, more: Usage, count: int) -> None:
        """Add so many limits, which `more` numbers from 0 on."""
        old = self.usage
        self.usage = Usage(
            np.concatenate([old.limit, more.limit + self.limit_count]),
            np.concatenate([old.column, more.column]),
            np.concatenate([old.part, more.part]),
        )
        self.limit_count += count

    def allowed(self, allowance: Allowance) -> Floats:
        """Return the part of each limit that may be used."""
        allowed = np.ones(self.limit_count)
        allowed[: len(self.lanes)] = allowance.lanes
        allowed[self.budget_limit] = allowance.budget
        return allowed

    def used(self, parts: Floats) -> Floats:
        """Return how much of each limit the columns use, if they take these parts of their commodities."""
        usage = self.usage
        used = np.bincount(usage.limit, weights=usage.part * parts[usage.column], minlength=self.limit_count)
        return np.asarray(used, dtype=np.float64)

    def reduced_costs(self, duals: Duals) -> Floats:
        """Return what each column costs with the duals of what it uses: of its limits, and of its link."""
        usage = self.usage
        limits = np.bincount(usage.column, weights=duals.limits[usage.limit] * usage.part, minlength=len(self.choice))
        return np.asarray(self.usd + limits + np.append(duals.links, 0.0)[self.link])

    def unpaid_charges(self, duals: Duals) -> Floats:
        """Return for each copy the part of its charge that the duals of its links do not pay yet."""
        charges = self.charges.copy()
        if self.budget_limit.size:
            charges += duals.limits[self.budget_limit[0]] * self.budget_part
        return np.asarray(charges - np.bincount(self.copy_of, weights=duals.links, minlength=len(charges)))

    def at_budget_price(self, dual: float) -> Columns:
        """Return the columns with this price of all of the budget in their costs, and none of the budget's limit."""
        usage, budget = self.usage, self.budget_limit
        spends = np.isin(usage.limit, budget)
        spent = np.bincount(usage.column[spends], weights=usage.part[spends], minlength=len(self))
        return replace(
            self,
            usd=self.usd + dual * spent,
            charges=self.charges + dual * self.budget_part if budget.size else self.charges,
            usage=Usage(usage.limit[~spends], usage.column[~spends], usage.part[~spends]),
            budget_limit=np.empty(0, dtype=np.int64),
            budget_part=np.empty(0),
        )

    def bound(self, duals: Duals, allowed: Floats) -> float:
        """Return the bound that these duals prove, in $.

        Every plan costs at least as much, if it uses no more of each limit than is allowed.
        """
        cheapest = np.minimum.reduceat(self.reduced_costs(duals), self.starts).sum()
        return float(cheapest - duals.limits @ allowed - np.maximum(-self.unpaid_charges(duals), 0.0).sum())


def prices_in(columns: Columns, other: Columns, limits: Floats) -> Floats:
    """Return what these columns' limits are worth, if those of another relaxation of the same tasks are worth so much.

    The other may have more of its copies made, and less budget left. Windows are worth nothing.
    """
    found = np.zeros(columns.limit_count)
    _, here, there = np.intersect1d(columns.lanes, other.lanes, return_indices=True)
    found[here] = limits[there]
    number, numbers = len(columns.lanes), {id(limit): n for n, limit in enumerate(other.shared_limits)}
    for limit in columns.shared_limits:
        if id(limit) in numbers:
            found[number] = limits[len(other.lanes) + numbers[id(limit)]]
        number += 1
    _, here, there = np.intersect1d(columns.pools, other.pools, return_indices=True)
    found[number + here] = limits[len(other.lanes) + len(other.shared_limits) + there]
    if columns.budget_limit.size and other.budget_limit.size:
        found[columns.budget_limit] = limits[other.budget_limit] * (columns.budget / other.budget)
    return found


def build_columns(problem: Problem, commodities: Sequence[Commodity]) -> Columns:
    """Return the columns of these commodities. DoesNotFit if some commodity has none."""
    choices, most = problem.choices, problem.most_slots
    choice = np.concatenate([each.rows for each in commodities])
    commodity = np.repeat(np.arange(len(commodities)), [len(each.rows) for each in commodities])
    paid = np.append(problem.funds, np.inf)[choices.pool[choice]] > 0
    usable = (most[choices.lane[choice]] >= 1) & paid
    choice, commodity = choice[usable], commodity[usable]
    if len(np.unique(commodity)) < len(commodities):
        raise DoesNotFit
    weight = np.array([each.weight for each in commodities])[commodity]
    lane, copied = choices.lane[choice], choices.copy[choice] != NO_COPY
    keys = commodity * max(len(problem.charges), 1) + choices.copy[choice]
    link = np.full(len(choice), NO_COPY)
    link[copied] = number_keys(keys[copied])[1]
    columns = Columns(
        choice=choice,
        commodity=commodity,
        weight=weight,
        usd=choices.usd[choice] * weight,
        charges=problem.charges,
        link=link,
        copy_of=np.unique(keys[copied]) % max(len(problem.charges), 1),
        usage=Usage(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)),
    )
    slots = np.concatenate([each.slot_part for each in commodities])[usable] * weight
    _limit(columns, np.isfinite(most[lane]), lane, slots / most[lane])
    columns.lanes = np.unique(lane[np.isfinite(most[lane])])
    columns.shared_limits = problem.still_shared(np.unique(lane))
    _limit_shared(columns, lane, slots)
    pool = choices.pool[choice]
    funds = np.append(problem.funds, np.inf)[pool]
    columns.pools = np.unique(pool[pool != NO_POOL])
    _limit(columns, pool != NO_POOL, pool, choices.draw[choice] * weight / funds)
    if len(columns) <= FEW:
        wait = np.concatenate([each.wait for each in commodities])[usable]
        _limit_windows(columns, problem, lane, wait)
    if np.isfinite(problem.budget):
        columns.budget, columns.budget_limit = problem.budget, np.array([columns.limit_count])
        columns.budget_part = problem.charges / problem.budget
        every = np.ones(len(choice), dtype=bool)
        promise = np.concatenate([each.promise for each in commodities])[usable]
        _limit(columns, every, np.zeros_like(choice), promise * weight / problem.budget)
    return columns


def _limit_windows(columns: Columns, problem: Problem, lane: Integers, wait: Floats) -> None:
    """Add the windows in which columns that wait must run. `lane` and `wait` are those of each column."""
    limited = np.flatnonzero(np.isfinite(problem.most_slots[lane]))
    windows = find_windows(lane[limited], wait[limited], problem.latest_end, WINDOWS)
    column = limited[windows.row]
    hours = problem.choices.hours[columns.choice[column]] * columns.weight[column]
    room = (windows.hours * problem.most_slots[windows.lane])[windows.window]
    columns.add_limits(Usage(windows.window, column, hours / room), len(windows.lane))


def _limit_shared(columns: Columns, lane: Integers, slots: Floats) -> None:
    """Add the shared limits. `lane` says where each column runs, and `slots` how many it takes there."""
    by_lane = np.argsort(lane, kind="stable")
    found, count = [columns.usage], columns.limit_count
    for limit in columns.shared_limits:
        first, stop = (np.searchsorted(lane[by_lane], limit.lanes, side) for side in ("left", "right"))
        its = [by_lane[start:end] for start, end in zip(first.tolist(), stop.tolist(), strict=True)]
        units = np.repeat(limit.units, [len(each) for each in its])
        order = np.argsort(column := np.concatenate(its))
        column = column[order]
        found.append(Usage(np.full(len(column), count), column, slots[column] * units[order] / limit.free))
        count += 1
    columns.usage = Usage(*(np.concatenate([getattr(each, name) for each in found]) for name in Usage.__annotations__))
    columns.limit_count = count


def _limit(columns: Columns, under: Booleans, key: Integers, part: Floats) -> None:
    """Add limits: one for each different key among the columns that are `under` it. `part` is what each column uses."""
    column = np.flatnonzero(under)
    count, number = number_keys(key[column])
    columns.add_limits(Usage(number, column, part[column]), count)
