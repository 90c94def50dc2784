"""How much room there is: linear programs that see hours, for when a problem has no plan.

They say what is not enough. Whether something is enough, only a plan can tell.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.commodities import commodities
from orchestrator.planner.model.problem import NO_COPY
from orchestrator.planner.model.solution import DoesNotFit
from orchestrator.planner.solver.program import Entries, Program, numbered

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Booleans, Floats, Integers
    from orchestrator.planner.model.commodities import Commodity
    from orchestrator.planner.model.problem import Problem

WANTED = 0.01
"""By so much raising any other limit must be better than the one that the cheapest choices wait for most."""


class Shortfall:
    """What is limited: each lane of which a quota is known, then each total over lanes; and what could go there."""

    def __init__(self, problem: Problem) -> None:
        """No cohort of it is stranded."""
        groups = commodities(replace(problem, budget=np.inf))
        weight = [np.full(len(group.rows), group.weight) for group in groups]
        self._problem = problem
        self._groups = len(groups)
        self._rows = np.concatenate([group.rows for group in groups])
        self._group = np.repeat(np.arange(len(groups)), [len(group.rows) for group in groups])
        self._hours = problem.choices.hours[self._rows] * np.concatenate(weight)
        self._promise = np.concatenate([_promise(problem, group) for group in groups])
        """Of all tasks of a commodity: each place is thought to take its part of every cohort."""
        self.lanes = np.flatnonzero(np.isfinite(problem.slots))
        self.slots: Floats = np.concatenate([problem.slots[self.lanes], [total.slots for total in problem.totals]])
        """Trainings at once under each limit."""
        self._limit, self._column = self._under_limits(problem.choices.lane[self._rows])

    def least_horizon(self) -> float:
        """Hours that are not enough if there are fewer; inf if none are. Of a problem that holds every choice."""
        problem, count = self._problem, len(self.slots)
        program = self._program(np.zeros(self._width), asked=np.ones(1))
        part = 1 / np.maximum(self.slots, 1e-9)[self._limit]
        self._limited(program, part, np.full(count, self._width), np.ones(count), 0.0)
        closes = np.concatenate([problem.closes[self.lanes], np.full(len(problem.totals), np.inf)])
        self._limited(program, part, np.full(count, self._width), np.zeros(count), closes)
        if np.isfinite(problem.budget):
            self._link_copies(program)
            spent = np.concatenate([self._promise, problem.charges]) / problem.budget
            every = np.arange(len(spent))
            program.rows(1, Entries(np.zeros_like(every), every, spent), -np.inf, 1.0)
        try:
            return program.solve().usd
        except DoesNotFit:
            return np.inf

    def least_budget(self) -> float:
        """$ that are about what must be promised. Of a problem within its horizon."""
        program = self._program(np.concatenate([self._promise, self._problem.charges]), asked=np.empty(0))
        self._link_copies(program)
        count = len(self.slots)
        self._limited(program, self._part_of_horizon, np.zeros(count, dtype=np.int64), np.zeros(count), self.slots)
        return program.solve().usd

    def raises(self, fixed: Booleans) -> Floats:
        """Trainings at once that each limit lacks, which are not enough if there are fewer in all; none where a limit
        is fixed. Of a problem within its horizon; DoesNotFit if no raise is enough."""
        count = len(self.slots)
        program = self._program(
            np.zeros(self._width), asked=1 + WANTED * self.unwanted, most=np.where(fixed, 0, np.inf)
        )
        self._limited(program, self._part_of_horizon, self._width + np.arange(count), np.ones(count), self.slots)
        return np.asarray(program.solve().values[self._width :])

    @property
    def _width(self) -> int:
        return len(self._rows) + len(self._problem.charges)

    @property
    def _part_of_horizon(self) -> Floats:
        """What an hour is of what one slot can be busy for."""
        busy_hours = self._problem.busy_hours[self._problem.choices.lane[self._rows]]
        return np.asarray(1 / np.maximum(busy_hours, 1e-9)[self._column])

    def _program(self, usd: Floats, asked: Floats, most: Floats | float = np.inf) -> Program:
        """Columns: the part of its commodity that each choice takes, the part of each copy that is made, then what is
        asked for, at these costs. Rows: all of each commodity runs."""
        upper = np.concatenate([np.ones(self._width), np.broadcast_to(most, len(asked))])
        program = Program(np.concatenate([usd, asked]), upper, np.zeros(len(upper), dtype=bool))
        every = np.arange(len(self._rows))
        program.rows(self._groups, Entries(self._group, every, np.ones(len(every))), 1.0, 1.0)
        return program

    def _limited(self, program: Program, part: Floats, gives: Integers, given: Floats, high: Floats | float) -> None:
        """A row for each limit: its hours, times `part`, less what the column `gives` adds to it."""
        count = len(self.slots)
        entries = Entries(
            np.concatenate([self._limit, np.arange(count)]),
            np.concatenate([self._column, gives]),
            np.concatenate([self._hours[self._column] * part, -given]),
        )
        program.rows(count, entries, -np.inf, high)

    def _link_copies(self, program: Program) -> None:
        """What needs a copy runs only as far as the copy is made."""
        copy, made = self._problem.choices.copy[self._rows], len(self._problem.charges)
        needing = np.flatnonzero(copy != NO_COPY)
        keys = self._group[needing] * made + copy[needing]
        links, link = numbered(keys)
        entries = Entries(
            np.concatenate([link, np.arange(links)]),
            np.concatenate([needing, len(self._rows) + np.unique(keys) % max(made, 1)]),
            np.repeat([1.0, -1.0], [len(needing), links]),
        )
        program.rows(links, entries, -np.inf, 0.0)

    @cached_property
    def unwanted(self) -> Floats:
        """0 for the limit that the cheapest choices would load most, up to almost 1."""
        problem = self._problem
        cheapest = problem.cheapest
        load = np.bincount(
            problem.choices.lane[cheapest],
            weights=problem.counts * problem.choices.hours[cheapest],
            minlength=len(problem.slots),
        )
        wanted = np.concatenate([load[self.lanes], [load[total.lanes].sum() for total in problem.totals]])
        return np.asarray(np.argsort(np.argsort(-wanted, kind="stable"), kind="stable") / len(wanted))

    def _under_limits(self, lane: Integers) -> tuple[Integers, Integers]:
        """Limits and columns: those that count under them."""
        number = np.full(len(self._problem.slots), -1)
        number[self.lanes] = np.arange(len(self.lanes))
        limits, columns = [number[lane]], [np.arange(len(lane))]
        for offset, total in enumerate(self._problem.totals, start=len(self.lanes)):
            some = np.flatnonzero(np.isin(lane, total.lanes))
            limits.append(np.full(len(some), offset))
            columns.append(some)
        limit, column = np.concatenate(limits), np.concatenate(columns)
        return limit[limit >= 0], column[limit >= 0]


def _promise(problem: Problem, group: Commodity) -> Floats:
    of_each = [problem.choices.promise[rows] * problem.counts[cohort] for cohort, rows in group.members]
    return np.asarray(np.sum(of_each, axis=0))
