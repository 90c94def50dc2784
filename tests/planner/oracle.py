"""An oracle for small sweeps, written from docs/planner-model.md alone: every way to send tasks to lanes is looked at.

It knows neither the planner's arrays nor its solver: lanes, tasks, prices and quotas go in, and the least cost out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product
from math import exp, inf

import numpy as np

SAME = 1 + 1e-9
"""Hours that differ by a billionth are the same."""
INTERRUPTIONS, RESTART = 0.05, 0.1
"""What is taken for granted of spot: interruptions an hour, and the hours of a restart."""


@dataclass(frozen=True)
class Group:
    """Equal tasks: a cohort."""

    hours: float
    count: int
    regions: frozenset[str]
    """Where their data lies."""


@dataclass(frozen=True)
class OracleLane:
    region: str
    spot: bool
    usd_per_hour: float
    slots: int

    def hours(self, hours: float) -> float:
        """Return the hours that a task without checkpoints holds a slot here."""
        return (1 / INTERRUPTIONS + RESTART) * (exp(INTERRUPTIONS * hours) - 1) if self.spot else hours


def least_usd(
    groups: tuple[Group, ...], lanes: tuple[OracleLane, ...], totals: dict[str, int], horizon: float
) -> float:
    """Return the least cost of all tasks, or inf. `totals` says how many slots the lanes of a Region have together."""
    shape = tuple(group.count + 1 for group in groups)
    best = inf
    for slots in product(*(range(lane.slots + 1) for lane in lanes)):
        if _fewer_would_do(lanes, slots, totals):
            continue
        usd = np.full(shape, inf)
        """The least cost of so many tasks of each group, on the lanes so far."""
        usd[(0,) * len(shape)] = 0.0
        for lane, held in zip(lanes, slots, strict=True):
            usd = _with_lane(usd, groups, lane, held, horizon)
        best = min(best, float(usd[tuple(group.count for group in groups)]))
    return best


def _fewer_would_do(lanes: tuple[OracleLane, ...], slots: tuple[int, ...], totals: dict[str, int]) -> bool:
    """Return whether a lane has more slots than its Region, or could have one more: then other slots are as good."""
    used = dict.fromkeys(totals, 0)
    for lane, held in zip(lanes, slots, strict=True):
        used[lane.region] = used.get(lane.region, 0) + held
    left = {region: totals.get(region, 10**6) - held for region, held in used.items()}
    more = any(held < lane.slots and left[lane.region] > 0 for lane, held in zip(lanes, slots, strict=True))
    return min(left.values()) < 0 or more


def _with_lane(usd: np.ndarray, groups: tuple[Group, ...], lane: OracleLane, slots: int, horizon: float) -> np.ndarray:
    hours = tuple(lane.hours(group.hours) for group in groups)
    most = tuple(group.count if lane.region in group.regions else 0 for group in groups)
    found = np.full_like(usd, inf)
    for counts in _all_that_fit(hours, most, slots, horizon):
        cost = lane.usd_per_hour * sum(count * each for count, each in zip(counts, hours, strict=True))
        to = tuple(slice(count, None) for count in counts)
        before = tuple(slice(None, size - count) for count, size in zip(counts, usd.shape, strict=True))
        np.minimum(found[to], usd[before] + cost, out=found[to])
    return found


@cache
def _all_that_fit(hours: tuple[float, ...], most: tuple[int, ...], slots: int, horizon: float) -> list[tuple[int, ...]]:
    """Return all numbers of tasks that end by the horizon, if they start longest first where a slot is free first."""
    found = []
    for counts in product(*(range(each + 1) for each in most)):
        tasks = sorted((each for each, count in zip(hours, counts, strict=True) for _ in range(count)), reverse=True)
        free = [0.0] * slots
        for task in tasks:
            if not free or min(free) + task > horizon * SAME:
                break
            free[free.index(min(free))] += task
        else:
            found.append(counts)
    return found
