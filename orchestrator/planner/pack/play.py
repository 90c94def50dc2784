"""Plays the slots of one lane forward: tasks start longest first, each in the slot that is free first.

This is the order that arrays start in, so what ends in time here does so for the order that is asked of Batch. One more
task, a longer one, or one slot less never lets anything end sooner: what does not fit never fits with more on top.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heapreplace
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.arrays import SLACK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.planner.model.arrays import Floats

ONE_BY_ONE = 2_000
"""Tasks up to which it is quicker to start one after another than equal ones at once."""


@dataclass(frozen=True)
class Load:
    """Equal tasks on one lane."""

    hours: float
    """Hours that one task holds its slot."""
    wait: float
    """Hours before the tasks may start."""
    count: int


def end_hours(slots: float, loads: Sequence[Load]) -> list[float]:
    """Return for each load the hours until its last task ends; 0 for a load without tasks. There must be a slot.

    A task that has to wait lets no later one go ahead of it, unless there is a slot for every task.
    """
    ends = [load.wait + load.hours if load.count else 0.0 for load in loads]
    total = sum(load.count for load in loads)
    if slots >= total:
        return ends
    free = _free_slots(slots, total)
    for number in start_order(loads):
        load = loads[number]
        if load.count:
            free.wait_until(load.wait)
            ends[number] = free.start(load.hours, load.count)
    return ends


def fits(slots: float, until: float, loads: Sequence[Load]) -> bool:
    """Return whether all tasks end by then."""
    total = sum(load.count for load in loads)
    if total and slots < 1:
        return False
    if end_in_any_order(slots, loads) <= until * SLACK:
        return True
    busy = sum(load.hours * load.count for load in loads)
    return busy <= slots * until * SLACK and max(end_hours(slots, loads)) <= until * SLACK


def fill(slots: float, until: float, loads: Sequence[Load]) -> list[int]:
    """Return how many tasks of each load end by then, if those that would not are left out as they come up."""
    if slots < 1:
        return [0] * len(loads)
    if fits(slots, until, loads):
        return [load.count for load in loads]
    total = sum(load.count for load in loads)
    free, placed = _free_slots(min(slots, total), total), [0] * len(loads)
    for number in start_order(loads):
        load = loads[number]
        if load.wait + load.hours <= until * SLACK:
            placed[number] = min(load.count, free.room_for(load, until))
            if placed[number]:
                free.wait_until(load.wait)
                free.start(load.hours, placed[number])
    return placed


def end_in_any_order(slots: float, loads: Sequence[Load]) -> float:
    """Return hours until which all tasks end in whatever order they start, as long as no slot idles: this is proven."""
    total = sum(load.count for load in loads)
    if not total:
        return 0.0
    if slots >= total:
        return max(load.wait + load.hours for load in loads if load.count)
    wait, hours = max(load.wait for load in loads if load.count), [load.hours for load in loads if load.count]
    shortest, longest = min(hours), max(hours)
    if shortest * SLACK >= longest:
        return wait + longest * -(-total // int(slots))
    busy = sum(load.hours * load.count for load in loads)
    # While the task that ends last waits to start, no slot is idle; so all of them together do the other tasks' work.
    return wait + (busy - longest) / slots + longest


def start_order(loads: Sequence[Load]) -> list[int]:
    """Return the numbers of the loads in the order in which their tasks start: longest first."""
    return sorted(range(len(loads)), key=lambda number: (-loads[number].hours, loads[number].wait))


class _Few:
    """Slots that few tasks run in, started one by one."""

    def __init__(self, slots: int) -> None:
        self._free = [0.0] * slots
        """Hours until each slot is free, as a heap."""

    def wait_until(self, hours: float) -> None:
        if hours > self._free[0]:
            self._free = [max(each, hours) for each in self._free]
            heapify(self._free)

    def start(self, hours: float, count: int) -> float:
        """Start so many tasks, and return when the last of them ends."""
        free, end = self._free, 0.0
        for _ in range(count):
            end = free[0] + hours
            heapreplace(free, end)
        return end

    def room_for(self, load: Load, until: float) -> int:
        """Return how many such tasks would end by then."""
        return sum(max(int((until * SLACK - max(each, load.wait)) / load.hours), 0) for each in self._free)


class _Many:
    """Slots that many tasks run in: equal ones are started at once."""

    def __init__(self, slots: int) -> None:
        self._free = np.zeros(slots)

    def wait_until(self, hours: float) -> None:
        np.maximum(self._free, hours, out=self._free)

    def start(self, hours: float, count: int) -> float:
        """Start so many tasks, and return when the last of them ends."""
        taken = _tasks_of_each_slot(self._free, hours, count)
        self._free += taken * hours
        return float(self._free[taken > 0].max())

    def room_for(self, load: Load, until: float) -> int:
        """Return how many such tasks would end by then."""
        each = np.floor((until * SLACK - np.maximum(self._free, load.wait)) / load.hours)
        return int(np.maximum(each, 0.0).sum())


def _free_slots(slots: float, tasks: int) -> _Few | _Many:
    return _Few(int(slots)) if tasks <= ONE_BY_ONE else _Many(int(slots))


def _tasks_of_each_slot(free: Floats, hours: float, count: int) -> Floats:
    """Return how many tasks each slot takes, if the next task always goes to the slot that is free first."""
    low, high = 0, count
    steps = (free - free.min()) / hours
    while low < high:  # the first round in which all have begun
        middle = (low + high) // 2
        if np.maximum(np.floor(middle - steps) + 1, 0).sum() >= count:
            high = middle
        else:
            low = middle + 1
    before = np.maximum(np.floor(low - 1 - steps) + 1, 0)
    last = np.flatnonzero(np.maximum(np.floor(low - steps) + 1, 0) > before)
    rest = count - int(before.sum())
    before[last[np.argsort((steps + before)[last], kind="stable")][:rest]] += 1
    return np.asarray(before, dtype=np.float64)
