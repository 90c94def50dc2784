"""Repairs what a program decided: tasks that are left over, or do not fit, go where it is cheapest among free slots."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.choices import NO_COPY
from orchestrator.planner.model.solution import Solution
from orchestrator.planner.pack.lanes import Lanes, share_out_spare_slots

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.planner.model.arrays import Booleans, Floats, Integers
    from orchestrator.planner.model.problem import Problem


def repair(problem: Problem, tasks: Integers, bound: float, slots: Floats | None = None) -> Solution | None:
    """Return a solution that places all tasks and keeps every limit but the budget; None if some tasks fit nowhere.

    A task that is moved goes only where its data lies, or is copied anyway. `slots` of each lane that are about enough
    save time, where they are known.
    """
    with_data = _with_data(problem, tasks)
    lanes = Lanes(problem)
    tasks = lanes.add_all(tasks, slots)
    sent = np.bincount(problem.choices.cohort, weights=tasks, minlength=len(problem.counts)).astype(np.int64)
    short, hours = problem.counts - sent, problem.choices.hours
    for cohort in sorted(np.flatnonzero(short).tolist(), key=lambda k: -hours[problem.first_choice[k]]):
        rows = np.arange(problem.first_choice[cohort], problem.first_choice[cohort + 1])
        rows = rows[with_data[rows]]
        cheapest_first = rows[np.argsort(problem.choices.usd[rows], kind="stable")].tolist()
        if not _place(int(short[cohort]), cheapest_first, lanes, tasks):
            return None
    return Solution(problem, tasks, bound, share_out_spare_slots(problem, tasks, lanes.slots))


def _with_data(problem: Problem, tasks: Integers) -> Booleans:
    """Return for each choice whether its data lies there, or is copied there for other tasks anyway."""
    made = np.zeros(len(problem.charges) + 1, dtype=bool)
    made[problem.choices.copy[tasks > 0]] = True
    made[NO_COPY] = True
    return np.asarray(made[problem.choices.copy])


def _place(left: int, rows: Iterable[int], lanes: Lanes, tasks: Integers) -> bool:
    """Place so many tasks, each at the first of these choices that takes it. Return whether all found a place."""
    for row in rows:
        placed = lanes.add(row, left)
        tasks[row] += placed
        left -= placed
        if left == 0:
            return True
    return False
