"""The lanes of a whole solution: whether each holds its tasks, and by when they end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.arrays import SLACK
from orchestrator.planner.pack.packing import Load, finish, pack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.planner.model.arrays import Floats, Integers
    from orchestrator.planner.model.problem import Problem
    from orchestrator.planner.model.solution import Solution


def ends(solution: Solution) -> Floats:
    """Hours after which the last task of each choice ends; 0 where there are none."""
    found = np.zeros(len(solution.tasks))
    for lane, rows, loads in by_lane(solution.problem, solution.tasks):
        found[rows] = finish(solution.slots[lane], loads)
    # Where only the packing's own order fits, it ends in time.
    return np.minimum(found, solution.problem.until[solution.problem.choices.lane])


def misfits(problem: Problem, tasks: Integers, slots: Floats | None = None) -> dict[int, tuple[Integers, Integers]]:
    """The lanes that cannot hold all their tasks: lane → its choices, and how many tasks of each it does hold.

    `slots` that each lane has, if not as many as it can."""
    slots = problem.most if slots is None else slots
    found: dict[int, tuple[Integers, Integers]] = {}
    for lane, rows, loads in by_lane(problem, tasks):
        _, placed = pack(slots[lane], problem.until[lane], loads)
        short = any(count < load.count for count, load in zip(placed, loads, strict=True))
        if short and (slots[lane] < 1 or max(finish(slots[lane], loads)) > problem.until[lane] * SLACK):
            found[lane] = rows, np.array(placed)
    return found


def by_lane(problem: Problem, tasks: Integers) -> Iterator[tuple[int, Integers, list[Load]]]:
    """Each lane in use, with its choices and what they bring."""
    choices = problem.choices
    used = np.flatnonzero(tasks)
    ordered = used[np.argsort(choices.lane[used], kind="stable")]
    for rows in np.split(ordered, np.flatnonzero(np.diff(choices.lane[ordered])) + 1):
        if len(rows):
            loads = [Load(float(choices.hours[row]), float(choices.wait[row]), int(tasks[row])) for row in rows]
            yield int(choices.lane[rows[0]]), rows, loads
