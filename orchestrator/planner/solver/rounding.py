"""Solves large problems: the linear relaxation, then the copies, then whole tasks, then what is left over."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.arrays import SLACK
from orchestrator.planner.model.choices import NO_COPY
from orchestrator.planner.model.commodities import commodities
from orchestrator.planner.model.solution import DoesNotFit, NotFound
from orchestrator.planner.model.time_limit import TimeLimit
from orchestrator.planner.solver.columns import Allowance, build_columns
from orchestrator.planner.solver.copies.copies_program import CopiesProgram
from orchestrator.planner.solver.copies.decide_copies import decide_copies
from orchestrator.planner.solver.dominated import without_dominated
from orchestrator.planner.solver.sifting import Sifting
from orchestrator.planner.solver.whole_tasks import Relaxed, better_of, make_whole

if TYPE_CHECKING:
    from orchestrator.planner.model.problem import Problem
    from orchestrator.planner.model.solution import Solution
    from orchestrator.planner.solver.columns import Columns
    from orchestrator.planner.solver.copies.copies_program import CopiesAnswer

LESS = (0.99, 0.97, 0.9)
"""The parts of each lane that the relaxation may fill, one after the other, when tasks are left that fit nowhere."""
BUDGETS = 5
"""Times that the relaxation gets less to promise, when whole tasks promised more than the budget."""
SPARE = 0.999
"""A further factor on what it then gets, because whole tasks may promise a little more again."""
SETS, FAR_FOR_COPIES = 3, 5e-3
"""Sets of copies that whole tasks are placed for, and the gap up to which the first of them is good enough."""


def solve(problem: Problem, time_limit: TimeLimit | None = None) -> Solution:
    """Return a good solution, with a bound that tells how good.

    DoesNotFit, if there is none. NotFound, if there may be one.
    """
    time_limit = time_limit or TimeLimit()
    lean, rows = without_dominated(problem)
    try:
        found = _solve_within_budget(lean, time_limit)
    except DoesNotFit as failure:
        return _try_again(problem, failure, len(rows) < len(problem.choices), time_limit)
    tasks = np.zeros(len(problem.choices), dtype=np.int64)
    tasks[rows] = found.tasks
    return replace(found, problem=problem, tasks=tasks)


def _try_again(problem: Problem, failure: DoesNotFit, with_more: bool, time_limit: TimeLimit) -> Solution:
    """Return a solution with all choices, or with any copies. Raise the failure, or a later one, if that finds none."""
    if with_more:
        try:
            return _solve_within_budget(problem, time_limit)
        except DoesNotFit as later:
            failure = later
    if not isinstance(failure, NotFound):
        raise failure
    if np.isfinite(problem.budget) or not len(problem.charges):
        raise failure
    return solve_whatever_copies_cost(problem, time_limit)


def promise_least(problem: Problem, time_limit: TimeLimit | None = None) -> Solution:
    """Return a solution that promises about as little as can be, whether or not its budget allows that much.

    DoesNotFit, if there is no solution; NotFound, if there may be one.
    """
    choices = problem.choices
    promised = replace(problem, budget=np.inf, choices=replace(choices, usd=choices.promise))
    least_usd = float(problem.counts @ choices.usd[problem.cheapest])
    return replace(solve(promised, time_limit), problem=problem, bound=least_usd)


def solve_whatever_copies_cost(problem: Problem, time_limit: TimeLimit | None = None) -> Solution:
    """Return a solution that makes whatever copies help. It takes far less time, and finds room where there is any.

    The problem must have no budget. DoesNotFit, if there is no solution; NotFound, if there may be one.
    """
    at_hand = replace(problem.choices, copy=np.full(len(problem.choices), NO_COPY))
    found = _solve(replace(problem, choices=at_hand, charges=np.empty(0)), time_limit or TimeLimit())
    return replace(found, problem=problem)


def _solve_within_budget(problem: Problem, time_limit: TimeLimit) -> Solution:
    least = np.minimum.reduceat(problem.choices.promise, problem.first_choice[:-1])
    if float(problem.counts @ least) > problem.budget * SLACK:
        raise DoesNotFit
    if np.isfinite(problem.budget):  # it may well not bind, and is much work where it is looked at
        found = _solve(replace(problem, budget=np.inf), time_limit)
        found = replace(found, problem=problem)
        if found.keeps_budget:
            return found
        try:
            return _solve(problem, time_limit)
        except NotFound:
            least_promise = promise_least(problem, time_limit)
            if not least_promise.keeps_budget:
                raise
            return replace(least_promise, bound=found.bound)
    return _solve(problem, time_limit)


def _solve(problem: Problem, time_limit: TimeLimit) -> Solution:
    if not len(problem.charges):
        return _solve_without_copies(problem, time_limit)
    best, failure = None, None
    for decided in decide_copies(problem, time_limit)[:SETS]:
        try:
            found = _solve_without_copies(decided.problem, time_limit)
        except DoesNotFit as error:  # with other copies all may well fit
            failure = error
            continue
        best = better_of(best, decided.undecide(problem, found))
        if best is not None and best.gap <= FAR_FOR_COPIES:
            break
    if best is None:
        raise NotFound from failure
    return best


def _solve_without_copies(problem: Problem, time_limit: TimeLimit) -> Solution:
    all_commodities = commodities(problem)
    relaxation = build_columns(problem, all_commodities)
    sifting, allowance, bound = Sifting(relaxation), Allowance(), None
    for _ in range(len(LESS) + BUDGETS):
        answer = _relaxed(problem, relaxation, sifting, allowance, time_limit)
        bound = answer.bound if bound is None else bound
        found = make_whole(problem, all_commodities, relaxation, Relaxed(answer, bound, sifting.costs), time_limit)
        if found is None:
            allowance = replace(allowance, lanes=_less(allowance.lanes))
        elif not found.keeps_budget:
            allowance = replace(allowance, budget=allowance.budget * problem.budget / found.promise * SPARE)
        else:
            return found
        sifting.allow(allowance)
    raise NotFound


def _relaxed(
    problem: Problem, relaxation: Columns, sifting: Sifting, allowance: Allowance, time_limit: TimeLimit
) -> CopiesAnswer:
    """Return the relaxation's solution, with slots for lanes that share. DoesNotFit, if not even parts of tasks fit.

    NotFound, if they do not fit into what is allowed only, or with the columns that were looked at.
    """
    try:
        sifted = sifting.solve(time_limit)
    except DoesNotFit as failure:
        raise failure if allowance == Allowance() else NotFound from failure
    try:
        return CopiesProgram(problem, relaxation, sifted, allowance).solve(time_limit)
    except DoesNotFit as failure:
        raise NotFound from failure


def _less(allowance: float) -> float:
    """Return the next smaller part of lanes. NotFound, if this is the least."""
    less = next((part for part in LESS if part < allowance), None)
    if less is None:
        raise NotFound
    return less
