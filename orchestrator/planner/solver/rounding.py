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
from orchestrator.planner.solver.copies.improve_copies import improve_copies
from orchestrator.planner.solver.copies.proof import Proof
from orchestrator.planner.solver.dominated import without_dominated
from orchestrator.planner.solver.sifting import Sifting
from orchestrator.planner.solver.slots.slot_weights import weigh_tasks
from orchestrator.planner.solver.whole_tasks import Relaxed, Whole, better_of, make_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.planner.model.arrays import Floats
    from orchestrator.planner.model.problem import Problem
    from orchestrator.planner.model.solution import Solution
    from orchestrator.planner.solver.columns import Columns
    from orchestrator.planner.solver.copies.copies_program import CopiesAnswer
    from orchestrator.planner.solver.copies.decide_copies import Decided
    from orchestrator.planner.solver.slots.best_fillings import Filling
    from orchestrator.planner.solver.slots.known_slots import KnownSlots

LESS = (0.99, 0.97, 0.9)
"""The parts of each lane that the relaxation may fill, one after the other, when tasks are left that fit nowhere."""
LESS_IN_HASTE = (0.97,)
"""The parts that are tried where any plan is enough."""
LESS_FOR_COPIES = (0.9, 0.8)
"""The parts of each slot's hours that copies are decided for, where whole tasks fit with none of the sets before."""
BUDGETS = 5
"""Times that the relaxation gets less to promise, when whole tasks promised more than the budget."""
SPARE = 0.999
"""A further factor on what it then gets, because whole tasks may promise a little more again."""
NEAR = 2e-3
"""The part of the bound by which a solution may be dearer, before a better bound is looked for."""
FAR_FROM_COPIES = 0.01
"""The part of the bound by which all may be dearer with copies that were decided by averages, as far as hours tell,
before the bound is looked for by all means."""
FAR = 5e-3
"""The part of the bound by which a solution may be dearer, before it is looked for once more, with tasks weighed."""
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
    at_hand = replace(problem.choices, copy=np.broadcast_to(np.array(NO_COPY), len(problem.choices)))
    without = replace(problem, choices=at_hand, charges=np.empty(0))
    found = _solve(without, time_limit or TimeLimit(), is_quick=is_quick)
    return replace(found, problem=problem)


def _solve_within_budget(problem: Problem, time_limit: TimeLimit) -> Solution:
    least = np.minimum.reduceat(problem.choices.promise, problem.first_choice[:-1])
    if float(problem.counts @ least) > problem.budget * SLACK:
        raise DoesNotFit
    if np.isinf(problem.budget):
        return _solve(problem, time_limit)
    _check_budget(problem)
    bound = 0.0
    try:  # it may well not bind, and is much work where it is looked at
        found = replace(_solve(replace(problem, budget=np.inf), time_limit), problem=problem)
        bound = found.bound
        if not found.keeps_budget:
            found = _solve(problem, time_limit)
    except NotFound:
        found = promise_least(problem, time_limit)
        if not found.keeps_budget:
            raise
    return replace(found, bound=max(found.bound, bound))


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
    """Return a solution. One of a large problem that is far from the bound is looked for once more, with tasks weighed.

    The slots that were filled say what tasks should weigh. Weights see what whole tasks leave of a slot. So they tell
    better which copies are good, and prove more.
    """
    if not len(problem.charges):
        whole = _solve_without_copies(problem, time_limit, is_quick=is_quick)[0]
        found, slots = whole.solution, whole.slots
    else:
        found, slots = _decide_and_solve(problem, time_limit, is_quick=is_quick)
    if is_quick or slots is None or found.gap <= FAR or not _may_be_weighed(problem):
        return found
    weighed = weigh_tasks(problem, slots.worth)
    try:
        if len(problem.charges):
            better = improve_copies(weighed, found, time_limit)
            again = _solve_with_copies(weighed, [better], time_limit, known=slots)[0]
        else:
            again = _solve_without_copies(weighed, time_limit, slots.fillings)[0].solution
    except DoesNotFit:
        return found
    return replace(min(found, again, key=_usd), problem=problem, bound=max(found.bound, again.bound))


