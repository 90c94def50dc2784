"""The lanes of a whole solution: whether each holds its tasks, and by when they end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.packing import Load, finish, pack
from orchestrator.planner.problem import SLACK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.planner.problem import Floats, Integers, Problem, Solution


def ends(solution: Solution) -> Floats:
    """Hours after which the last task of each choice ends; 0 where there are none."""
    found = np.zeros(len(solution.tasks))
    for lane, rows, loads in _lanes(solution.problem, solution.tasks):
        found[rows] = finish(solution.problem.slots[lane], loads)
    # Where only the packing's own order fits, it ends within the horizon.
    return np.minimum(found, solution.problem.horizon)


def misfits(problem: Problem, tasks: Integers) -> dict[int, tuple[Integers, Integers]]:
    """The lanes that cannot hold all their tasks: lane → its choices, and how many tasks of each it does hold."""
    found: dict[int, tuple[Integers, Integers]] = {}
    for lane, rows, loads in _lanes(problem, tasks):
        _, placed = pack(problem.slots[lane], problem.horizon, loads)
        short = any(count < load.count for count, load in zip(placed, loads, strict=True))
        if short and max(finish(problem.slots[lane], loads)) > problem.horizon * SLACK:
            found[lane] = rows, np.array(placed)
    return found


def _lanes(problem: Problem, tasks: Integers) -> Iterator[tuple[int, Integers, list[Load]]]:
    """Each lane in use, with its choices and what they bring."""
    choices = problem.choices
    used = np.flatnonzero(tasks)
    by_lane = used[np.argsort(choices.lane[used], kind="stable")]
    for rows in np.split(by_lane, np.flatnonzero(np.diff(choices.lane[by_lane])) + 1):
        if len(rows):
            loads = [Load(float(choices.hours[row]), float(choices.wait[row]), int(tasks[row])) for row in rows]
            yield int(choices.lane[rows[0]]), rows, loads
