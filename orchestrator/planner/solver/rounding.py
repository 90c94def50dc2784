"""Solves large problems: the linear relaxation, then the copies, then whole tasks, then what is left over."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.choices import NO_COPY
from orchestrator.planner.model.commodities import commodities
from orchestrator.planner.model.solution import DoesNotFit, NotFound
from orchestrator.planner.model.time_limit import TimeLimit
from orchestrator.planner.pack.exchange import exchange_tasks
from orchestrator.planner.pack.repair import repair
from orchestrator.planner.solver.columns import Allowance, build_columns
from orchestrator.planner.solver.copies.copies_program import CopiesProgram
from orchestrator.planner.solver.copies.decide_copies import decide_copies
from orchestrator.planner.solver.dominated import without_dominated
from orchestrator.planner.solver.sifting import Sifting
from orchestrator.planner.solver.slots.place_tasks import Placing
from orchestrator.planner.solver.slots.slot_program import SlotProgram

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Floats, Integers
    from orchestrator.planner.model.commodities import Commodity
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
NEAR = 2.5e-3
"""The part of the bound by which a solution may be dearer, before tasks are exchanged."""
FAR = 0.01
"""The part of the bound by which a solution may be dearer, before whole tasks are found in the other way as well."""
SETS, FAR_FOR_COPIES = 3, 5e-3
"""Sets of copies that whole tasks are placed for, and the gap up to which the first of them is good enough."""
LEFT_OUT = 1e-6
"""A copy that no more than this part of a commodity uses is not made."""
MOST = 20_000
"""Choices up to which slots are filled one by one. In larger problems it takes long, and the relaxation is nearer."""


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
    if float(problem.counts @ least) > problem.budget:
        raise DoesNotFit
    if np.isfinite(problem.budget):  # it may well not bind, and is much work where it is looked at
        found = _solve(replace(problem, budget=np.inf), time_limit)
        if found.promise <= problem.budget:
            return replace(found, problem=problem)
        try:
            return _solve(problem, time_limit)
        except NotFound:
            least_promise = promise_least(problem, time_limit)
            if least_promise.promise > problem.budget:
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
        best = _better(best, decided.undecide(problem, found))
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
        found = None
        if len(problem.choices) <= MOST:
            rows = _rows_to_fill(problem, relaxation, answer.flow)
            found = _improved(_fill_slots(problem, rows, answer, time_limit), bound)
        if found is None or found.promise > problem.budget or (len(problem.choices) <= MOST and found.gap > FAR):
            tasks = _whole_tasks(problem, all_commodities, relaxation, answer.flow)
            found = _better(found, _improved(repair(problem, tasks, bound, answer.slots), bound))
        if found is None:
            allowance = replace(allowance, lanes=_less(allowance.lanes))
        elif found.promise > problem.budget:
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


def _improved(found: Solution | None, bound: float) -> Solution | None:
    """Return a solution with its bound and, if it is not near that, with tasks exchanged as far as that helps."""
    if found is None:
        return None
    found = replace(found, bound=bound)
    if found.gap <= NEAR or len(found.problem.choices) > MOST:
        return found
    return _better(found, exchange_tasks(found))


def _better(one: Solution | None, other: Solution | None) -> Solution | None:
    """Return the cheaper of two solutions; one within the budget, if any is, and else the one that is nearer to it."""
    found = [each for each in (one, other) if each is not None]
    return min(found, key=_distance, default=None)


def _distance(found: Solution) -> tuple[bool, float]:
    """Return what makes a solution worse than another: dollars over its budget before dollars."""
    over = found.promise > found.problem.budget
    return over, found.promise if over else found.usd


def _fill_slots(problem: Problem, rows: Integers, answer: CopiesAnswer, time_limit: TimeLimit) -> Solution | None:
    """Return the solution of slots that are filled with whole tasks of these choices; None if some fit nowhere."""
    program = SlotProgram(problem, rows)
    copies = np.unique(problem.choices.copy[rows])
    charges = float(problem.charges[copies[copies != NO_COPY]].sum())
    program.improve(answer.bound - charges, time_limit)
    return repair(problem, Placing(problem, program).place(time_limit), answer.bound)


def _rows_to_fill(problem: Problem, relaxation: Columns, flow: Floats) -> Integers:
    """Return the choices that whole tasks may take, because their data is there."""
    choices = problem.choices
    made = np.zeros(len(problem.charges) + 1, dtype=bool)
    made[choices.copy[relaxation.choice[flow > LEFT_OUT]]] = True
    made[NO_COPY] = True
    usable = made[choices.copy] & (problem.most_slots[choices.lane] >= 1)
    usable &= np.append(problem.funds, np.inf)[choices.pool] > 0
    return np.flatnonzero(usable)


def _less(allowance: float) -> float:
    """Return the next smaller part of lanes. NotFound, if this is the least."""
    less = next((part for part in LESS if part < allowance), None)
    if less is None:
        raise NotFound
    return less


def _whole_tasks(problem: Problem, all_commodities: list[Commodity], relaxation: Columns, flow: Floats) -> Integers:
    """Return the tasks of each choice, as whole numbers. Some tasks are left over."""
    tasks = np.zeros(len(problem.choices), dtype=np.int64)
    part = np.zeros(len(problem.choices))
    part[relaxation.choice] = flow
    for commodity in all_commodities:
        flow_here = part[commodity.rows] * commodity.weight
        _round_down(problem, commodity, flow_here, tasks)
    return tasks


def _round_down(problem: Problem, commodity: Commodity, flow: Floats, tasks: Integers) -> None:
    """Give each place whole tasks of a commodity, for no more than the flow that it takes.

    Each place first gets its part of every cohort, because short tasks fill the gaps that long ones leave. Then it gets
    the rest, the longest first.
    """
    longest = problem.choices.hours[commodity.rows[0]]
    left = {cohort: int(problem.counts[cohort]) for cohort, _ in commodity.members}
    parts = np.floor(np.outer(flow / commodity.weight, list(left.values())) + 1e-6).astype(np.int64)
    for number, (cohort, rows) in enumerate(commodity.members):
        tasks[rows] = parts[:, number]
        left[cohort] -= int(parts[:, number].sum())
        flow -= parts[:, number] * (problem.choices.hours[rows[0]] / longest)
    for cohort, rows in commodity.members:
        part = problem.choices.hours[rows[0]] / longest
        for place in np.flatnonzero(flow >= part * (1 - 1e-6)).tolist():
            count = min(left[cohort], int(flow[place] / part + 1e-6))
            tasks[rows[place]] += count
            flow[place] -= count * part
            left[cohort] -= count
