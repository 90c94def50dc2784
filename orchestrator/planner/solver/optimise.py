"""Finds the cheapest solution within the horizon, in one of three ways: it depends on how hard the problem is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.arrays import SLACK
from orchestrator.planner.model.choices import NO_COPY
from orchestrator.planner.model.solution import DoesNotFit, NotFound, Solution
from orchestrator.planner.model.time_limit import TimeLimit
from orchestrator.planner.pack.lanes import Lanes, share_out_spare_slots
from orchestrator.planner.pack.schedule import overfull_lanes

if TYPE_CHECKING:
    from orchestrator.planner.model.problem import Problem

EXACT_CHOICES = 500
"""Choices of the largest problem that is solved exactly."""
EXACT_TASKS = 1_000
"""Tasks of the largest problem that is solved exactly."""
FEW_TASKS, CHOICES_OF_FEW = 50, 5_000
"""Tasks that are so few that they are placed exactly among more choices; and the choices that are too many even so."""

FAR = 1e-3
"""The part of the bound by which a small plan may be dearer, before it is looked for as a large one as well."""

QUICKER = 10
"""The part of the work of a whole plan, one in so many, that is done to find any."""


def optimise(problem: Problem, time_limit: TimeLimit | None = None) -> Solution:
    """Return the cheapest solution that is found. DoesNotFit, if there is none; NotFound, if there may be one.

    `problem` must hold only choices that end in time.
    """
    if problem.stranded.size:
        raise DoesNotFit
    found = all_at_their_cheapest(problem)
    if found is not None:
        return found
    # HiGHS takes a fifth of a second to import: only where it is needed.
    from orchestrator.planner.solver import exact, rounding

    time_limit = time_limit or TimeLimit()
    if is_large(problem):
        return rounding.solve(problem, time_limit)
    found, bound = exact.solve(problem, time_limit)
    if found is not None and found.gap <= FAR:
        return found
    return _solve_as_large(problem, found, bound, time_limit)


def _solve_as_large(problem: Problem, found: Solution | None, bound: float, time_limit: TimeLimit) -> Solution:
    """Return the cheaper of what was found and what is found as for a large problem, with the better bound."""
    from orchestrator.planner.solver import rounding

    try:
        other = rounding.solve(problem, time_limit)
    except DoesNotFit as failure:
        if found is not None:
            return found
        if not isinstance(failure, NotFound):
            raise
        other = find_room(problem)
    best = other if found is None else min(found, other, key=lambda each: each.usd)
    return replace(best, bound=max(bound, other.bound))


def find_room(problem: Problem, quicker: int = QUICKER) -> Solution:
    """Return a solution, whatever it costs, for it takes less time. DoesNotFit and NotFound as of `optimise`.

    A small problem gets one in so many parts of the work of a whole plan.
    """
    if problem.stranded.size:
        raise DoesNotFit
    found = all_at_their_cheapest(problem)
    if found is not None:
        return found
    if np.isfinite(problem.budget):
        found = find_least_promise(problem, is_quick=True)
        if not found.keeps_budget:
            raise NotFound
        return found
    from orchestrator.planner.solver import exact, room, rounding

    if not is_large(problem):
        # What is proven not to fit mostly takes a moment here, and long below.
        found, _ = exact.solve(room.without_dollars(problem), work=exact.WORK // quicker, enough=np.inf)
        if found is not None:
            return replace(found, problem=problem, bound=_least_usd(problem))
    return rounding.solve_whatever_copies_cost(problem, is_quick=True)


def find_least_promise(problem: Problem, *, is_quick: bool = False) -> Solution:
    """Return a solution that promises about as little as can be, whether or not its budget allows that much.

    DoesNotFit and NotFound as of `optimise`. One that `is_quick` may promise more, but no more than the budget if that
    is found; DoesNotFit if it is proven that none promises so little.
    """
    if problem.stranded.size:
        raise DoesNotFit
    from orchestrator.planner.solver import exact, rounding

    if not is_large(problem):
        promised = replace(problem, budget=np.inf, choices=replace(problem.choices, usd=problem.choices.promise))
        found, bound = all_at_their_cheapest(promised), 0.0
        if found is None:
            work, enough = (exact.WORK // QUICKER, problem.budget * SLACK) if is_quick else (exact.WORK, -np.inf)
            found, bound = exact.solve(promised, work=work, enough=enough)
        if is_quick and bound > problem.budget * SLACK:
            raise DoesNotFit
        if found is not None:
            return replace(found, problem=problem, bound=_least_usd(problem))
    return rounding.promise_least(problem, is_quick=True)


def _least_usd(problem: Problem) -> float:
    """Return what all tasks cost where each is cheapest, if there were room."""
    return float(problem.counts @ problem.choices.usd[problem.cheapest])


def is_large(problem: Problem) -> bool:
    """Return whether the problem is too large to be solved exactly."""
    tasks = problem.counts.sum()
    return len(problem.choices) > (CHOICES_OF_FEW if tasks <= FEW_TASKS else EXACT_CHOICES) or tasks > EXACT_TASKS


def all_at_their_cheapest(problem: Problem) -> Solution | None:
    """Return the solution that sends every task to its cheapest choice; None if that needs a copy or does not fit."""
    cheapest = problem.cheapest
    if (problem.choices.copy[cheapest] != NO_COPY).any():
        return None
    tasks = np.zeros(len(problem.choices), dtype=np.int64)
    tasks[cheapest] = problem.counts
    found = Solution(problem, tasks, bound=float(tasks @ problem.choices.usd))
    if not found.keeps_budget or (problem.drawn_usd(tasks) > problem.funds).any():
        return None
    if not problem.shared_limits:
        return None if overfull_lanes(problem, tasks) else found
    lanes = Lanes(problem)
    placed = lanes.add_all(tasks)
    if (placed < tasks).any():
        return None
    return replace(found, slots=share_out_spare_slots(problem, tasks, lanes.slots))
