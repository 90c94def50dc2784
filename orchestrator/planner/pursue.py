"""What the sweep asks for: the cheapest plan within its horizon, or the fastest within its budget."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.optimise import optimise
from orchestrator.planner.problem import SLACK, DoesNotFit, Solution
from orchestrator.planner.schedule import ends

if TYPE_CHECKING:
    from orchestrator.planner.problem import Problem
    from orchestrator.spec.goal import Goal

TOLERANCE = 1.01
"""The fastest plan's horizon is found to one percent."""
FARTHEST = 365 * 24.0


def pursue(problem: Problem, goal: Goal) -> Solution:
    """DoesNotFit, if the goal cannot be met."""
    problem = replace(problem, budget=np.inf if goal.budget is None else goal.budget)
    return fastest(problem, goal.hours) if goal.fastest else optimise(problem.within(goal.hours))


def fastest(problem: Problem, horizon: float) -> Solution:
    """The cheapest plan of the smallest horizon that is feasible, up to this one."""
    found = optimise(problem.within(horizon))
    low, high = least_hours(problem), horizon
    try:
        return optimise(problem.within(low * SLACK))
    except DoesNotFit:
        pass
    while high > low * TOLERANCE:
        middle = sqrt(low * high)
        try:
            found, high = optimise(problem.within(middle)), middle
        except DoesNotFit:
            low = middle
    return found


def least_hours(problem: Problem) -> float:
    """No plan is shorter: the longest task, where it is fastest."""
    choices = problem.choices
    fewest = np.full(len(problem.counts), np.inf)
    np.minimum.at(fewest, choices.cohort, choices.hours + choices.wait)
    return float(fewest.max())


def smallest_deadline(problem: Problem, above: float) -> float | None:
    """Hours within which it could be done, to one percent; None if a year is too short."""
    low = high = max(above, least_hours(problem))
    while not feasible(problem, high):
        low, high = high, high * 2
        if low > FARTHEST:
            return None
    while high > low * TOLERANCE:
        middle = sqrt(low * high)
        low, high = (low, middle) if feasible(problem, middle) else (middle, high)
    # What was found may end sooner than it was asked to.
    return float(ends(optimise(problem.within(high))).max())


def smallest_budget(problem: Problem, horizon: float) -> float:
    """$ for which the promise could be given. DoesNotFit, if no money helps."""
    promises = replace(problem, choices=replace(problem.choices, usd=problem.choices.promise), budget=np.inf)
    return optimise(promises.within(horizon)).promise


def feasible(problem: Problem, horizon: float) -> bool:
    try:
        optimise(problem.within(horizon))
    except DoesNotFit:
        return False
    return True
