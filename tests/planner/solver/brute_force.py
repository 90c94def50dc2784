"""Brute force, for small problems: every way to send tasks to places, each played task by task and slot by slot."""

from __future__ import annotations

from itertools import product
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.solution import Solution

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.planner.model.problem import Problem


def least_usd(problem: Problem) -> float:
    """Return the least cost of all ways to send tasks to places; inf if none works."""
    best = inf
    first = problem.first_choice
    parts = [list(splits(int(count), first[k + 1] - first[k])) for k, count in enumerate(problem.counts.tolist())]
    for way in product(*parts):
        tasks = np.array([count for part in way for count in part], dtype=np.int64)
        usd = Solution(problem, tasks, 0.0).usd
        if usd < best - 1e-9 and keeps_every_limit(problem, tasks):
            best = usd
    return best


def splits(count: int, parts: int) -> list[tuple[int, ...]]:
    """Return all ways to write count as a sum of so many parts."""
    if parts == 0:
        return [()] if count == 0 else []
    return [(n, *rest) for n in range(count + 1) for rest in splits(count - n, parts - 1)]


def keeps_every_limit(problem: Problem, tasks: np.ndarray) -> bool:
    """Return whether these tasks keep the budget, the pools, the hours of each lane, and every quota."""
    if (problem.drawn_usd(tasks) > problem.funds + 1e-9).any():
        return False
    if Solution(problem, tasks, 0.0).promise > problem.budget + 1e-9:
        return False
    slots = np.array([fewest_slots(problem, tasks, lane) for lane in range(problem.lanes)])
    return bool(np.isfinite(slots).all()) and all(
        sum(units * slots[lane] for lane, units in zip(limit.lanes, limit.units, strict=True)) <= limit.free
        for limit in problem.limits
    )


def fewest_slots(problem: Problem, tasks: np.ndarray, lane: int) -> float:
    """Return the fewest slots of the lane that hold its tasks; inf if no slots do."""
    choices = problem.choices
    rows = np.flatnonzero((choices.lane == lane) & (tasks > 0))
    items = [(float(choices.wait[row]), float(choices.hours[row])) for row in rows for _ in range(tasks[row])]
    latest_end = float(min(problem.closes[lane], problem.horizon))
    enough = (n for n in range(1, len(items) + 1) if last_end(items, n) <= latest_end + 1e-9)
    return next(enough, inf) if items else 0


def last_end(items: Sequence[tuple[float, float]], slots: int) -> float:
    """Return when the last of these items (wait, hours) ends: longest first, each starts where a slot is free first.

    Those that wait hold up those behind them, unless each has a slot of its own.
    """
    if slots >= len(items):
        return max(wait + hours for wait, hours in items)
    free, start = [0.0] * slots, 0.0
    for wait, hours in sorted(items, key=lambda item: (-item[1], item[0])):
        first = free.index(min(free))
        start = max(start, free[first], wait)
        free[first] = start + hours
    return max(free)
