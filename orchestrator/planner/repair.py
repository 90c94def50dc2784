"""Tasks that a rounding left over, or that did not fit: each goes where it is cheapest among what is free."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.packing import Load, Packing, pack
from orchestrator.planner.problem import NO_COPY, Solution

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.planner.problem import Booleans, Integers, Problem


def repaired(problem: Problem, tasks: Integers) -> Integers | None:
    """All tasks placed and every limit kept, with data that is there or moves anyway; None where some fit nowhere."""
    tasks = tasks.copy()
    open_copies = _used(problem, tasks)
    lanes = _packed(problem, tasks)
    sent = np.bincount(problem.choices.cohort, weights=tasks, minlength=len(problem.counts)).astype(np.int64)
    short, hours = problem.counts - sent, problem.choices.hours
    for cohort in sorted(np.flatnonzero(short).tolist(), key=lambda k: -hours[problem.first[k]]):
        rows = range(problem.first[cohort], problem.first[cohort + 1])
        if not _place(problem, int(short[cohort]), (row for row in rows if open_copies[row]), lanes, tasks):
            return None
    return tasks if Solution(problem, tasks, 0.0).promise <= problem.budget else None


def _used(problem: Problem, tasks: Integers) -> Booleans:
    """Choices whose data lies there, or is brought there anyway."""
    made = np.zeros(len(problem.charges) + 1, dtype=bool)
    made[problem.choices.copy[tasks > 0]] = True
    made[NO_COPY] = True
    return np.asarray(made[problem.choices.copy])


def _packed(problem: Problem, tasks: Integers) -> dict[int, Packing]:
    """Every lane with its tasks in its slots; those that do not fit are taken out of `tasks`."""
    choices = problem.choices
    lanes = {lane: Packing(float(slots), problem.horizon) for lane, slots in enumerate(problem.slots)}
    used = np.flatnonzero(tasks)
    by_lane = used[np.argsort(choices.lane[used], kind="stable")]
    for rows in np.split(by_lane, np.flatnonzero(np.diff(choices.lane[by_lane])) + 1):
        if len(rows):
            lane = int(choices.lane[rows[0]])
            loads = [_load(problem, row, int(tasks[row])) for row in rows]
            lanes[lane], tasks[rows] = pack(float(problem.slots[lane]), problem.horizon, loads)
    return lanes


def _place(problem: Problem, left: int, rows: Iterable[int], lanes: dict[int, Packing], tasks: Integers) -> bool:
    for row in rows:
        placed = lanes[int(problem.choices.lane[row])].add(_load(problem, row, left))
        tasks[row] += placed
        left -= placed
        if left == 0:
            return True
    return False


def _load(problem: Problem, row: int, count: int) -> Load:
    return Load(float(problem.choices.hours[row]), float(problem.choices.wait[row]), count)
