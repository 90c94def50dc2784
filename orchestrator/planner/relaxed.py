"""Large problems: the linear relaxation, then copies, then whole tasks, then what is left over."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.clock import Clock
from orchestrator.planner.columns import columns
from orchestrator.planner.commodity import commodities
from orchestrator.planner.decide import Decision
from orchestrator.planner.problem import DoesNotFit
from orchestrator.planner.repair import repaired
from orchestrator.planner.sieve import Sieve

if TYPE_CHECKING:
    from orchestrator.planner.columns import Columns
    from orchestrator.planner.commodity import Commodity
    from orchestrator.planner.problem import Floats, Integers, Problem, Solution

ROOM = (1.0, 0.99, 0.97, 0.9)
"""Parts of each lane that the relaxation may fill; less, when roundings left over more than the rest could take."""


def solve(problem: Problem, clock: Clock | None = None) -> Solution:
    groups, clock = commodities(problem), clock or Clock()
    relaxation = columns(problem, groups)
    sieve, bound = Sieve(relaxation), None
    for room in ROOM:
        if bound is not None:
            sieve.fill(room)
        sifted = sieve.solve(clock)
        decided = Decision(problem, relaxation, sifted, room).made(clock)
        bound = decided.bound if bound is None else bound
        tasks = _whole_tasks(problem, groups, relaxation, decided.flow)
        if (found := repaired(problem, tasks, bound, decided.slots)) is not None:
            return found
    raise DoesNotFit


def _whole_tasks(problem: Problem, groups: list[Commodity], relaxation: Columns, flow: Floats) -> Integers:
    """Tasks of each choice, some of which are left over."""
    tasks = np.zeros(len(problem.choices), dtype=np.int64)
    part = np.zeros(len(problem.choices))
    part[relaxation.rows] = flow
    for group in groups:
        _round_down(problem, group, part[group.rows] * group.weight, tasks)
    return tasks


def _round_down(problem: Problem, group: Commodity, flow: Floats, tasks: Integers) -> None:
    """Each place gets its part of every cohort, as short tasks fill the gaps that long ones leave; then the rest,
    the longest first."""
    longest = problem.choices.hours[group.rows[0]]
    left = {cohort: int(problem.counts[cohort]) for cohort, _ in group.members}
    parts = np.floor(np.outer(flow / group.weight, list(left.values())) + 1e-6).astype(np.int64)
    for number, (cohort, rows) in enumerate(group.members):
        tasks[rows] = parts[:, number]
        left[cohort] -= int(parts[:, number].sum())
        flow -= parts[:, number] * (problem.choices.hours[rows[0]] / longest)
    for cohort, rows in group.members:
        part = problem.choices.hours[rows[0]] / longest
        for place in np.flatnonzero(flow >= part * (1 - 1e-6)).tolist():
            count = min(left[cohort], int(flow[place] / part + 1e-6))
            tasks[rows[place]] += count
            flow[place] -= count * part
            left[cohort] -= count
