"""Which copies are made, in a large problem; and how many slots of a shared limit each lane gets.

The relaxation leaves both in parts: here an integer program makes them whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.choices import NO_COPY
from orchestrator.planner.model.solution import DoesNotFit
from orchestrator.planner.solver.program import Effort, Entries, Program, number_keys

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Floats, Integers
    from orchestrator.planner.model.problem import Problem
    from orchestrator.planner.model.time_limit import TimeLimit
    from orchestrator.planner.solver.columns import Allowance, Columns
    from orchestrator.planner.solver.sifting import Sifted

EFFORT = Effort(gap=2e-4, nodes=500)


@dataclass(frozen=True)
class CopiesAnswer:
    """The flow once copies are made or not, and once lanes have whole slots."""

    flow: Floats
    """The part of its commodity that each column takes."""
    slots: Floats
    """About as many slots as each lane needs."""
    bound: float
    """$ that every plan costs at least, if lanes may be filled: this is proven."""


class CopiesProgram:
    """An integer program: its columns are some of the relaxation's, then the copies, then the slots of sharing lanes.

    A lane shares if it is under a limit that has fewer units than its lanes could take.
    """

    def __init__(
        self, problem: Problem, relaxation: Columns, sifted: Sifted, allowance: Allowance, lane_links: bool = False
    ) -> None:
        """Take a relaxation. With `lane_links` less search proves as much, but each step takes longer."""
        self._lane_links = lane_links
        self._problem, self._relaxation, self._sifted, self._allowance = problem, relaxation, sifted, allowance
        shared = [limit.lanes for limit in relaxation.shared_limits]
        self._sharing: Integers = np.intersect1d(
            relaxation.lanes, np.concatenate([np.empty(0, dtype=np.int64), *shared])
        )
        self._first_copy = len(sifted.columns)
        self._first_slot = self._first_copy + len(relaxation.charges)

    def solve(self, time_limit: TimeLimit, effort: Effort = EFFORT) -> CopiesAnswer:
        """Return what was decided, or the relaxation's own flow if there is no time. DoesNotFit if nothing fits."""
        flow, slots, bound = np.zeros(len(self._relaxation)), self._problem.most_slots.copy(), self._sifted.bound
        flow[self._sifted.columns] = self._sifted.parts
        if len(self._relaxation.charges) or len(self._sharing):
            try:
                every = self._first_copy == len(flow)
                answer = self._program().solve(effort, time_limit)
            except DoesNotFit:
                if not time_limit.stopped:
                    raise
            else:
                flow[self._sifted.columns] = answer.values[: self._first_copy]
                its = answer.values[self._first_slot :]
                slots[self._sharing] = np.floor(its + 1e-6)
                if every:  # only a program over all columns proves anything
                    bound = max(bound, answer.bound)
        return CopiesAnswer(flow, slots, bound)

    def _program(self) -> Program:
        relaxation, some = self._relaxation, self._sifted.columns
        usd = np.concatenate([relaxation.usd[some], relaxation.charges, np.zeros(len(self._sharing))])
        upper = np.concatenate([np.ones(self._first_slot), self._problem.most_slots[self._sharing]])
        numbers = np.arange(len(usd))
        whole = (numbers >= self._first_copy) & (numbers < self._first_slot)
        program = Program(usd, upper, whole)
        every = np.arange(len(some))
        all_of_it = Entries(relaxation.commodity[some], every, np.ones(len(some)))
        program.add_rows(len(relaxation.starts), all_of_it, 1.0, 1.0)
        self._add_limits(program)
        self._add_links(program)
        if self._lane_links:
            self._add_lane_links(program)
        for limit in relaxation.shared_limits:
            units = self._problem.units_on(limit)[self._sharing]
            under = np.flatnonzero(units)
            entries = Entries(np.zeros_like(under), self._first_slot + under, units[under])
            program.add_rows(1, entries, -np.inf, limit.free)
        return program

    def _add_limits(self, program: Program) -> None:
        """Add the relaxation's limits. A lane that shares is as large as the slots that it has."""
        relaxation, usage, some = self._relaxation, self._relaxation.usage, self._sifted.columns
        position = np.full(len(relaxation), -1)
        position[some] = np.arange(len(some))
        here = np.flatnonzero(position[usage.column] >= 0)
        budget = np.repeat(relaxation.budget_limit, len(relaxation.charges))
        sharing = np.searchsorted(relaxation.lanes, self._sharing)
        high = relaxation.allowed(self._allowance)
        high[sharing] = 0.0
        columns = [
            position[usage.column[here]],
            self._first_copy + np.arange(len(budget)),
            self._first_slot + np.arange(len(sharing)),
        ]
        each_slot = -self._allowance.lanes / self._problem.most_slots[self._sharing]
        entries = Entries(
            np.concatenate([usage.limit[here], budget, sharing]),
            np.concatenate(columns),
            np.concatenate([usage.part[here], relaxation.budget_part, each_slot]),
        )
        program.add_rows(relaxation.limit_count, entries, -np.inf, high)

    def _add_links(self, program: Program) -> None:
        """Add a row for each link: what needs a copy runs only if the copy is made."""
        relaxation, some = self._relaxation, self._sifted.columns
        needing = np.flatnonzero(relaxation.link[some] != NO_COPY)
        links, link = number_keys(relaxation.link[some][needing])
        copy = relaxation.copy_of[np.unique(relaxation.link[some][needing])]
        entries = Entries(
            np.concatenate([link, np.arange(links)]),
            np.concatenate([needing, self._first_copy + copy]),
            np.repeat([1.0, -1.0], [len(needing), links]),
        )
        program.add_rows(links, entries, -np.inf, 0.0)

    def _add_lane_links(self, program: Program) -> None:
        """Add a row for each copy and lane: what runs there on a copy takes no more of the lane than is copied.

        Whole copies need no such rows, but parts of them do: of a lane that holds little, a small part of a copy is
        enough for each commodity, and not for all of them together.
        """
        relaxation, some = self._relaxation, self._sifted.columns
        limit, part = (each[some] for each in relaxation.first_limit)
        needing = np.flatnonzero((relaxation.link[some] != NO_COPY) & (limit < len(relaxation.lanes)))
        copy = relaxation.copy_of[relaxation.link[some[needing]]]
        key = copy * relaxation.limit_count + limit[needing]
        rows, row = number_keys(key)
        copies = self._first_copy + np.unique(key) // max(relaxation.limit_count, 1)
        entries = Entries(
            np.concatenate([row, np.arange(rows)]),
            np.concatenate([needing, copies]),
            np.concatenate([part[needing], -np.ones(rows)]),
        )
        program.add_rows(rows, entries, -np.inf, 0.0)
