"""Cuts for a lane whose tasks would fit into its slots in some order, but not in the one that they start in.

What does not fit never fits with more tasks, or longer ones, or fewer slots. So one case excludes many.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.pack.play import Load, fits
from orchestrator.planner.solver.program import Entries

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Integers
    from orchestrator.planner.model.problem import Problem
    from orchestrator.planner.solver.program import Program


@dataclass(frozen=True)
class TooMuch:
    """Tasks of one lane that do not end in time with so many slots, though with any task less they would."""

    lane: int
    slots: int
    """The most slots with which they do not."""
    counts: tuple[tuple[Integers, int], ...]
    """Choices and their number of tasks, for each length among them: of those that are as long, or longer."""


def find_too_much(problem: Problem, lane: int, tasks: Integers, slots: float) -> TooMuch:
    """Return some of these tasks, which do not fit into so many slots of the lane, that do not fit by themselves."""
    choices, until = problem.choices, problem.latest_end[lane]
    on_lane = np.flatnonzero(choices.lane == lane)
    kinds = sorted({(float(choices.hours[row]), float(choices.wait[row])) for row in on_lane[tasks[on_lane] > 0]})
    loads = []
    for hours, wait in kinds:
        alike = on_lane[(choices.hours[on_lane] == hours) & (choices.wait[on_lane] == wait)]
        loads.append(Load(hours, wait, int(tasks[alike].sum())))
    for number, load in enumerate(loads):  # the shortest first: what is left out was least to blame
        low, high = -1, load.count
        while high > low + 1:
            middle = (low + high) // 2
            fewer = [*loads[:number], Load(load.hours, load.wait, middle), *loads[number + 1 :]]
            low, high = (middle, high) if fits(slots, until, fewer) else (low, middle)
        loads[number] = Load(load.hours, load.wait, high)
    most = int(problem.most_slots[lane]) if np.isfinite(problem.most_slots[lane]) else int(slots)
    while slots < most and not fits(slots + 1, until, loads):
        slots += 1
    return TooMuch(lane, int(slots), tuple(_counts_from(problem, on_lane, [load for load in loads if load.count])))


def _counts_from(problem: Problem, on_lane: Integers, loads: list[Load]) -> list[tuple[Integers, int]]:
    """Return for each load the choices whose tasks are as long, or longer, and how many tasks those are.

    Where some have to wait, a longer one may start before its turn, and so do less harm. There, only equals count.
    """
    hours, wait = problem.choices.hours[on_lane], problem.choices.wait[on_lane]
    if (wait == wait[0]).all():
        return [
            (on_lane[hours >= load.hours], sum(other.count for other in loads if other.hours >= load.hours))
            for load in loads
        ]
    return [(on_lane[(hours == load.hours) & (wait == load.wait)], load.count) for load in loads]


def add_start_cut(program: Program, problem: Problem, much: TooMuch, slots_column: int | None) -> None:
    """Exclude these tasks, and all that are too much because these are.

    The first columns of the program are the tasks of each choice. The lane has a fixed number of slots, or as many as
    the program's column `slots_column` says, if there is one.
    """
    more_slots = slots_column is not None and problem.most_slots[much.lane] > much.slots
    ways = program.add_columns(len(much.counts) + more_slots, 1.0)
    program.add_rows(1, Entries(np.zeros_like(ways), ways, np.ones(len(ways))), 1.0, np.inf)
    for way, (rows, count) in zip(ways.tolist(), much.counts, strict=False):
        # Where this way is taken, there is one task less of them; else there may be as many as there are at all.
        every = float(problem.counts[problem.choices.cohort[rows]].sum())
        columns, values = np.append(rows, way), np.append(np.ones(len(rows)), every - count + 1)
        program.add_rows(1, Entries(np.zeros_like(columns), columns, values), -np.inf, every)
    if more_slots:
        columns, values = np.array([slots_column, ways[-1]]), np.array([1.0, -(much.slots + 1.0)])
        program.add_rows(1, Entries(np.zeros_like(columns), columns, values), 0.0, np.inf)
