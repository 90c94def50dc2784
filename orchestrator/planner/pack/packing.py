"""Packs whole tasks into the slots of one lane.

Equal slots are one group with a count, so a million tasks take no longer than their few lengths.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.arrays import SLACK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.planner.model.arrays import Floats


TRIES = 300
"""Ways to fill a slot that are looked at."""
FULL = 0.9999
"""A slot that is busy for this part of the horizon is full."""


@dataclass(frozen=True)
class Load:
    """Equal tasks on one lane."""

    hours: float
    """Hours that one task holds its slot."""
    wait: float
    """Hours before the tasks may start."""
    count: int


class Packing:
    """The slots of one lane while they are being filled.

    Time runs backwards here, so where a task ends is where it really begins. Take a task that must wait g hours for its
    data. A slot that is filled up to u takes it if it still ends before that: u + hours <= horizon - g.
    """

    def __init__(self, slots: float, horizon: float) -> None:
        self._horizon = horizon
        self._groups: list[tuple[float, float]] = [(0.0, slots)] if slots > 0 else []
        """Pairs (hours filled, number of slots that are filled so far), in the order in which they are tried."""

    @classmethod
    def of(cls, groups: list[tuple[float, float]], horizon: float) -> Packing:
        """Return the packing that has these groups: pairs (hours filled, number of slots)."""
        packing = cls(0, horizon)
        packing._groups = groups
        return packing

    def copy(self) -> Packing:
        return Packing.of(self._groups, self._horizon)

    def add_slots(self, slots: float) -> None:
        """Add so many empty slots."""
        self._groups = [*self._groups, (0.0, slots)]

    def slots_for(self, load: Load, count: int) -> int:
        """Return how many empty slots so many of these tasks would take; 0 if not even one fits into an empty slot."""
        each = _tasks_in_slot(self._horizon, 0.0, load)
        return -(-count // each) if each else 0

    def add(self, load: Load) -> int:
        """Put in as many of these tasks as fit, each into the first slot that takes it. Return how many those are."""
        left, groups = load.count, []
        for filled, slots in self._groups:
            each = _tasks_in_slot(self._horizon, filled, load)
            if each == 0 or left == 0:
                groups.append((filled, slots))
                continue
            full = int(min(slots, left // each))
            rest = left - full * each if full < slots else 0
            used = full
            if full:
                groups.append((filled + each * load.hours, full))
            if rest:
                groups.append((filled + rest * load.hours, 1))
                used += 1
            if slots > used:
                groups.append((filled, slots - used))
            left -= full * each + rest
        self._groups = groups
        return load.count - left


def pack(slots: float, horizon: float, loads: Sequence[Load]) -> tuple[Packing, list[int]]:
    """Return the slots with these tasks in them, and how many tasks of each load they hold.

    Tasks are packed longest first. Where that leaves some over, slots are also filled one by one, each as full as can
    be. The packing that holds more hours is returned.
    """
    order = sorted(range(len(loads)), key=lambda number: (-loads[number].wait, -loads[number].hours))
    packing, placed = Packing(slots, horizon), [0] * len(loads)
    for number in order:
        placed[number] = packing.add(loads[number])
    if all(count == load.count for count, load in zip(placed, loads, strict=True)):
        return packing, placed
    other, in_order = _pack_slot_by_slot(slots, horizon, [loads[number] for number in order])
    other_placed = [in_order[order.index(number)] for number in range(len(loads))]
    if _hours(loads, other_placed) > _hours(loads, placed):
        return other, other_placed
    return packing, placed


def end_hours(slots: float, loads: Sequence[Load]) -> list[float]:
    """Return for each load the hours until its last task ends.

    Here time runs forwards: each task, longest first, goes to the slot that is free first.
    """
    ends = [load.wait + load.hours for load in loads]
    total = sum(load.count for load in loads)
    if slots >= total:
        return ends
    free = np.zeros(int(slots))
    for number in sorted(range(len(loads)), key=lambda number: (loads[number].wait, -loads[number].hours)):
        load = loads[number]
        np.maximum(free, load.wait, out=free)
        taken = _tasks_of_each_slot(free, load)
        free += taken * load.hours
        ends[number] = float(free[taken > 0].max())
    return ends


def _tasks_in_slot(horizon: float, filled: float, load: Load) -> int:
    """Return how many of these tasks still fit into a slot that is filled so far."""
    return int(max((horizon * SLACK - load.wait - filled) / load.hours, 0))


def _hours(loads: Sequence[Load], counts: Sequence[int]) -> float:
    return sum(load.hours * count for load, count in zip(loads, counts, strict=True))


def _pack_slot_by_slot(slots: float, horizon: float, loads: Sequence[Load]) -> tuple[Packing, list[int]]:
    """Return the slots filled one by one, and how many tasks of each load they hold.

    `loads` are in the order of packing. Slots that are filled alike are filled at once.
    """
    left = [load.count for load in loads]
    groups: list[tuple[float, float]] = []
    free = slots
    while free > 0 and any(left):
        filling = _best_filling(loads, left, horizon)
        if not any(filling):
            break
        alike = min([free, *(have // count for have, count in zip(left, filling, strict=True) if count)])
        groups.append((_hours(loads, filling), alike))
        free -= alike
        left = [have - count * int(alike) for have, count in zip(left, filling, strict=True)]
    if free > 0:
        groups.append((0.0, free))
    return Packing.of(groups, horizon), [load.count - rest for load, rest in zip(loads, left, strict=True)]


def _best_filling(loads: Sequence[Load], left: Sequence[int], horizon: float) -> list[int]:
    """Return how many tasks of each load fill one slot best, as far as TRIES lead.

    At least one of the longest tasks that are left is among them, if one fits.
    """
    best: tuple[float, list[int]] = (0.0, [0] * len(loads))
    tries = TRIES
    start = next(number for number, count in enumerate(left) if count)

    def extend(number: int, chosen: list[int], filled: float) -> None:
        nonlocal best, tries
        if filled > best[0]:
            best = (filled, chosen + [0] * (len(loads) - number))
        if number == len(loads) or best[0] >= horizon * FULL:
            return
        load = loads[number]
        most = _tasks_in_slot(horizon, filled, load)
        fewest = 1 if number == start and most else 0
        for count in range(min(most, left[number]), fewest - 1, -1):
            tries -= 1
            if tries < 0:
                return
            extend(number + 1, [*chosen, count], filled + count * load.hours)

    extend(start, [0] * start, 0.0)
    return best[1]


def _tasks_of_each_slot(free: Floats, load: Load) -> Floats:
    """Return how many tasks each slot takes, if the next task always goes to the slot that is free first."""
    low, high = 0, load.count
    floor = free.min()
    steps = (free - floor) / load.hours
    while low < high:  # the first round in which all have begun
        middle = (low + high) // 2
        if np.maximum(np.floor(middle - steps) + 1, 0).sum() >= load.count:
            high = middle
        else:
            low = middle + 1
    before = np.maximum(np.floor(low - 1 - steps) + 1, 0)
    last = np.flatnonzero(np.maximum(np.floor(low - steps) + 1, 0) > before)
    rest = load.count - int(before.sum())
    before[last[np.argsort((steps + before)[last], kind="stable")][:rest]] += 1
    return np.asarray(before, dtype=np.float64)
