"""The patterns of a lane: all ways to fill one of its slots with whole tasks. With them, a program is exact for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.arrays import SLACK
from orchestrator.planner.solver.program import Entries

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Integers
    from orchestrator.planner.model.problem import Problem
    from orchestrator.planner.solver.program import Program

MOST_PATTERNS = 500
"""Patterns of one lane that a program is given. A lane with more has none."""


@dataclass(frozen=True)
class Patterns:
    """The ways to fill one slot of a lane. Tasks that wait and take equally long are of one kind."""

    choices: Integers
    """The lane's choices."""
    kind: Integers
    """The kind of task of each of these choices."""
    ways: Integers
    """A row for each way to fill a slot: how many tasks of each kind it holds."""


def find_patterns(problem: Problem, lane: int) -> Patterns | None:
    """Return the lane's patterns, each with as many tasks of the last kind as still fit. None if there are too many."""
    choices = problem.choices
    rows = np.flatnonzero(choices.lane == lane)
    facts = np.stack([-choices.wait[rows], -choices.hours[rows]], axis=1)
    kinds, kind = np.unique(facts, axis=0, return_inverse=True)
    waits, hours = -kinds[:, 0], -kinds[:, 1]
    tasks = np.bincount(kind.ravel(), weights=problem.counts[choices.cohort[rows]])
    latest_end = problem.latest_end[lane] * SLACK
    ways: list[list[int]] = []

    def extend(way: list[int], filled: float) -> bool:
        """Note all patterns that begin with this way. Return whether there are few enough so far.

        Kinds come in the order of packing, so that a slot that takes a pattern's last task takes all of it.
        """
        number = len(way)
        if number == len(kinds):
            ways.append(way)
            return len(ways) <= MOST_PATTERNS
        most = int(min(max((latest_end - waits[number] - filled) / hours[number], 0), tasks[number]))
        fewest = most if number == len(kinds) - 1 else 0
        counts = range(most, fewest - 1, -1)
        return all(extend([*way, count], filled + count * hours[number]) for count in counts)

    if not extend([], 0.0):
        return None
    return Patterns(rows, kind.ravel().astype(np.int64), np.array(ways))


def add_patterns(program: Program, patterns: Patterns, slots: float, slots_column: int | None) -> None:
    """Let the lane take only such tasks as its slots hold, each of which follows one pattern.

    The first columns of the program are the tasks of each choice. The lane has so many `slots`, or as many as the
    program's column `slots_column` says, if there is one.
    """
    used = program.add_columns(len(patterns.ways), slots)
    columns, values, most = used, np.ones(len(used)), slots
    if slots_column is not None:
        columns, values, most = np.append(used, slots_column), np.append(values, -1.0), 0.0
    program.add_rows(1, Entries(np.zeros(len(columns), dtype=np.int64), columns, values), -np.inf, most)
    way, kind = np.nonzero(patterns.ways)
    entries = Entries(
        np.concatenate([patterns.kind, kind]),
        np.concatenate([patterns.choices, used[way]]),
        np.concatenate([np.ones(len(patterns.choices)), -patterns.ways[way, kind].astype(np.float64)]),
    )
    program.add_rows(patterns.ways.shape[1], entries, -np.inf, 0.0)
