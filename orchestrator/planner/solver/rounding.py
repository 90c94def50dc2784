"""Large problems: the linear relaxation, then copies, then whole tasks, then what is left over."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.commodities import commodities
from orchestrator.planner.model.solution import DoesNotFit
from orchestrator.planner.model.time_limit import TimeLimit
from orchestrator.planner.pack.repair import repaired
from orchestrator.planner.solver.columns import Allowance, columns
from orchestrator.planner.solver.copies import CopiesProgram
from orchestrator.planner.solver.sifting import Sifting

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Floats, Integers
    from orchestrator.planner.model.commodities import Commodity
    from orchestrator.planner.model.problem import Problem
    from orchestrator.planner.model.solution import Solution
    from orchestrator.planner.solver.columns import Columns

LESS = (0.99, 0.97, 0.9)
"""Parts of each lane that the relaxation may fill, one after the other, when more was left over than the rest takes."""
BUDGETS = 5
"""Times that it may promise less, when whole tasks promised more than there is."""
SPARE = 0.999


def solve(problem: Problem, time_limit: TimeLimit | None = None) -> Solution:
    time_limit = time_limit or TimeLimit()
    if np.isfinite(problem.budget):  # it may well not bind, and is much work if it is asked after
        found = _solve(replace(problem, budget=np.inf), time_limit)
        if found.promise <= problem.budget:
            return replace(found, problem=problem)
    return _solve(problem, time_limit)


def _solve(problem: Problem, time_limit: TimeLimit) -> Solution:
    groups = commodities(problem)
    relaxation = columns(problem, groups)
    sifting, allowance, bound = Sifting(relaxation), Allowance(), None
    for _ in range(len(LESS) + BUDGETS):
        sifted = sifting.solve(time_limit)
        answer = CopiesProgram(problem, relaxation, sifted, allowance).solve(time_limit)
        bound = answer.bound if bound is None else bound
        tasks = _whole_tasks(problem, groups, relaxation, answer.flow)
        found = repaired(problem, tasks, bound, answer.slots)
        if found is None:
            allowance = replace(allowance, lanes=_less(allowance.lanes))
        elif found.promise > problem.budget:
            allowance = replace(allowance, budget=allowance.budget * problem.budget / found.promise * SPARE)
        else:
            return found
        sifting.fill(allowance)
    raise DoesNotFit


def _less(allowance: float) -> float:
    """DoesNotFit, if that was the least."""
    less = next((part for part in LESS if part < allowance), None)
    if less is None:
        raise DoesNotFit
    return less


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
