"""Tasks that a rounding left over, or that did not fit: each goes where it is cheapest among what is free."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.problem import NO_COPY
from orchestrator.planner.model.solution import Solution
from orchestrator.planner.pack.lanes import Lanes, spread

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.planner.model.arrays import Booleans, Floats, Integers
    from orchestrator.planner.model.problem import Problem


def repaired(problem: Problem, tasks: Integers, bound: float, slots: Floats | None = None) -> Solution | None:
    """All tasks placed and every limit but the budget kept, with data that is there or moves anyway.

    None where some fit nowhere. `slots` of each lane that are about enough, if they are known."""
    there = _data_is_there(problem, tasks)
    lanes = Lanes(problem)
    tasks = lanes.hold(tasks, slots)
    sent = np.bincount(problem.choices.cohort, weights=tasks, minlength=len(problem.counts)).astype(np.int64)
    short, hours = problem.counts - sent, problem.choices.hours
    for cohort in sorted(np.flatnonzero(short).tolist(), key=lambda k: -hours[problem.first[k]]):
        rows = np.arange(problem.first[cohort], problem.first[cohort + 1])
        rows = rows[there[rows]]
        cheapest_first = rows[np.argsort(problem.choices.usd[rows], kind="stable")].tolist()
        if not _place(int(short[cohort]), cheapest_first, lanes, tasks):
            return None
    return Solution(problem, tasks, bound, spread(problem, tasks, lanes.slots))


def _data_is_there(problem: Problem, tasks: Integers) -> Booleans:
    """By choice; or it is brought there anyway."""
    made = np.zeros(len(problem.charges) + 1, dtype=bool)
    made[problem.choices.copy[tasks > 0]] = True
    made[NO_COPY] = True
    return np.asarray(made[problem.choices.copy])


def _place(left: int, rows: Iterable[int], lanes: Lanes, tasks: Integers) -> bool:
    for row in rows:
        placed = lanes.add(row, left)
        tasks[row] += placed
        left -= placed
        if left == 0:
            return True
    return False
