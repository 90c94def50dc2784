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
from orchestrator.planner.solver.copies.decide_copies import MANY, decide_copies
from orchestrator.planner.solver.copies.proof import Proof
from orchestrator.planner.solver.dominated import without_dominated
from orchestrator.planner.solver.sifting import Sifting
from orchestrator.planner.solver.whole_tasks import Relaxed, better_of, make_whole

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Floats
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
NEAR = 2e-3
"""The part of the bound by which a solution may be dearer, before a better bound is looked for."""
FAR_FROM_COPIES = 0.01
"""The part of the bound by which all may be dearer with copies that were decided by averages, as far as hours tell,
before the bound is looked for by all means."""
SETS, FAR_FOR_COPIES = 3, 5e-3
"""Sets of copies that whole tasks are placed for, and the gap up to which the first of them is good enough."""


def solve(problem: Problem, time_limit: TimeLimit | None = None, *, is_quick: bool = False) -> Solution:
    """Return a good solution, with a bound that tells how good. One that `is_quick` is a little worse.

    DoesNotFit, if there is none. NotFound, if there may be one.
    """
    time_limit = time_limit or TimeLimit()
    lean, rows = without_dominated(problem)
    try:
        found = _solve(lean, time_limit, is_quick=True) if is_quick else _solve_within_budget(lean, time_limit)
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


def promise_least(problem: Problem, time_limit: TimeLimit | None = None, *, is_quick: bool = False) -> Solution:
    """Return a solution that promises about as little as can be, whether or not its budget allows that much.

    DoesNotFit, if there is no solution; NotFound, if there may be one. One that `is_quick` promises a little more.
    """
    choices = problem.choices
    promised = replace(problem, budget=np.inf, choices=replace(choices, usd=choices.promise))
    least_usd = float(problem.counts @ choices.usd[problem.cheapest])
    return replace(solve(promised, time_limit, is_quick=is_quick), problem=problem, bound=least_usd)


def solve_whatever_copies_cost(
    problem: Problem, time_limit: TimeLimit | None = None, *, is_quick: bool = False
) -> Solution:
    """Return a solution that makes whatever copies help. It takes far less time, and finds room where there is any.

    The problem must have no budget. DoesNotFit, if there is no solution; NotFound, if there may be one.
    """
    at_hand = replace(problem.choices, copy=np.full(len(problem.choices), NO_COPY))
    without = replace(problem, choices=at_hand, charges=np.empty(0))
    found = _solve(without, time_limit or TimeLimit(), is_quick=is_quick)
    return replace(found, problem=problem)


def _solve_within_budget(problem: Problem, time_limit: TimeLimit) -> Solution:
    least = np.minimum.reduceat(problem.choices.promise, problem.first_choice[:-1])
    if float(problem.counts @ least) > problem.budget * SLACK:
        raise DoesNotFit
    if np.isfinite(problem.budget):  # it may well not bind, and is much work where it is looked at
        _check_budget(problem)
        found = _solve(replace(problem, budget=np.inf), time_limit)
        found = replace(found, problem=problem)
        if found.keeps_budget:
            return found
        try:
            dearer = _solve(problem, time_limit)
            return replace(dearer, bound=max(dearer.bound, found.bound))
        except NotFound:
            least_promise = promise_least(problem, time_limit)
            if not least_promise.keeps_budget:
                raise
            return replace(least_promise, bound=found.bound)
    return _solve(problem, time_limit)


def _check_budget(problem: Problem) -> None:
    """Raise DoesNotFit if it is proven, without much work, that every plan promises more than the budget."""
    promised = replace(problem, budget=np.inf, choices=replace(problem.choices, usd=problem.choices.promise))
    relaxation = build_columns(promised, commodities(promised))
    if len(relaxation) > MANY:
        proof = Proof(relaxation)
        proof.estimate(enough=problem.budget)
        if proof.bound > problem.budget * SLACK:
            raise DoesNotFit


def _solve(problem: Problem, time_limit: TimeLimit, *, is_quick: bool = False) -> Solution:
    if not len(problem.charges):
        return _solve_without_copies(problem, time_limit, is_quick=is_quick)[0]
    best, failure = None, None
    for decided in decide_copies(problem, time_limit)[:SETS]:
        try:
            found, prices = _solve_without_copies(decided.problem, time_limit, is_quick=is_quick)
        except DoesNotFit as error:  # with other copies all may well fit
            failure = error
            continue
        decided.proof.use_prices(*prices)
        best = better_of(best, decided.undecide(problem, found))
        if best is not None and not is_quick and best.usd > decided.proof.bound * (1 + NEAR):
            decided.proof.estimate()
            if found.bound + decided.charges > decided.proof.bound * (1 + FAR_FROM_COPIES):
                decided.proof.sift(time_limit)
        best = replace(best, bound=decided.proof.bound) if best is not None else None
        if best is not None and (is_quick or best.gap <= FAR_FOR_COPIES):
            break
    if best is None:
        raise NotFound from failure
    return best


def _solve_without_copies(
    problem: Problem, time_limit: TimeLimit, *, is_quick: bool
) -> tuple[Solution, tuple[Columns, Floats]]:
    """Return a solution; and a relaxation, with the duals of its limits."""
    all_commodities = commodities(problem)
    relaxation = build_columns(problem, all_commodities)
    sifting, allowance, bound = Sifting(relaxation), Allowance(), None
    for _ in range(len(LESS) + BUDGETS):
        answer = _relaxed(problem, relaxation, sifting, allowance, time_limit)
        bound = answer.bound if bound is None else bound
        relaxed = Relaxed(answer, bound, sifting.costs, allowance.budget)
        found = make_whole(problem, all_commodities, relaxation, relaxed, time_limit, is_quick=is_quick)
        if found is None:
            allowance = replace(allowance, lanes=_less(allowance.lanes))
        elif not found.keeps_budget:
            allowance = replace(allowance, budget=allowance.budget * problem.budget / found.promise * SPARE)
        else:
            return found, (relaxation, sifting.limits)
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
