"""Finds what would do, where there is no plan: a deadline, quotas, or a budget. Whatever is returned was tried."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from math import ceil, sqrt
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.explain.hours_for_budget import find_hours_for_budget
from orchestrator.planner.explain.shortfall import Shortfall
from orchestrator.planner.model.arrays import SLACK
from orchestrator.planner.model.solution import DoesNotFit
from orchestrator.planner.pack.schedule import end_hours_by_choice
from orchestrator.planner.solver.meet_goal import least_hours
from orchestrator.planner.solver.optimise import find_least_promise, find_room, is_large
from orchestrator.spec.duration import HOUR, MINUTE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import TypeVar

    from orchestrator.planner.model.arrays import Booleans, Floats
    from orchestrator.planner.model.problem import Problem
    from orchestrator.planner.model.solution import Solution

    T = TypeVar("T")
    Room = Callable[[Problem, float], Solution]

LONGEST = 365 * 24.0
"""Hours of the longest deadline that is thought of."""
FEW_MINUTES, SOME_SECONDS = 60, 5
"""Minutes up to which a deadline is rounded to so many seconds: a whole minute would be much more than is needed."""
STEPS = (1.0, 1.01, 1.03, 1.08, 1.2, 1.5, 2.0, 3.0, 5.0)
"""Factors that are tried, one after the other: so many times what would be enough if tasks were fluid."""
FEW_STEPS = (1.0, 1.02, 1.05, 1.1, 1.3, 2.0, 4.0)
"""Factors that are tried for a large problem, where each try may take a second."""
LONGER = (1.003, 1.01, 1.02, 1.03, 1.05, 1.1, 1.3, 2.0)
"""Factors that tasks count as longer by, where the quotas of a huge problem are raised: whole tasks fill slots less."""
NEAR, NEAR_FOR_LARGE = 1.02, 1.03
"""The factor between two steps that are near enough."""
HUGE = 20_000
"""Choices from which on a try takes so long that none is made between two steps."""
LOOKS = 8
"""Steps that are tried between the first that works and the one before, until they are near enough."""
MOST_TIMES = 10.0
"""No limit is raised to more than so many times what it is, if others could be raised instead."""
LIKELY = 4
"""Limits that are raised one by one, where fluid tasks would fit and whole ones do not."""


def room_within(problem: Problem, hours: float) -> Solution:
    """Return a solution within so many hours, whatever it costs; DoesNotFit if none is found."""
    return find_room(problem.within(hours))


def find_enough_hours(problem: Problem, above: float, room: Room = room_within, likely: float = np.inf) -> float | None:
    """Return hours that are easily spelled out, and no fewer than `above`, within which all tasks can run.

    None if a year is too short. Hours that are `likely` to do are tried first. Here as below, `room` finds a solution
    of the problem, or of one with other limits.
    """
    least = max(above, least_hours(problem))
    if is_large(problem) and np.isfinite(problem.budget):
        least = find_hours_for_budget(problem, least)
    else:
        least = max(least, Shortfall(problem).least_horizon())
    if least > LONGEST:
        return None
    found: dict[float, Solution] = {}

    def works(hours: float) -> bool:
        with suppress(DoesNotFit):
            found[hours] = room(problem, hours)
        return hours in found

    does = least < likely < LONGEST and works(round_up_hours(likely))
    enough = round_up_hours(likely) / least if does else np.inf
    hours = _smallest_that_works(problem, lambda step: round_up_hours(least * step), works, enough)
    if hours is None or is_large(problem):
        return hours
    # The solution may well end sooner than it had to.
    sooner = round_up_hours(float(end_hours_by_choice(found[hours]).max()))
    return sooner if above < sooner < hours and works(sooner) else hours


def find_enough_units(problem: Problem, fixed: Booleans, room: Room = room_within) -> dict[int, int] | None:
    """Return by how many units which limits must be raised, by their numbers, for all tasks to fit.

    None if that does not help. `problem` is within its horizon. The limits that are `fixed` cannot be raised.
    """
    shortfall = Shortfall(problem)
    try:
        missing = shortfall.missing_steps(fixed, most=MOST_TIMES)
    except DoesNotFit:
        try:
            missing = shortfall.missing_steps(fixed)
        except DoesNotFit:
            return None

    def works(steps: tuple[int, ...]) -> bool:
        return has_solution(with_more_units(problem, _units(problem, steps)), problem.horizon, room)

    if missing.max(initial=0.0) > 1e-6 and len(problem.choices) > HUGE:
        found = next(filter(works, _raises_for_longer(shortfall, fixed)), None)
    else:
        found = None
        if missing.max(initial=0.0) > 1e-6:
            found = _smallest_that_works(problem, lambda factor: _round_up(missing * factor), works)
        if found is None:
            found = next(filter(works, _single_raises(shortfall, fixed)), None)
        if found is not None:
            found = _trimmed(found, shortfall.free / shortfall.steps, works)
    return None if found is None else _units(problem, found)


def least_promise_within(problem: Problem, hours: float) -> Solution:
    """Return a solution within so many hours that promises about as little as can be; DoesNotFit if none is found."""
    return find_least_promise(problem.within(hours))


def find_enough_dollars(problem: Problem, least_promise: Room = least_promise_within) -> float | None:
    """Return a budget, in $ and whole cents, that can be promised within the horizon; None if no money is enough.

    `problem` is within its horizon, and has no budget.
    """
    try:
        promise = least_promise(problem, problem.horizon).promise
    except DoesNotFit:
        return None
    return ceil(promise * 100 - 1e-6) / 100


def has_solution(problem: Problem, horizon: float, room: Room = room_within) -> bool:
    """Return whether all tasks can run within this horizon."""
    try:
        room(problem, horizon)
    except DoesNotFit:
        return False
    return True


def round_up_hours(hours: float) -> float:
    """Return the hours rounded up to whole minutes, and the few to some seconds: what is spelled out is enough."""
    step = MINUTE if hours * HOUR > FEW_MINUTES * MINUTE else SOME_SECONDS
    return ceil(hours * HOUR / step / SLACK) * step / HOUR


def _smallest_that_works(
    problem: Problem, at: Callable[[float], T], works: Callable[[T], bool], enough: float = np.inf
) -> T | None:
    """Return what `at` gives for the smallest step that works; None if no step works. One that is `enough` does.

    Between that step and the one before, it is looked at more closely, but for huge problems.
    """
    is_huge = len(problem.choices) > HUGE
    steps, near = (FEW_STEPS[is_huge:], NEAR_FOR_LARGE) if is_large(problem) else (STEPS, NEAR)
    before: float | None = None
    if enough <= near:
        return at(enough)
    known = (enough,) if np.isfinite(enough) else ()
    for step in (*(each for each in steps if each < enough), *known):
        if step == enough:
            break
        if before is not None and at(step) == at(before):
            continue
        if works(at(step)):
            break
        before = step
    else:
        return None
    if before is None or is_huge:
        return at(step)
    for _ in range(LOOKS):
        middle = sqrt(before * step)
        if step <= before * near or at(middle) in (at(before), at(step)):
            break
        if works(at(middle)):
            step = middle
        else:
            before = middle
    return at(step)


def _round_up(steps: Floats) -> tuple[int, ...]:
    return tuple(np.ceil(steps - 1e-6).astype(np.int64).tolist())


def _raises_for_longer(shortfall: Shortfall, fixed: Booleans) -> Iterator[tuple[int, ...]]:
    """Yield raises, in steps, that would be enough for tasks that are fluid and a little longer, then longer still."""
    for longer in LONGER:
        with suppress(DoesNotFit):
            try:
                missing = shortfall.missing_steps(fixed, MOST_TIMES, longer)
            except DoesNotFit:
                missing = shortfall.missing_steps(fixed, longer=longer)
            yield _round_up(missing)


def _single_raises(shortfall: Shortfall, fixed: Booleans) -> Iterator[tuple[int, ...]]:
    """Yield raises of one limit each, in steps: one more here, or there, then two more, then four, up to 16.

    They are for a problem that fluid tasks would fit, and whole ones do not.
    """
    wanted_first = np.argsort(shortfall.unwanted, kind="stable").tolist()
    likely = [limit for limit in wanted_first if not fixed[limit]][:LIKELY]
    for more in (1, 2, 4, 8, 16):
        for limit in likely:
            yield tuple(more if limit == other else 0 for other in range(len(shortfall.free)))


def _trimmed(raised: tuple[int, ...], free: Floats, works: Callable[[tuple[int, ...]], bool]) -> tuple[int, ...]:
    """Return a raise that works with about as few steps of each limit as still do, those that are raised most first.

    `free` says how many steps each limit has already.
    """
    found, looks = list(raised), LOOKS
    for limit in sorted(range(len(raised)), key=lambda number: -raised[number]):
        enough = found[limit]
        near = max(int((NEAR - 1) * (free[limit] + enough)), 1)
        low, middle = -1, max(enough - near, 0)  # it is mostly just enough, so what is hardly less is tried first
        while enough > max(low, 0) and looks:
            looks -= 1
            if works((*found[:limit], middle, *found[limit + 1 :])):
                enough = middle
            else:
                low = middle
            if enough - low <= near:
                break
            middle = (low + enough) // 2
        found[limit] = enough
    return tuple(found)


def _units(problem: Problem, steps: tuple[int, ...]) -> dict[int, int]:
    """Return the units of so many steps of each limit, by the numbers of those that have some."""
    return {number: count * problem.limits[number].step for number, count in enumerate(steps) if count}


def with_more_units(problem: Problem, more: Mapping[int, int]) -> Problem:
    """Return the problem with so many more units of the limits that have these numbers."""
    limits = (replace(limit, free=limit.free + more.get(number, 0)) for number, limit in enumerate(problem.limits))
    return replace(problem, limits=tuple(limits))
