"""Rows for a lane where data comes late: what starts after a task that waits does not start before it.

Tasks start longest first, and none goes ahead of another, unless each has a slot of its own. So where a task waits, all
that come after it have only what is left of the lane's slots from then on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.arrays import SLACK
from orchestrator.planner.solver.program import STEPS, Entries

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Floats, Integers
    from orchestrator.planner.model.problem import Problem
    from orchestrator.planner.solver.program import Program

MOST = 40
"""Kinds of tasks of one lane that wait, up to which there are such rows."""


def add_late_starts(program: Program, problem: Problem, lane: int, slots_column: int | None) -> bool:
    """Let what starts after tasks that wait have only the time from then on. Return False where no task waits so.

    The first columns of the program are the tasks of each choice. The lane has a fixed number of slots, or as many as
    the program's column `slots_column` says, if there is one. New columns say whether every task has a slot of its own,
    and which kinds of tasks the lane holds among those that wait.
    """
    choices = problem.choices
    rows = np.flatnonzero(choices.lane == lane)
    until, slots = float(problem.latest_end[lane]) * SLACK, float(problem.most_slots[lane])
    order = np.lexsort((choices.wait[rows], -choices.hours[rows]))
    rows = rows[order]
    hours, wait = choices.hours[rows], choices.wait[rows]
    kinds = np.unique(np.stack([-hours, wait], axis=1), axis=0)
    kinds = kinds[(kinds[:, 1] > 0) & (kinds[:, 0] < -hours.min())]
    if not len(kinds) or len(kinds) > MOST or not np.isfinite(slots):
        return False
    alone = int(program.add_columns(1, 1.0)[0])
    _let_all_start_at_once(program, problem, rows, alone, slots, slots_column)
    for (minus_hours, begin), held in zip(kinds.tolist(), program.add_columns(len(kinds), 1.0).tolist(), strict=True):
        its = rows[(hours == -minus_hours) & (wait == begin)]
        every = float(problem.counts[np.unique(choices.cohort[its])].sum())
        _add(program, [(its, np.ones(len(its))), ([held, alone], [-every, -every])], 0.0)
        later = rows[(hours < -minus_hours) | (wait >= begin)]
        left = np.ceil((until - begin) / until * STEPS)
        sizes = np.floor(choices.hours[later] / until * STEPS)
        # Where the lane holds no such task, all of its time is there.
        more = (STEPS - left) * slots
        if slots_column is None:
            _add(program, [(later, sizes), ([held], [more])], STEPS * slots)
        else:
            _add(program, [(later, sizes), ([held, slots_column], [more, -left])], more)
    return True


def _let_all_start_at_once(
    program: Program, problem: Problem, rows: Integers, alone: int, slots: float, slots_column: int | None
) -> None:
    """Let the column `alone` be 1 only where the lane has no more tasks than slots."""
    every = float(problem.counts[np.unique(problem.choices.cohort[rows])].sum())
    if slots_column is None:
        _add(program, [(rows, np.ones(len(rows))), ([alone], [max(every - slots, 0.0)])], max(every, slots))
    else:
        _add(program, [(rows, np.ones(len(rows))), ([alone, slots_column], [every, -1.0])], every)


def _add(program: Program, parts: list[tuple[Integers, Floats] | tuple[list[int], list[float]]], high: float) -> None:
    """Add a row: these columns times these values come to no more than `high`."""
    column = np.concatenate([np.asarray(columns, dtype=np.int64) for columns, _ in parts])
    value = np.concatenate([np.asarray(values, dtype=np.float64) for _, values in parts])
    program.add_rows(1, Entries(np.zeros_like(column), column, value), -np.inf, high)
