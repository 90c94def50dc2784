"""The lanes while they are being filled: their slots, what their limits leave to them, and what pools still pay for."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.arrays import SLACK
from orchestrator.planner.model.choices import NO_POOL
from orchestrator.planner.pack.play import Load, fill, fits
from orchestrator.planner.pack.schedule import loads_by_lane

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.planner.model.arrays import Floats, Integers
    from orchestrator.planner.model.problem import Problem


class Lanes:
    """Holds tasks in slots. A lane that shares a limit takes as few slots as it can, and more only when it must."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._units = np.array([problem.units_on(limit) for limit in problem.shared_limits]).reshape(-1, problem.lanes)
        """Units that one slot takes: a row for each shared limit, a column for each lane."""
        self._sharing = frozenset(problem.sharing_lanes.tolist())
        self._spare = np.array([limit.free for limit in problem.shared_limits])
        """Units of each shared limit that no lane has."""
        self._funds = problem.funds.copy()
        """Dollars that each pool still has."""
        self.slots: Floats = problem.most_slots.copy()
        """The slots that each lane has so far."""
        self.slots[problem.sharing_lanes] = 0
        self._held: dict[int, tuple[Load, ...]] = {}
        """The tasks on each lane so far."""
        self._full: dict[int, tuple[float, float]] = {}
        """The wait and hours of a task that found no room on a lane: what waits and takes as long will find none."""

    def copy(self) -> Lanes:
        other = copy(self)
        other._spare, other._funds, other.slots = self._spare.copy(), self._funds.copy(), self.slots.copy()
        other._held, other._full = self._held.copy(), self._full.copy()
        return other

    def add_all(self, tasks: Integers, slots: Floats | None = None) -> Integers:
        """Put in as many of these tasks as fit, while the lanes are empty. Return how many tasks of each choice fit.

        `slots` of each lane that are about enough save time, where they are known.
        """
        placed = np.zeros_like(tasks)
        for lane, rows, loads in loads_by_lane(self._problem, tasks):
            paid = [self._pay(row, load) for row, load in zip(rows.tolist(), loads, strict=True)]
            if lane in self._sharing:
                self._set_slots(lane, self._fewest_slots(lane, paid, None if slots is None else int(slots[lane])))
            counts = fill(self.slots[lane], self._problem.latest_end[lane], paid)
            for row, load, count in zip(rows.tolist(), paid, counts, strict=True):
                self._refund(row, load.count - count)
                placed[row] = count
                self._hold(lane, replace(load, count=count))
        return placed

    def add(self, row: int, count: int) -> int:
        """Put in as many of so many tasks of a choice as fit. Return how many those are."""
        choices = self._problem.choices
        lane = int(choices.lane[row])
        load = self._pay(row, Load(float(choices.hours[row]), float(choices.wait[row]), count))
        placed = self._room_for(lane, load)
        if placed < load.count and self._slots_to_gain(lane):
            loads = (*self._held.get(lane, ()), load)
            self._set_slots(lane, self._fewest_slots(lane, loads, int(self.slots[lane])))
            placed = self._room_for(lane, load)
        self._hold(lane, replace(load, count=placed))
        self._refund(row, load.count - placed)
        return placed

    def has_room(self, row: int, count: int) -> bool:
        """Return whether `add` would put in all of so many tasks. Everything stays as it is."""
        choices = self._problem.choices
        lane = int(choices.lane[row])
        asked = Load(float(choices.hours[row]), float(choices.wait[row]), count)
        paid = self._pay(row, asked)
        self._refund(row, paid.count)
        until, loads = self._problem.latest_end[lane], (*self._held.get(lane, ()), asked)
        slots = self.slots[lane] + self._slots_to_gain(lane)
        in_time = slots >= 1 and asked.wait + asked.hours <= until * SLACK
        return paid == asked and in_time and fits(slots, until, loads)

    def _room_for(self, lane: int, load: Load) -> int:
        """Return how many of these tasks the lane's slots can hold beside what they hold already."""
        held, slots, until = self._held.get(lane, ()), self.slots[lane], self._problem.latest_end[lane]
        wait, least = self._full.get(lane, (np.inf, np.inf))
        if slots < 1 or load.wait + load.hours > until * SLACK or (load.wait >= wait and load.hours >= least):
            return 0
        hours = slots * until * SLACK - sum(other.hours * other.count for other in held)
        low, high = 0, max(min(load.count, int(min(hours / load.hours, load.count) + 1e-6)), 0)
        if not high:
            return 0
        if fits(slots, until, (*held, replace(load, count=high))):
            return high
        low = 1 if high > 1 and fits(slots, until, (*held, replace(load, count=1))) else 0  # mostly, none fits either
        while low and high > low + 1:
            middle = (low + high) // 2
            if fits(slots, until, (*held, replace(load, count=middle))):
                low = middle
            else:
                high = middle
        self._full[lane] = load.wait, load.hours
        return low

    def _hold(self, lane: int, load: Load) -> None:
        """Add these tasks to those that the lane holds."""
        if not load.count:
            return
        alike, others = 0, []
        for other in self._held.get(lane, ()):
            if (other.hours, other.wait) == (load.hours, load.wait):
                alike += other.count
            else:
                others.append(other)
        self._held[lane] = (*others, replace(load, count=alike + load.count))

    def _slots_to_gain(self, lane: int) -> float:
        """Return how many more slots the lane could have."""
        if lane not in self._sharing:
            return 0.0
        units = self._units[:, lane]
        spare = np.floor(self._spare[units > 0] / units[units > 0] + 1e-9)
        return float(min(self._problem.most_slots[lane] - self.slots[lane], spare.min()))

    def _set_slots(self, lane: int, slots: float) -> None:
        """Give the lane so many slots, and take their units from its limits."""
        self._full.pop(lane, None)
        self._spare -= self._units[:, lane] * (slots - self.slots[lane])
        self.slots[lane] = slots

    def _fewest_slots(self, lane: int, loads: Sequence[Load], about: int | None) -> float:
        """Return the fewest slots that hold all these tasks, or all that the lane can have if that is less.

        `about` is a number of slots that is about enough, where one is known. The answer is no less than that.
        """
        until, most = self._problem.latest_end[lane], int(self.slots[lane] + self._slots_to_gain(lane))
        if about is None:
            busy = sum(load.hours * load.count for load in loads)
            high = max(int(np.ceil(busy / until * (1 - 1e-9))), 1)
        else:
            high = about
        low, high, step = 0 if about is None else about - 1, min(high, most), 1
        while high < most and not fits(high, until, loads):
            low, high, step = high, min(high + step, most), step * 2
        while high > low + 1:
            middle = (low + high) // 2
            low, high = (low, middle) if fits(middle, until, loads) else (middle, high)
        return high

    def _pay(self, row: int, load: Load) -> Load:
        """Let the choice's pool pay for these tasks. Return those that it can pay for; all, if no pool is needed."""
        pool, draw = self._problem.choices.pool[row], self._problem.choices.draw[row]
        if pool == NO_POOL or draw <= 0:
            return load
        paid = min(load.count, int(self._funds[pool] / draw + 1e-9))
        self._funds[pool] -= paid * draw
        return Load(load.hours, load.wait, paid)

    def _refund(self, row: int, count: int) -> None:
        """Give the choice's pool back what it paid for so many tasks that did not fit."""
        pool = self._problem.choices.pool[row]
        if pool != NO_POOL:
            self._funds[pool] += count * self._problem.choices.draw[row]


def share_out_spare_slots(problem: Problem, tasks: Integers, slots: Floats) -> Floats:
    """Return these slots of each lane, and with them what they leave of shared limits, shared out in proportion.

    Call it once all tasks are placed: with more slots at once, they end sooner.
    """
    under = problem.sharing_lanes
    if not len(under):
        return problem.most_slots
    count = np.bincount(problem.choices.lane, weights=tasks, minlength=len(slots))
    found = problem.most_slots.copy()

    def scaled(factor: float) -> Floats:
        found[under] = np.minimum(np.floor(slots * factor + 1e-9), np.minimum(problem.most_slots, count))[under]
        return found

    low, high = 1.0, max(float(count.max(initial=1.0)), 2.0)
    for _ in range(40):
        middle = (low + high) / 2
        more = scaled(middle)
        if all(limit.used(more) <= limit.free for limit in problem.shared_limits):
            low = middle
        else:
            high = middle
    return scaled(low)
