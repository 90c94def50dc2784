"""Finds the cheapest solution within the horizon, in one of three ways: it depends on how hard the problem is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

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

FAR = 1e-3
"""The part of the bound by which a small plan may be dearer, before it is looked for as a large one as well."""


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
    if not is_large(problem):
        found = exact.solve(problem, time_limit)
        if found is not None:
            return _cheaper(found, problem, time_limit) if found.gap > FAR else found
        if np.isfinite(problem.budget):
            found = _promise_least(problem, time_limit)
            if found is not None:
                return found
    return rounding.solve(problem, time_limit)


def _promise_least(problem: Problem, time_limit: TimeLimit) -> Solution | None:
    """Return the solution of a small problem that promises least, if the budget is enough for it.

    A budget that is just enough, to the last digit, leaves room for it alone.
    """
    from orchestrator.planner.solver import exact

    promised = replace(problem.choices, usd=problem.choices.promise)
    found = exact.solve(replace(problem, choices=promised, budget=np.inf), time_limit)
    if found is None:
        return None
    bound = float(problem.counts @ problem.choices.usd[problem.cheapest])
    found = replace(found, problem=problem, bound=bound)
    return found if found.keeps_budget else None


def _cheaper(found: Solution, problem: Problem, time_limit: TimeLimit) -> Solution:
    """Return what was found, or what is found as for a large problem, if that is cheaper; with the better bound."""
    from orchestrator.planner.solver import rounding

    try:
        other = rounding.solve(problem, time_limit)
    except DoesNotFit:
        return found
    return replace(min(found, other, key=lambda each: each.usd), bound=max(found.bound, other.bound))


def find_room(problem: Problem) -> Solution:
    """Return a solution, whatever it costs, for it takes less time. DoesNotFit and NotFound as of `optimise`."""
    if problem.stranded.size:
        raise DoesNotFit
    if not is_large(problem):
        return optimise(problem)
    from orchestrator.planner.solver import rounding

    if not np.isfinite(problem.budget):
        return all_at_their_cheapest(problem) or rounding.solve_whatever_copies_cost(problem, is_quick=True)
    found = rounding.promise_least(problem, is_quick=True)
    if not found.keeps_budget:
        raise NotFound
    return found


def is_large(problem: Problem) -> bool:
    """Return whether the problem is too large to be solved exactly."""
    return len(problem.choices) > EXACT_CHOICES or problem.counts.sum() > EXACT_TASKS


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
