"""What is known of slots, for a program of fillings to begin with: what another one found, or the slots of a plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.arrays import SLACK
from orchestrator.planner.pack.schedule import loads_by_lane
from orchestrator.planner.solver.slots.best_fillings import Filling

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from orchestrator.planner.model.arrays import Floats, Integers
    from orchestrator.planner.model.problem import Problem
    from orchestrator.planner.pack.play import Load


@dataclass(frozen=True)
class KnownSlots:
    """What is known of the slots of a problem."""

    worth: Floats
    """What one task of each choice is worth where it goes, in $; -inf for a choice that was not looked at."""
    fillings: Sequence[Filling]
    """Good ways to fill slots."""

    def of_whole(self, rows: Integers, count: int) -> KnownSlots:
        """Return the same of a problem of so many choices, of which these rows are the ones here."""
        worth = np.full(count, -np.inf)
        worth[rows] = self.worth
        return KnownSlots(worth, [each._replace(rows=rows[each.rows]) for each in self.fillings])

    def within(self, rows: Integers) -> KnownSlots:
        """Return what is known of a problem that has only these of the choices here, in this order."""
        position = np.full(len(self.worth), -1)
        position[rows] = np.arange(len(rows))
        moved = [each._replace(rows=position[each.rows]) for each in self.fillings]
        return KnownSlots(self.worth[rows], [each for each in moved if (each.rows >= 0).all()])


def fillings_of(problem: Problem, tasks: Integers) -> list[Filling]:
    """Return fillings that hold so many tasks of each choice, all together; on limited lanes alone.

    The longest tasks that still fit come next. So a lane may take a few more slots than in the order of starts.
    """
    found = []
    for lane, rows, loads in loads_by_lane(problem, tasks):
        if np.isfinite(problem.most_slots[lane]):
            longest_first = sorted(range(len(rows)), key=lambda number: -loads[number].hours)
            room = float(problem.latest_end[lane]) - max(load.wait for load in loads)
            for counts in _slot_by_slot([loads[number] for number in longest_first], room):
                used = np.flatnonzero(counts)
                found.append(Filling(lane, rows[longest_first][used], np.array(counts)[used]))
    return found


def _slot_by_slot(loads: Sequence[Load], room: float) -> Iterator[list[int]]:
    """Yield each different filling of slots with so much room that these tasks make, the longest tasks first."""
    left = [load.count for load in loads]
    while any(left):
        free, counts = room * SLACK, []
        for load, count in zip(loads, left, strict=True):
            counts.append(min(int(free / load.hours), count))
            free -= counts[-1] * load.hours
        if not any(counts):
            return
        yield counts
        times = min(count // each for count, each in zip(left, counts, strict=True) if each)
        left = [count - times * each for count, each in zip(left, counts, strict=True)]
