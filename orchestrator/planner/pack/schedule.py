"""The lanes of a whole solution: which of them hold too many tasks, and when their tasks end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.arrays import SLACK
from orchestrator.planner.pack.packing import Load, end_hours, pack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.planner.model.arrays import Floats, Integers
    from orchestrator.planner.model.problem import Problem
    from orchestrator.planner.model.solution import Solution


def end_hours_by_choice(solution: Solution) -> Floats:
    """Return the hours after which the last task of each choice ends; 0 for choices without tasks."""
    found = np.zeros(len(solution.tasks))
    for lane, rows, loads in loads_by_lane(solution.problem, solution.tasks):
        found[rows] = end_hours(solution.slots[lane], loads)
    # Where only the packing's own order fits, it ends in time.
    return np.minimum(found, solution.problem.latest_end[solution.problem.choices.lane])


def overfull_lanes(
    problem: Problem, tasks: Integers, slots: Floats | None = None
) -> dict[int, tuple[Integers, Integers]]:
    """Return the lanes that cannot hold all their tasks: each with its choices, and how many tasks of each fit.

    `slots` says how many slots each lane has; without it, a lane has as many as it can have.
    """
    slots = problem.most_slots if slots is None else slots
    found: dict[int, tuple[Integers, Integers]] = {}
    for lane, rows, loads in loads_by_lane(problem, tasks):
        _, placed = pack(slots[lane], problem.latest_end[lane], loads)
        short = any(count < load.count for count, load in zip(placed, loads, strict=True))
        if short and (slots[lane] < 1 or max(end_hours(slots[lane], loads)) > problem.latest_end[lane] * SLACK):
            found[lane] = rows, np.array(placed)
    return found


def loads_by_lane(problem: Problem, tasks: Integers) -> Iterator[tuple[int, Integers, list[Load]]]:
    """Yield each lane in use, with its choices and the tasks that they bring, as loads in the same order."""
    choices = problem.choices
    used = np.flatnonzero(tasks)
    ordered = used[np.argsort(choices.lane[used], kind="stable")]
    for rows in np.split(ordered, np.flatnonzero(np.diff(choices.lane[ordered])) + 1):
        if len(rows):
            loads = [Load(float(choices.hours[row]), float(choices.wait[row]), int(tasks[row])) for row in rows]
            yield int(choices.lane[rows[0]]), rows, loads
