"""Choices that no relaxation needs, because the same tasks are better off on fewer instances of the same lot.

There they cost no more, promise no more, and hold no more of any limit. So a relaxation without such choices has the
same bound, and far fewer columns. Only whole tasks may want them: four instances may fit into an evening, and one not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.solver.program import number_keys

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Booleans, Integers
    from orchestrator.planner.model.problem import Problem

_ROOM = 1 + 1e-12
"""The factor by which equal sums may differ in their last bits."""


def without_dominated(problem: Problem) -> tuple[Problem, Integers]:
    """Return the problem without dominated choices, and the rows of those that are left."""
    if len(np.unique(problem.lots)) == problem.lanes:
        return problem, np.arange(len(problem.choices))
    rows = np.flatnonzero(~_dominated(problem))
    lean = replace(problem, choices=problem.choices.take(rows))
    # A slot is as busy as it can be with all choices: with fewer, the bound would be one for these alone.
    lean.__dict__["busy_hours"] = problem.busy_hours
    return lean, rows


def _dominated(problem: Problem) -> Booleans:
    """Return which choices are dominated by the one of their cohort that has the fewest instances of their lot."""
    choices, lane = problem.choices, problem.choices.lane
    group = choices.cohort
    for key in (problem.lots[lane], choices.copy, choices.pool):
        count, number = number_keys(key)
        group = number_keys(group * count + number)[1]
    order = np.lexsort((problem.instances[lane], group))
    starts = np.searchsorted(group[order], np.arange(int(group.max(initial=-1)) + 1))
    first = order[starts][group]
    times = problem.instances[lane] / problem.instances[lane[first]]
    held = times * choices.hours / problem.busy_hours[lane]
    found = held * _ROOM >= (choices.hours / problem.busy_hours[lane])[first]
    for values in (choices.usd, choices.draw, choices.promise):
        found &= values * _ROOM >= values[first]
    # Only then do some whole slots there hold as many units as a slot here.
    found &= (times == np.rint(times)) & _uses_all_units(problem)[lane[first]]
    found[order[starts]] = False
    return np.asarray(found)


def _uses_all_units(problem: Problem) -> Booleans:
    """Return which lanes could hold a limit's last unit: that limit alone then bounds their slots."""
    most = np.full(problem.lanes, np.inf)
    for limit in problem.limits:
        most[limit.lanes] = np.minimum(most[limit.lanes], limit.free / limit.units)
    return np.asarray(np.isinf(most) | (most < problem.most_slots + 1e-9))
