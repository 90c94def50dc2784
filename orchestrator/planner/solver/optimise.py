"""The cheapest way to run every task within the horizon: three ways to find it, by how hard the problem is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.problem import NO_COPY
from orchestrator.planner.model.solution import DoesNotFit, Solution
from orchestrator.planner.model.time_limit import TimeLimit
from orchestrator.planner.pack.lanes import Lanes, spread
from orchestrator.planner.pack.schedule import misfits

if TYPE_CHECKING:
    from orchestrator.planner.model.problem import Problem

EXACT_CHOICES = 3_000
EXACT_TASKS = 20_000


def optimise(problem: Problem, time_limit: TimeLimit | None = None) -> Solution:
    """DoesNotFit, if there is no way. `problem` holds only choices that end in time."""
    if problem.stranded.size:
        raise DoesNotFit
    if (found := nothing_binds(problem)) is not None:
        return found
    # HiGHS takes a fifth of a second to import: only where it is needed.
    from orchestrator.planner.solver import exact, rounding

    small = len(problem.choices) <= EXACT_CHOICES and problem.counts.sum() <= EXACT_TASKS
    time_limit = time_limit or TimeLimit()
    if small:
        try:
            return exact.solve(problem, time_limit)
        except DoesNotFit:
            if not time_limit.stopped:
                raise
    return rounding.solve(problem, time_limit)


def nothing_binds(problem: Problem) -> Solution | None:
    """Everyone's cheapest choice, if no data moves for it and all of it fits."""
    cheapest = problem.cheapest
    if (problem.choices.copy[cheapest] != NO_COPY).any():
        return None
    tasks = np.zeros(len(problem.choices), dtype=np.int64)
    tasks[cheapest] = problem.counts
    found = Solution(problem, tasks, bound=float(tasks @ problem.choices.usd))
    if found.promise > problem.budget or (problem.drawn(tasks) > problem.funds).any():
        return None
    if not problem.shared:
        return None if misfits(problem, tasks) else found
    lanes = Lanes(problem)
    held = lanes.hold(tasks)
    return replace(found, slots=spread(problem, tasks, lanes.slots)) if (held == tasks).all() else None
