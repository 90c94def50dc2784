"""Finds how much is certainly not enough, when a problem has no plan: linear programs that see hours, not whole tasks.

Whether something is enough, only a plan can tell.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.choices import NO_COPY
from orchestrator.planner.model.commodities import commodities
from orchestrator.planner.model.solution import DoesNotFit
from orchestrator.planner.solver.program import Entries, Program, number_keys
from orchestrator.planner.solver.room import without_dollars

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Booleans, Floats, Integers
    from orchestrator.planner.model.commodities import Commodity
    from orchestrator.planner.model.problem import Problem

WANTED = 0.01
"""The part by which raising a limit must be better than raising the one that the cheapest choices wait for most."""


class Shortfall:
    """The limits of a problem, and what could go there.

    The limits are the problem's, in their order.
    """

    def __init__(self, problem: Problem) -> None:
        """Take a problem in which every cohort has a choice."""
        self._priced = problem
        if not np.isfinite(problem.budget):  # then most cohorts are alike
            problem = without_dollars(problem)
        all_commodities = commodities(replace(problem, budget=np.inf))
        weight = [np.full(len(commodity.rows), commodity.weight) for commodity in all_commodities]
        self._problem = problem
        self._commodities = len(all_commodities)
        self._rows = np.concatenate([commodity.rows for commodity in all_commodities])
        self._commodity = np.repeat(
            np.arange(len(all_commodities)), [len(commodity.rows) for commodity in all_commodities]
        )
        self._hours = problem.choices.hours[self._rows] * np.concatenate(weight)
        self._promise = np.concatenate([_promise(problem, commodity) for commodity in all_commodities])
        """$ promised for all tasks of a commodity at each choice, if that takes its part of every cohort."""
        self.free: Floats = np.array([limit.free for limit in problem.limits])
        """Units at once under each limit."""
        self.steps = np.array([limit.step for limit in problem.limits])
        """The units of one step of each limit."""
        self._limit, self._column, self._units = self._under_limits(problem.choices.lane[self._rows])

    def least_horizon(self) -> float:
        """Return the hours below which no horizon is enough; inf if none is. The problem must hold every choice."""
        problem, count = self._problem, len(self.free)
        program = self._program(np.zeros(self._width), asked=np.ones(1))
        part = self._units / np.maximum(self.free, 1e-9)[self._limit]
        self._add_limits(program, part, np.full(count, self._width), np.ones(count), 0.0)
        closes = np.array([problem.closes[limit.lanes].max() for limit in problem.limits])
        self._add_limits(program, part, np.full(count, self._width), np.zeros(count), closes)
        if np.isfinite(problem.budget):
            self._link_copies(program)
            spent = np.concatenate([self._promise, problem.charges]) / problem.budget
            every = np.arange(len(spent))
            program.add_rows(1, Entries(np.zeros_like(every), every, spent), -np.inf, 1.0)
        try:
            return program.solve().usd
        except DoesNotFit:
            return np.inf

    def missing_steps(self, fixed: Booleans, most: float = np.inf, longer: float = 1.0) -> Floats:
        """Return the steps that each limit lacks, of so many units as it can grow by. Fewer, together, are not enough.

        The problem must be within its horizon. A limit that is fixed lacks none, and no other grows to more than `most`
        times what it is, or times one step. DoesNotFit if no raise is enough. Tasks may count as so many times `longer`
        as they are.
        """
        count = len(self.free)
        grown = (most - 1) * np.maximum(self.free / self.steps, 1.0)
        program = self._program(
            np.zeros(self._width), asked=1 + WANTED * self.unwanted, most=np.where(fixed, 0.0, grown)
        )
        self._add_limits(program, self._part_of_horizon * longer, self._width + np.arange(count), self.steps, self.free)
        return np.asarray(program.solve().values[self._width :])

    @property
    def _width(self) -> int:
        return len(self._rows) + len(self._problem.charges)

    @property
    def _part_of_horizon(self) -> Floats:
        """The units that a task of one hour holds on average, while slots can be busy, for each entry of the limits."""
        busy_hours = self._problem.busy_hours[self._problem.choices.lane[self._rows]]
        return np.asarray(self._units / np.maximum(busy_hours, 1e-9)[self._column])

    def _program(self, usd: Floats, asked: Floats, most: Floats | float = np.inf) -> Program:
        """Return a program in which all of each commodity runs.

        Its columns are the part of its commodity that each choice takes, then the part of each copy that is made; these
        cost `usd`. Then comes what is `asked` for, at these costs and up to `most`.
        """
        upper = np.concatenate([np.ones(self._width), np.broadcast_to(most, len(asked))])
        program = Program(np.concatenate([usd, asked]), upper, np.zeros(len(upper), dtype=bool))
        every = np.arange(len(self._rows))
        program.add_rows(self._commodities, Entries(self._commodity, every, np.ones(len(every))), 1.0, 1.0)
        return program

    def _add_limits(self, program: Program, part: Floats, gives: Integers, given: Floats, high: Floats | float) -> None:
        """Add a row for each limit: hours times `part`, less `given` times the column `gives`, stay below `high`."""
        count = len(self.free)
        entries = Entries(
            np.concatenate([self._limit, np.arange(count)]),
            np.concatenate([self._column, gives]),
            np.concatenate([self._hours[self._column] * part, -given]),
        )
        program.add_rows(count, entries, -np.inf, high)

    def _link_copies(self, program: Program) -> None:
        """Add rows: what needs a copy runs only as far as the copy is made."""
        copy, made = self._problem.choices.copy[self._rows], len(self._problem.charges)
        needing = np.flatnonzero(copy != NO_COPY)
        keys = self._commodity[needing] * made + copy[needing]
        links, link = number_keys(keys)
        entries = Entries(
            np.concatenate([link, np.arange(links)]),
            np.concatenate([needing, len(self._rows) + np.unique(keys) % max(made, 1)]),
            np.repeat([1.0, -1.0], [len(needing), links]),
        )
        program.add_rows(links, entries, -np.inf, 0.0)

    @cached_property
    def unwanted(self) -> Floats:
        """The rank of each limit: 0 for the one that the cheapest choices would load most, up to almost 1."""
        problem = self._priced
        cheapest = problem.cheapest
        load = np.bincount(
            problem.choices.lane[cheapest],
            weights=problem.counts * problem.choices.hours[cheapest],
            minlength=problem.lanes,
        ).astype(np.float64)
        wanted = np.array([limit.used(load) / limit.step for limit in problem.limits])
        return np.asarray(np.argsort(np.argsort(-wanted, kind="stable"), kind="stable") / len(wanted))

    def _under_limits(self, lane: Integers) -> tuple[Integers, Integers, Floats]:
        """Return each limit with each column that counts under it, and the units that one training holds there."""
        by_lane = np.argsort(lane, kind="stable")
        ordered = lane[by_lane]
        limits, columns, units = [], [], []
        for number, limit in enumerate(self._problem.limits):
            first, stop = (np.searchsorted(ordered, limit.lanes, side) for side in ("left", "right"))
            for start, end, each in zip(first.tolist(), stop.tolist(), limit.units.tolist(), strict=True):
                columns.append(by_lane[start:end])
                limits.append(np.full(end - start, number))
                units.append(np.full(end - start, each))
        if not limits:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)
        return np.concatenate(limits), np.concatenate(columns), np.concatenate(units)


def _promise(problem: Problem, commodity: Commodity) -> Floats:
    """Return the $ promised for all tasks of a commodity, at each of its choices."""
    of_each = [problem.choices.promise[rows] * problem.counts[cohort] for cohort, rows in commodity.members]
    return np.asarray(np.sum(of_each, axis=0))
