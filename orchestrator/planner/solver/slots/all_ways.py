"""All ways to fill one slot, where tasks have few lengths: then the best of them is looked up for all lanes at once.

Lanes on which tasks take equally long share their list of ways.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.arrays import SLACK

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Floats, Integers

MOST_WAYS = 4_000
"""Ways to fill a slot of which a list is made."""
MOST_NUMBERS = 8_000_000
"""Numbers in all lists together."""


@dataclass(frozen=True)
class Slot:
    """A slot of a lane, from the time on for which tasks wait."""

    lane: int
    hours: float
    """Hours that it is open for, without the slack."""
    kinds: tuple[float, ...]
    """The lengths of tasks that fit into it, the longest first."""


@dataclass(frozen=True)
class Lookup:
    """Slots that tasks of the same lengths fit into, and all ways to fill one of them."""

    numbers: Integers
    """The numbers of the slots."""
    ways: Integers
    """A row for each way: how many tasks of each length it has, the longest first. None has room for one task more."""

    def best(self, worth: Floats) -> tuple[Integers, Floats]:
        """Return for each slot the way that is worth most, and what that is worth.

        `worth` says for each slot what a task of each length is worth there; nothing is worth less than nothing.
        """
        values = np.zeros((len(worth), len(self.ways)))
        for kind in range(self.ways.shape[1]):  # a product of matrices may differ in last bits between machines
            values += np.maximum(worth[:, kind], 0.0)[:, None] * self.ways[:, kind][None, :]
        best = values.argmax(axis=1)
        return self.ways[best], values[np.arange(len(best)), best]


def make_lookups(slots: list[Slot], most_ways: int = MOST_WAYS) -> tuple[list[Lookup], Integers]:
    """Return lists for those slots that can be filled in few ways; and the numbers of the other slots."""
    alike: dict[tuple[float, tuple[float, ...]], list[int]] = {}
    for number, slot in enumerate(slots):
        alike.setdefault((slot.hours, slot.kinds), []).append(number)
    found, others, room = [], [], MOST_NUMBERS
    for (hours, kinds), numbers in alike.items():
        ways = all_ways(kinds, hours, most_ways) if room > 0 else None
        if ways is None:
            others += numbers
        else:
            room -= ways.size
            found.append(Lookup(np.array(numbers), ways))
    return found, np.array(sorted(others), dtype=np.int64)


def all_ways(kinds: tuple[float, ...], hours: float, most_ways: int = MOST_WAYS) -> Integers | None:
    """Return all ways to fill a slot that is open for so long, each with as many of the shortest tasks as still fit.

    None if there are more than `most_ways`. `kinds` are the lengths of tasks, the longest first.
    """
    ways, left = np.zeros((1, 0), dtype=np.int64), np.array([hours * SLACK])
    for length in kinds[:-1]:
        most = np.floor(left / length).astype(np.int64)
        if int((most + 1).sum()) > most_ways:
            return None
        before = np.repeat(np.arange(len(ways)), most + 1)
        count = np.arange(len(before)) - np.repeat(np.cumsum(most + 1) - (most + 1), most + 1)
        ways = np.concatenate([ways[before], count[:, None]], axis=1)
        left = left[before] - count * length
    last = np.floor(np.maximum(left, 0.0) / kinds[-1]).astype(np.int64)
    return np.concatenate([ways, last[:, None]], axis=1)