def _decide_and_solve(problem: Problem, time_limit: TimeLimit, *, is_quick: bool) -> tuple[Solution, KnownSlots | None]:
    """Return the best solution with copies that are decided here; and what is known of slots, if they were filled.

    Copies that are just enough as far as hours tell may be too few. Then they are decided as if there were less time.
    """
    sets = decide_copies(problem, time_limit)[:SETS]
    proof = sets[0].proof
    for part in LESS_FOR_COPIES:
        try:
            return _solve_with_copies(problem, sets, time_limit, is_quick=is_quick)
        except NotFound:
            if len(problem.choices) > MANY or time_limit.is_out:
                raise
        try:
            sets = decide_copies(_with_less_time(problem, part), time_limit)[:SETS]
        except DoesNotFit as failure:
            raise NotFound from failure
        sets = [replace(each, proof=proof) for each in sets]
    return _solve_with_copies(problem, sets, time_limit, is_quick=is_quick)


def _may_be_weighed(problem: Problem) -> bool:
    """Return whether it is a large problem, and its choices are all that there are.

    Choices that are dominated as hours tell are left out where lots have several lanes. They might weigh less.
    """
    return len(problem.choices) > MANY and len(np.unique(problem.lots)) == problem.lanes


def _usd(found: Solution) -> float:
    return found.usd


def _solve_with_copies(
    problem: Problem,
    sets: Sequence[Decided],
    time_limit: TimeLimit,
    known: KnownSlots | None = None,
    *,
    is_quick: bool = False,
) -> tuple[Solution, KnownSlots | None]:
    """Return the best solution with these sets of copies; and what is known of slots, if they were filled.

    No further set is looked at once a solution is good enough, and in large problems once there is one.
    """
    best, slots, failure = None, None, None
    for decided in sets:
        try:
            fillings = known.within(decided.rows).fillings if known is not None else ()
            whole, prices = _solve_without_copies(decided.problem, time_limit, fillings, is_quick=is_quick)
        except DoesNotFit as error:  # with other copies all may well fit
            failure = error
            continue
        decided.proof.use_prices(*prices)
        best = better_of(best, decided.undecide(problem, whole.solution))
        if best is None:
            continue
        relaxed_usd = whole.solution.bound + decided.charges
        if not is_quick:
            decided.proof.improve(problem, min(best.usd, relaxed_usd) / (1 + NEAR), time_limit)
            if relaxed_usd > decided.proof.bound * (1 + FAR_FROM_COPIES):
                decided.proof.sift(time_limit)
        best = replace(best, bound=decided.proof.bound)
        if slots is None and whole.slots is not None:
            slots = whole.slots.of_whole(decided.rows, len(problem.choices))
        if is_quick or best.gap <= FAR_FOR_COPIES or len(problem.choices) > MANY:
            break
    if best is None:
        raise NotFound from failure
    return best, slots


def _with_less_time(problem: Problem, part: float) -> Problem:
    """Return the problem with slots that are busy for no more than this part of their hours, as far as hours tell."""
    tight = replace(problem)
    tight.__dict__["busy_hours"] = problem.busy_hours * part
    return tight


def _solve_without_copies(
    problem: Problem, time_limit: TimeLimit, fillings: Sequence[Filling] = (), *, is_quick: bool = False
) -> tuple[Whole, tuple[Columns, Floats]]:
    """Return a solution; and a relaxation, with the duals of its limits. `fillings` of slots are known to be good."""
    all_commodities = commodities(problem)
    relaxation = build_columns(problem, all_commodities)
    sifting, allowance, bound = Sifting(relaxation), Allowance(), None
    for _ in range(len(LESS) + BUDGETS):
        answer = _relaxed(problem, relaxation, sifting, allowance, time_limit)
        bound = answer.bound if bound is None else bound
        relaxed = Relaxed(answer, bound, sifting.costs, allowance.budget, fillings)
        found = make_whole(problem, all_commodities, relaxation, relaxed, time_limit, is_quick=is_quick)
        if found is None:
            allowance = replace(allowance, lanes=_less(allowance.lanes, LESS_IN_HASTE if is_quick else LESS))
        elif not found.solution.keeps_budget:
            less = problem.budget / found.solution.promise * SPARE
            allowance = replace(allowance, budget=allowance.budget * less)
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


def _less(allowance: float, parts: Sequence[float]) -> float:
    """Return the next smaller of these parts of lanes. NotFound, if this is the least."""
    less = next((part for part in parts if part < allowance), None)
    if less is None:
        raise NotFound
    return less
