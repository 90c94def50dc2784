"""Whole tasks into the slots of one lane. Equal slots are a group with a count, so tasks are never counted out."""

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
    wait: float
    count: int


class Packing:
    """The slots of a lane, being filled.

    Time runs backwards here: a slot filled up to u takes a task that must wait g hours for its data, if it still ends
    (that is: begins) after g: u + hours <= horizon - g.
    """

    def __init__(self, slots: float, horizon: float) -> None:
        self._horizon = horizon
        self._groups: list[tuple[float, float]] = [(0.0, slots)] if slots > 0 else []
        """(hours filled, slots filled so far), in the order in which they are tried."""

    @classmethod
    def of(cls, groups: list[tuple[float, float]], horizon: float) -> Packing:
        packing = cls(0, horizon)
        packing._groups = groups
        return packing

    def copy(self) -> Packing:
        return Packing.of(self._groups, self._horizon)

    def open(self, slots: float) -> None:
        """So many more slots."""
        self._groups = [*self._groups, (0.0, slots)]

    def slots_for(self, load: Load, count: int) -> int:
        """Empty slots that so many of these tasks would take."""
        each = self._room(0.0, load)
        return -(-count // each) if each else 0

    def add(self, load: Load) -> int:
        """Puts as many of these tasks as fit, each into the first slot that takes it; how many those are."""
        left, groups = load.count, []
        for filled, slots in self._groups:
            each = self._room(filled, load)
            if each == 0 or left == 0:
                groups.append((filled, slots))
                continue
            full = int(min(slots, left // each))
            rest = left - full * each if full < slots else 0
            if full:
                groups.append((filled + each * load.hours, full))
            if rest:
                groups.append((filled + rest * load.hours, 1))
            if slots > full + bool(rest):
                groups.append((filled, slots - full - bool(rest)))
            left -= full * each + rest
        self._groups = groups
        return load.count - left

    def _room(self, filled: float, load: Load) -> int:
        return int(max((self._horizon * SLACK - load.wait - filled) / load.hours, 0))


def pack(slots: float, horizon: float, loads: Sequence[Load]) -> tuple[Packing, list[int]]:
    """The slots with these tasks in them, and how many of each load that are.

    Longest first; where that leaves some over, slot by slot, each as full as can be; whichever holds more hours.
    """
    order = sorted(range(len(loads)), key=lambda number: (-loads[number].wait, -loads[number].hours))
    packing, placed = Packing(slots, horizon), [0] * len(loads)
    for number in order:
        placed[number] = packing.add(loads[number])
    if all(count == load.count for count, load in zip(placed, loads, strict=True)):
        return packing, placed
    other, also = _slot_by_slot(slots, horizon, [loads[number] for number in order])
    also = [also[order.index(number)] for number in range(len(loads))]
    return (other, also) if _hours(loads, also) > _hours(loads, placed) else (packing, placed)


def _hours(loads: Sequence[Load], placed: Sequence[int]) -> float:
    return sum(load.hours * count for load, count in zip(loads, placed, strict=True))


def _slot_by_slot(slots: float, horizon: float, loads: Sequence[Load]) -> tuple[Packing, list[int]]:
    """`loads` in the order of packing. Equal slots are filled at once."""
    left = [load.count for load in loads]
    groups: list[tuple[float, float]] = []
    free = slots
    while free > 0 and any(left):
        ways = _best_filling(loads, left, horizon)
        filled = sum(load.hours * count for load, count in zip(loads, ways, strict=True))
        if not any(ways):
            break
        equal = min([free, *(have // count for have, count in zip(left, ways, strict=True) if count)])
        groups.append((filled, equal))
        free -= equal
        left = [have - count * int(equal) for have, count in zip(left, ways, strict=True)]
    if free > 0:
        groups.append((0.0, free))
    return Packing.of(groups, horizon), [load.count - rest for load, rest in zip(loads, left, strict=True)]


def _best_filling(loads: Sequence[Load], left: Sequence[int], horizon: float) -> list[int]:
    """Tasks of each load that fill one slot best, with one of the longest left among them, as far as TRIES lead."""
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
        room = int(max((horizon * SLACK - load.wait - filled) / load.hours, 0))
        for count in range(min(room, left[number]), 0 if number == start and room else -1, -1):
            tries -= 1
            if tries < 0:
                return
            extend(number + 1, [*chosen, count], filled + count * load.hours)

    extend(start, [0] * start, 0.0)
    return best[1]


def finish(slots: float, loads: Sequence[Load]) -> list[float]:
    """When the last task of each load ends, if each task, longest first, goes to the slot that is free first."""
    ends = [load.wait + load.hours for load in loads]
    total = sum(load.count for load in loads)
    if slots >= total:
        return ends
    free = np.zeros(int(slots))
    for number in sorted(range(len(loads)), key=lambda number: (loads[number].wait, -loads[number].hours)):
        load = loads[number]
        np.maximum(free, load.wait, out=free)
        taken = _shared_out(free, load)
        free += taken * load.hours
        ends[number] = float(free[taken > 0].max())
    return ends


def _shared_out(free: Floats, load: Load) -> Floats:
    """How many tasks each slot takes, if the next always goes to the slot that is free first."""
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
