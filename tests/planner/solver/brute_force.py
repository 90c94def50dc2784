"""Brute force, for small problems: every way to send tasks to places, each checked task by task and slot by slot."""

from __future__ import annotations

from functools import cache
from itertools import product
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.solution import Solution

if TYPE_CHECKING:
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
    longest_first = tuple(sorted(items, reverse=True))
    latest_end = float(min(problem.closes[lane], problem.horizon))
    return next((n for n in range(len(items) + 1) if fits(longest_first, (0.0,) * n, latest_end)), inf)


@cache
def fits(items: tuple[tuple[float, float], ...], filled: tuple[float, ...], horizon: float) -> bool:
    """Return whether there is a slot for each item (wait, hours), by trying them all, in reversed time."""
    if not items:
        return True
    (wait, hours), rest = items[0], items[1:]
    return any(
        fits(rest, tuple(sorted((*filled[:slot], filled[slot] + hours, *filled[slot + 1 :]))), horizon)
        for slot in range(len(filled))
        if filled[slot] + hours <= horizon - wait + 1e-9
    )
