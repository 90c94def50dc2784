"""What would do, where there is no plan: which deadline, which quotas, which budget. Whatever is named was tried."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from math import ceil, sqrt
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.explain.shortfall import Shortfall
from orchestrator.planner.model.arrays import SLACK
from orchestrator.planner.model.solution import DoesNotFit
from orchestrator.planner.pack.schedule import ends
from orchestrator.planner.solver.meet_goal import least_hours
from orchestrator.planner.solver.optimise import EXACT_CHOICES, EXACT_TASKS, optimise
from orchestrator.spec.duration import HOUR, MINUTE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeVar

    from orchestrator.planner.model.arrays import Booleans, Floats
    from orchestrator.planner.model.problem import Problem
    from orchestrator.planner.model.solution import Solution

    T = TypeVar("T")

FARTHEST = 365 * 24.0
STEPS = (1.0, 1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2.0, 3.0, 5.0)
"""Times what would be enough if tasks were fluid."""
FEW_STEPS = (1.03, 1.1, 1.3, 2.0, 4.0)
"""The same for a large problem, where each try takes seconds."""
NEAR = 1.01
LOOKS = 8
"""Between a step that does and the one before, until they are one percent apart."""
LIKELY = 4
"""Limits that are tried one by one."""


@dataclass(frozen=True)
class Raise:
    """More trainings at once, under each limit that lacks them."""

    lanes: dict[int, int]
    totals: dict[int, int]

    def __bool__(self) -> bool:
        return bool(self.lanes or self.totals)


def enough_time(problem: Problem, above: float) -> float | None:
    """Hours, in whole minutes, within which it can be done; None if a year is too short."""
    least = max(above, least_hours(problem), Shortfall(problem).least_horizon())
    if least > FARTHEST:
        return None
    found: dict[float, Solution] = {}

    def does(hours: float) -> bool:
        with suppress(DoesNotFit):
            found[hours] = optimise(problem.within(hours))
        return hours in found

    hours = _first(problem, lambda step: minutes(least * step), does)
    if hours is None or large(problem):
        return hours
    # It may end sooner than it was asked to.
    sooner = minutes(float(ends(found[hours]).max()))
    return sooner if above < sooner < hours and does(sooner) else hours


def enough_slots(problem: Problem, fixed: Booleans) -> Raise | None:
    """Of a problem within its horizon; None if no quotas help. Those of `fixed` lanes cannot be raised."""
    shortfall = Shortfall(problem)
    stays = np.concatenate([fixed[shortfall.lanes], np.zeros(len(problem.totals), dtype=bool)])
    try:
        lacking = shortfall.raises(stays)
    except DoesNotFit:
        return None

    def does(more: tuple[int, ...]) -> bool:
        return fits(_raised(problem, _named(shortfall, more)), problem.horizon)

    if lacking.max(initial=0.0) > 1e-6:
        found = _first(problem, lambda step: _whole(lacking * step), does)
    else:
        found = next(filter(does, _singles(shortfall, stays)), None)
    return None if found is None else _named(shortfall, found)


def enough_money(problem: Problem) -> float | None:
    """$, in whole cents, for which the promise can be given within the horizon; None if no money is enough.

    `problem` is within its horizon, and without a budget."""
    promised = replace(problem, choices=replace(problem.choices, usd=problem.choices.promise))
    try:
        least = Shortfall(problem).least_budget() if large(problem) else optimise(promised).promise
    except DoesNotFit:
        return None
    return _first(
        problem,
        lambda step: ceil(least * step * 100 - 1e-6) / 100,
        lambda budget: fits(replace(problem, budget=budget), problem.horizon),
    )


def fits(problem: Problem, horizon: float) -> bool:
    try:
        optimise(problem.within(horizon))
    except DoesNotFit:
        return False
    return True


def large(problem: Problem) -> bool:
    return len(problem.choices) > EXACT_CHOICES or problem.counts.sum() > EXACT_TASKS


def minutes(hours: float) -> float:
    """Rounded up to whole minutes, so that what is spelled out is enough."""
    return ceil(hours * HOUR / MINUTE / SLACK) * MINUTE / HOUR


def _first(problem: Problem, at: Callable[[float], T], does: Callable[[T], bool]) -> T | None:
    """What is there at the smallest step that does; looked for more closely where that takes no time."""
    before: float | None = None
    for step in FEW_STEPS if large(problem) else STEPS:
        if before is not None and at(step) == at(before):
            continue
        if does(at(step)):
            break
        before = step
    else:
        return None
    if before is None or large(problem):
        return at(step)
    for _ in range(LOOKS):
        middle = sqrt(before * step)
        if step <= before * NEAR or at(middle) in (at(before), at(step)):
            break
        before, step = (before, middle) if does(at(middle)) else (middle, step)
    return at(step)


def _whole(lacking: Floats) -> tuple[int, ...]:
    return tuple(np.ceil(lacking - 1e-6).astype(np.int64).tolist())


def _singles(shortfall: Shortfall, stays: Booleans) -> Iterator[tuple[int, ...]]:
    """Fluid tasks would fit, whole ones do not: one more here, or there, or two."""
    likely = [limit for limit in np.argsort(shortfall.unwanted, kind="stable").tolist() if not stays[limit]][:LIKELY]
    for more in (1, 2, 4):
        for limit in likely:
            yield tuple(more if limit == other else 0 for other in range(len(shortfall.slots)))


def _named(shortfall: Shortfall, more: tuple[int, ...]) -> Raise:
    lanes = len(shortfall.lanes)
    named = {int(lane): count for lane, count in zip(shortfall.lanes, more, strict=False) if count}
    return Raise(named, {number: count for number, count in enumerate(more[lanes:]) if count})


def _raised(problem: Problem, by: Raise) -> Problem:
    slots = problem.slots.copy()
    slots[list(by.lanes)] += list(by.lanes.values())
    totals = [
        replace(total, slots=total.slots + by.totals.get(number, 0)) for number, total in enumerate(problem.totals)
    ]
    return replace(problem, slots=slots, totals=tuple(totals))
