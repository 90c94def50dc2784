"""What the sweep asks for: the cheapest plan within its horizon, or the fastest within its budget."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.clock import Clock
from orchestrator.planner.optimise import optimise
from orchestrator.planner.problem import SLACK, DoesNotFit, Solution

if TYPE_CHECKING:
    from orchestrator.planner.problem import Problem
    from orchestrator.spec.goal import Goal

TOLERANCE = 1.01
"""The fastest plan's horizon is found to one percent."""


def pursue(problem: Problem, goal: Goal, clock: Clock | None = None) -> Solution:
    """DoesNotFit, if the goal cannot be met."""
    clock = clock or Clock()
    problem = replace(problem, budget=np.inf if goal.budget is None else goal.budget)
    return fastest(problem, goal.hours, clock) if goal.fastest else optimise(problem.within(goal.hours), clock)


def fastest(problem: Problem, horizon: float, clock: Clock) -> Solution:
    """The cheapest plan of the smallest horizon that is feasible, up to this one."""
    found = optimise(problem.within(horizon), clock)
    low, high = least_hours(problem), horizon
    try:
        return optimise(problem.within(low * SLACK), clock)
    except DoesNotFit:
        pass
    while high > low * TOLERANCE and not clock.is_out:
        middle = sqrt(low * high)
        try:
            found, high = optimise(problem.within(middle), clock), middle
        except DoesNotFit:
            low = middle
    return found


def least_hours(problem: Problem) -> float:
    """No plan is shorter: the longest task, where it is fastest."""
    choices = problem.choices
    fewest = np.full(len(problem.counts), np.inf)
    np.minimum.at(fewest, choices.cohort, choices.hours + choices.wait)
    return float(fewest.max())
