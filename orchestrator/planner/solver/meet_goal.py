"""Finds what the sweep asks for: the cheapest solution within its horizon, or the fastest within its budget."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.arrays import SLACK
from orchestrator.planner.model.solution import DoesNotFit, NotFound
from orchestrator.planner.model.time_limit import TimeLimit
from orchestrator.planner.solver.optimise import find_room, optimise

if TYPE_CHECKING:
    from orchestrator.planner.model.problem import Problem
    from orchestrator.planner.model.solution import Solution
    from orchestrator.spec.goal import Goal

TOLERANCE = 1.01
"""The factor by which the horizon of the fastest solution may be longer than the shortest that is possible."""
UNDECIDED = 3
"""The part of a plan's work, one in so many, after which small problems count as having no room, if none is found."""


def meet_goal(
    problem: Problem, goal: Goal, time_limit: TimeLimit | None = None, hours: float | None = None
) -> Solution:
    """Return the solution that the goal asks for. DoesNotFit, if the goal cannot be met.

    It counts on the goal's hours, unless others are given.
    """
    hours = goal.hours if hours is None else hours
    time_limit = time_limit or TimeLimit()
    problem = replace(problem, budget=np.inf if goal.budget is None else goal.budget)
    if goal.fastest:
        return fastest(problem, hours, time_limit)
    return optimise(problem.within(hours), time_limit)


def fastest(problem: Problem, horizon: float, time_limit: TimeLimit) -> Solution:
    """Return the cheapest solution of the shortest horizon that is possible. DoesNotFit, if not even this one is."""
    found, low, high = _any_within(problem, horizon, time_limit), least_hours(problem), horizon
    with suppress(DoesNotFit):
        return optimise(problem.within(low * SLACK), time_limit)
    while high > low * TOLERANCE and not time_limit.is_out:
        middle = sqrt(low * high)
        try:
            found, high = find_room(problem.within(middle), UNDECIDED), middle
        except DoesNotFit:
            low = middle
    try:
        return optimise(problem.within(high), time_limit)
    except NotFound:
        return found


def _any_within(problem: Problem, hours: float, time_limit: TimeLimit) -> Solution:
    """Return a solution within so many hours, whatever it costs; the cheapest one where any is hard to find."""
    within = problem.within(hours)
    try:
        return find_room(within)
    except NotFound:
        return optimise(within, time_limit)


def least_hours(problem: Problem) -> float:
    """Return hours that every solution takes at least: those of the longest task, where it is fastest."""
    choices = problem.choices
    fewest = np.full(len(problem.counts), np.inf)
    np.minimum.at(fewest, choices.cohort, choices.hours + choices.wait)
    return float(fewest.max())
