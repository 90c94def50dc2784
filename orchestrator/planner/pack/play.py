"""Plays the slots of one lane forward: tasks start longest first, each in the slot that is free first.

This is the order that arrays start in, so what ends in time here does so for the order that is asked of Batch. One more
task, a longer one, or one slot less never lets anything end sooner: what does not fit never fits with more on top.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappush, heapreplace
from typing import TYPE_CHECKING

from orchestrator.planner.model.arrays import SLACK

if TYPE_CHECKING:
    from collections.abc import Sequence

ONE_BY_ONE = 30
"""Tasks of each slot up to which it is quicker to start one round after another than all rounds at once."""
DIGITS = 9
"""Digits of a round to which times are the same."""


@dataclass(frozen=True)
class Load:
    """Equal tasks on one lane."""

    hours: float
    """Hours that one task holds its slot."""
    wait: float
    """Hours before the tasks may start."""
    count: int


def end_hours(slots: float, loads: Sequence[Load], busy: Sequence[float] = ()) -> list[float]:
    """Return for each load the hours until its last task ends; 0 for a load without tasks. There must be a slot.

    A task that has to wait lets no later one go ahead of it, unless there is a slot for every task. Some of the slots
    may be `busy` with other tasks, for so many hours each.
    """
    ends = [load.wait + load.hours if load.count else 0.0 for load in loads]
    total = sum(load.count for load in loads)
    if slots >= total + len(busy):
        return ends
    # Where more is busy than there are slots, the first that ends leaves none behind.
    first_used = max(len(busy) - int(slots), 0)
    free = _FreeSlots(int(slots), total, sorted(busy)[first_used:])
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
    free, placed = _FreeSlots(int(min(slots, total)), total), [0] * len(loads)
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


class _FreeSlots:
    """The slots of a lane, those that are free at the same time together: each load adds one such group at most."""

    def __init__(self, slots: int, tasks: int, busy: Sequence[float] = ()) -> None:
        self._groups: list[tuple[float, int]] = [(hours, 1) for hours in busy]
        """Hours until slots are free, and how many slots those are, as a heap."""
        if slots > len(busy):
            heappush(self._groups, (0.0, slots - len(busy)))
        heapify(self._groups)
        self._start = _start_one_by_one if tasks <= ONE_BY_ONE * slots else _start_at_once

    def wait_until(self, hours: float) -> None:
        if hours > self._groups[0][0]:
            later = [group for group in self._groups if group[0] > hours]
            now_free = sum(slots for free, slots in self._groups if free <= hours)
            self._groups = [(hours, now_free), *later]
            heapify(self._groups)

    def start(self, hours: float, count: int) -> float:
        """Start so many tasks, each in the slot that is free first, and return when the last of them ends."""
        return self._start(self._groups, hours, count)

    def room_for(self, load: Load, until: float) -> int:
        """Return how many such tasks would end by then."""
        each = ((int((until * SLACK - max(free, load.wait)) / load.hours), slots) for free, slots in self._groups)
        return sum(max(tasks, 0) * slots for tasks, slots in each)


def _start_one_by_one(groups: list[tuple[float, int]], hours: float, count: int) -> float:
    """Start so many tasks, group after group, and return when the last of them ends."""
    while True:
        free, slots = groups[0]
        if count <= slots:
            break
        heapreplace(groups, (free + hours, slots))
        count -= slots
    heapreplace(groups, (free + hours, count))
    if slots > count:
        heappush(groups, (free, slots - count))
    return free + hours


def _start_at_once(groups: list[tuple[float, int]], hours: float, count: int) -> float:
    """Start so many tasks, all rounds of a group together, and return when the last of them ends."""
    first = groups[0][0]
    # What differs from a whole round in its last bits only is one: else a slot might start two tasks in one round.
    steps = [(round((free - first) / hours, DIGITS), slots) for free, slots in groups]
    rounds = _last_round(steps, count)
    before = [_started(rounds - 1, step) for step, _ in steps]
    rest = count - sum(started * slots for started, (_, slots) in zip(before, steps, strict=True))
    found, end = [], 0.0
    for number in sorted(range(len(groups)), key=lambda number: steps[number][0] + before[number]):
        (free, slots), taken = groups[number], before[number]
        more = min(rest, slots) if _started(rounds, steps[number][0]) > taken else 0
        rest -= more
        if more:
            found.append((free + (taken + 1) * hours, more))
        if more < slots:
            found.append((free + taken * hours, slots - more))
        if more or taken:
            end = max(end, free + (taken + 1 if more else taken) * hours)
    groups[:] = sorted(found)
    return end


def _last_round(steps: Sequence[tuple[float, int]], count: int) -> int:
    """Return the first round in which so many tasks have begun. `steps` says after how many rounds slots are free."""
    average = (count + sum(step * slots for step, slots in steps)) / sum(slots for _, slots in steps)
    # Once all slots are in use, none is a whole round before or after the average.
    low = int(average) - 1 if average > max(steps)[0] + 2 else 0
    high = min(count, int(average) + 2)
    while low < high:
        middle = (low + high) // 2
        begun = 0
        for step, slots in steps:
            if middle >= step:
                begun += (int(middle - step) + 1) * slots
        if begun >= count:
            high = middle
        else:
            low = middle + 1
    return low


def _started(rounds: int, step: float) -> int:
    """Return the tasks that a slot has started after these rounds, if it is free after so many steps."""
    return int(rounds - step) + 1 if rounds >= step else 0
