"""What the relaxation leaves in parts: copies are made or not, and lanes have whole slots of their totals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.problem import NO_COPY
from orchestrator.planner.model.solution import DoesNotFit
from orchestrator.planner.solver.program import Effort, Entries, Program, numbered

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Floats, Integers
    from orchestrator.planner.model.problem import Problem
    from orchestrator.planner.model.time_limit import TimeLimit
    from orchestrator.planner.solver.columns import Allowance, Columns
    from orchestrator.planner.solver.sifting import Sifted

EFFORT = Effort(gap=2e-4, nodes=500)


@dataclass(frozen=True)
class CopiesAnswer:
    flow: Floats
    """The part of its commodity that each column takes."""
    slots: Floats
    """About as many as each lane needs."""
    bound: float
    """Nothing costs less, if lanes may be filled."""


class CopiesProgram:
    """An integer program. Its columns: few of the relaxation's, then the copies, then the slots of lanes that share."""

    def __init__(self, problem: Problem, relaxation: Columns, sifted: Sifted, allowance: Allowance) -> None:
        self._problem, self._relaxation, self._sifted, self._allowance = problem, relaxation, sifted, allowance
        lanes = [total.lanes for total in problem.shared]
        self._sharing: Integers = np.intersect1d(relaxation.lanes, np.concatenate(lanes)) if lanes else NONE
        self._copies = len(sifted.columns)
        self._slots = self._copies + len(relaxation.charges)

    def solve(self, time_limit: TimeLimit) -> CopiesAnswer:
        """As sifted, if there is no time."""
        flow, slots, bound = np.zeros(len(self._relaxation)), self._problem.most.copy(), self._sifted.bound
        flow[self._sifted.columns] = self._sifted.parts
        if len(self._relaxation.charges) or len(self._sharing):
            try:
                answer = self._program().solve(EFFORT, time_limit)
            except DoesNotFit:
                if not time_limit.stopped:
                    raise
            else:
                flow[self._sifted.columns] = answer.values[: self._copies]
                slots[self._sharing] = np.rint(answer.values[self._slots :])
                if self._copies == len(flow):
                    bound = max(bound, answer.bound)
        return CopiesAnswer(flow, slots, bound)

    def _program(self) -> Program:
        relaxation, few = self._relaxation, self._sifted.columns
        usd = np.concatenate([relaxation.usd[few], relaxation.charges, np.zeros(len(self._sharing))])
        upper = np.concatenate([np.ones(self._slots), self._problem.most[self._sharing]])
        program = Program(usd, upper, np.arange(len(usd)) >= self._copies)
        every = np.arange(len(few))
        program.rows(len(relaxation.starts), Entries(relaxation.group[few], every, np.ones(len(few))), 1.0, 1.0)
        self._limit(program)
        self._link(program)
        for total in self._problem.shared:
            under = np.flatnonzero(np.isin(self._sharing, total.lanes))
            entries = Entries(np.zeros_like(under), self._slots + under, np.ones(len(under)))
            program.rows(1, entries, -np.inf, total.slots)
        return program

    def _limit(self, program: Program) -> None:
        """A lane that shares is as large as the slots that it has; all other limits are what they are."""
        relaxation, entries, few = self._relaxation, self._relaxation.entries, self._sifted.columns
        position = np.full(len(relaxation), -1)
        position[few] = np.arange(len(few))
        some = np.flatnonzero(position[entries.column] >= 0)
        charged = np.repeat(relaxation.charged, len(relaxation.charges))
        sharing = np.searchsorted(relaxation.lanes, self._sharing)
        high = relaxation.high(self._allowance)
        high[sharing] = 0.0
        under = Entries(
            np.concatenate([entries.limit[some], charged, sharing]),
            np.concatenate(
                [
                    position[entries.column[some]],
                    self._copies + np.arange(len(charged)),
                    self._slots + np.arange(len(sharing)),
                ]
            ),
            np.concatenate(
                [entries.part[some], relaxation.charge_part, -self._allowance.lanes / self._problem.most[self._sharing]]
            ),
        )
        program.rows(relaxation.limits, under, -np.inf, high)

    def _link(self, program: Program) -> None:
        relaxation, few = self._relaxation, self._sifted.columns
        needing = np.flatnonzero(relaxation.link[few] != NO_COPY)
        links, link = numbered(relaxation.link[few][needing])
        copy = relaxation.copy_of[np.unique(relaxation.link[few][needing])]
        entries = Entries(
            np.concatenate([link, np.arange(links)]),
            np.concatenate([needing, self._copies + copy]),
            np.repeat([1.0, -1.0], [len(needing), links]),
        )
        program.rows(links, entries, -np.inf, 0.0)


NONE = np.empty(0, dtype=np.int64)
