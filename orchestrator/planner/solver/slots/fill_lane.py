"""Fills all slots of one lane with whole tasks, in the order in which they will start.

A program says about how many tasks of each kind a lane should take, in parts. What fits longest first is near that, but
rarely just that. Many numbers of tasks near it are played, and those that are worth most are taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.arrays import SLACK
from orchestrator.planner.pack.play import Load, fill, fits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

STEPS = (0.3, 0.1, 0.03, 0.01)
"""Changes of numbers of tasks that are tried, as parts of the slots."""
FEWEST_SLOTS = 100
"""The slots that steps are parts of at least: on a small lane, steps are of a few tasks."""
NEAR = 5e-4
"""The part of what the program puts there that may be missing, and is near enough."""
TRADES, TRIED = 40, 12
"""Trades that are made at most, and trades of which one is looked for that fits, the best first."""
OUT = (1, 2, 3)
"""Tasks of a kind that make room together."""
TINY = 1e-9


@dataclass(frozen=True)
class Wanted:
    """Equal tasks that a lane may take."""

    hours: float
    wait: float
    worth: float
    """What one of them is worth there, in $. It may be below 0."""
    about: float
    """The number that the program would put there, in parts."""
    most: int
    """The number that there are."""


@dataclass(frozen=True)
class Way:
    """A way to fill one slot: so many tasks of each kind."""

    counts: tuple[int, ...]
    part: float
    """The part of the slots that the program fills like this."""


@dataclass(frozen=True)
class LaneToFill:
    """The slots of a lane, the time until which all tasks must have ended, and what may go there."""

    slots: int
    until: float
    kinds: Sequence[Wanted]
    beyond: float
    """The part by which a task is worth less if the program would not have put it there."""

    def worth(self, counts: Sequence[int]) -> float:
        """Return what so many tasks of each kind are worth."""
        found = 0.0
        for kind, count in zip(self.kinds, counts, strict=True):
            more = count - kind.about
            found += kind.worth * (count - self.beyond * more if more > 0 else count)
        return found

    def as_many_as_fit(self, counts: Sequence[int]) -> list[int]:
        """Return as many of these tasks as there are, and end in time."""
        return fill(self.slots, self.until, self._loads(counts))

    def fits(self, counts: Sequence[int]) -> bool:
        return fits(self.slots, self.until, self._loads(counts))

    def _loads(self, counts: Sequence[int]) -> list[Load]:
        pairs = zip(self.kinds, counts, strict=True)
        return [Load(kind.hours, kind.wait, min(count, kind.most)) for kind, count in pairs]


def fill_lane(lane: LaneToFill, ways: Sequence[Way], tries: int) -> list[int]:
    """Return how many tasks of each kind to put into the slots of a lane.

    Look at so many numbers of tasks, beside those that the program's `ways` to fill one slot make.
    """
    starts = [lane.as_many_as_fit(start) for start in _starts(lane, ways)]
    return _trade(lane, _look_around(lane, max(starts, key=lane.worth), tries))


def _starts(lane: LaneToFill, ways: Sequence[Way]) -> Iterator[list[int]]:
    """Yield numbers of tasks to begin with: what the program says, in whole slots as well, and slots all alike."""
    yield [int(kind.about + 1e-6) for kind in lane.kinds]
    wished = [way.part * lane.slots for way in ways]
    times = [int(each + 1e-6) for each in wished]
    nearest_first = sorted(range(len(ways)), key=lambda number: times[number] - wished[number])
    for number in nearest_first[: max(lane.slots - sum(times), 0)]:
        times[number] += 1
    yield [sum(n * way.counts[kind] for n, way in zip(times, ways, strict=True)) for kind in range(len(lane.kinds))]
    for counts in dict.fromkeys(way.counts for way in ways):
        yield [count * lane.slots for count in counts]


def _look_around(lane: LaneToFill, best: list[int], tries: int) -> list[int]:
    """Return the best of so many numbers of tasks, each a random step away from the best before."""
    kinds, most = lane.kinds, [kind.most for kind in lane.kinds]
    enough = (1 - NEAR) * sum(kind.worth * kind.about for kind in kinds)
    shortest = min(range(len(kinds)), key=lambda number: (kinds[number].hours, -kinds[number].wait))
    value, seen = lane.worth(best), {tuple(best)}
    for number, step in enumerate(_steps(lane, tries)):
        if value >= enough:
            break
        counts = [min(max(a + b, 0), c) for a, b, c in zip(best, step, most, strict=True)]
        if number % 2:  # what is left at the end of slots is filled with the shortest
            counts[shortest] = most[shortest]
        if tuple(counts) in seen:
            continue
        seen.add(tuple(counts))
        counts = lane.as_many_as_fit(counts)
        worth = lane.worth(counts)
        if worth > value:
            best, value = counts, worth
    return best


def _steps(lane: LaneToFill, tries: int) -> list[list[int]]:
    """Return random changes of the numbers of tasks, always the same; about half of the kinds change at once."""
    random, shape = np.random.default_rng(0), (tries, len(lane.kinds))
    size = random.choice(STEPS, (tries, 1)) * max(lane.slots, FEWEST_SLOTS)
    steps = np.where(random.random(shape) < 0.5, random.normal(size=shape) * size, 0.0)
    found: list[list[int]] = np.rint(steps).astype(np.int64).tolist()
    return found


def _trade(lane: LaneToFill, counts: list[int]) -> list[int]:
    """Return these tasks after trades that are each worth something, until none is found."""
    worth = lane.worth(counts)
    for _ in range(TRADES):
        trades = [(lane.worth(trade) - worth, trade) for trade in _trades(lane, counts)]
        best_first = sorted((each for each in trades if each[0] > TINY), key=lambda each: (-each[0], each[1]))
        made = next(((gain, trade) for gain, trade in best_first[:TRIED] if lane.fits(trade)), None)
        if made is None:
            break
        worth, counts = worth + made[0], made[1]
    return counts


def _trades(lane: LaneToFill, counts: list[int]) -> Iterator[list[int]]:
    """Yield the tasks after each trade that might fit: some of one kind come in, for some of another, or for none."""
    hours = [kind.hours for kind in lane.kinds]
    free = lane.slots * lane.until * SLACK - sum(a * b for a, b in zip(hours, counts, strict=True))
    for into, kind in enumerate(lane.kinds):
        room = kind.most - counts[into]
        more = min(int(free / kind.hours), room)
        for count in {more, (more + 1) // 2, 1} if more >= 1 else ():
            yield [*counts[:into], counts[into] + count, *counts[into + 1 :]]
        for out, taken in ((out, taken) for out in range(len(hours)) if out != into for taken in OUT):
            more = min(int((free + taken * hours[out]) / kind.hours), room)
            if taken <= counts[out] and more >= 1:
                trade = counts.copy()
                trade[out] -= taken
                trade[into] += more
                yield trade
