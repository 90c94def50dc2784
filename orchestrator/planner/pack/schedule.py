"""The lanes of a whole solution: which of them hold too many tasks, and when their tasks end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.arrays import SLACK
from orchestrator.planner.pack.play import Load, end_hours, end_in_any_order, fill, fits

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from orchestrator.planner.model.arrays import Floats, Integers
    from orchestrator.planner.model.problem import Problem
    from orchestrator.planner.model.solution import Solution


def end_hours_by_choice(solution: Solution, busy: Mapping[int, Sequence[float]] | None = None) -> Floats:
    """Return the hours after which the last task of each choice ends, longest first; 0 for choices without tasks.

    `busy` says for how many hours slots of a lane are busy with other tasks yet, by the lane's number.
    """
    busy = busy or {}
    found = np.zeros(len(solution.tasks))
    for lane, rows, loads in loads_by_lane(solution.problem, solution.tasks):
        found[rows] = end_hours(solution.slots[lane], loads, busy.get(lane, ()))
    return found


def ends_in_any_order(solution: Solution) -> bool:
    """Return whether all tasks are proven to end in time, in whatever order those of a lane start."""
    problem = solution.problem
    return all(
        end_in_any_order(solution.slots[lane], loads) <= problem.latest_end[lane] * SLACK
        for lane, _, loads in loads_by_lane(problem, solution.tasks)
    )


def overfull_lanes(
    problem: Problem, tasks: Integers, slots: Floats | None = None
) -> dict[int, tuple[Integers, Integers]]:
    """Return the lanes that cannot hold all their tasks: each with its choices, and how many tasks of each fit.

    `slots` says how many slots each lane has; without it, a lane has as many as it can have.
    """
    slots = problem.most_slots if slots is None else slots
    found: dict[int, tuple[Integers, Integers]] = {}
    for lane, rows, loads in loads_by_lane(problem, tasks):
        if not fits(slots[lane], problem.latest_end[lane], loads):
            found[lane] = rows, np.array(fill(slots[lane], problem.latest_end[lane], loads))
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
