"""Tells when tasks end, their starts included, and keeps a deadline in spite of these.

The solver counts the hours that trainings take. A training holds its slot for longer: it may wait for machines, then
image and data come first, and its end takes time as well. And a Region starts only so many in a second: it gives its
first slots out one after the other, and all that follows in a slot is as late as its first. Where tasks are so short
that slots are free before they can be given out, the starts alone say when all is done.

So a solution is played with its starts. Only if that misses the deadline, the solver counts them too: it is slower so.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.arrays import SLACK
from orchestrator.planner.model.problem import Limit
from orchestrator.planner.model.solution import DoesNotFit, NotFound, Solution
from orchestrator.planner.pack.schedule import end_hours_by_choice
from orchestrator.planner.solver.meet_goal import meet_goal
from orchestrator.planner.solver.optimise import optimise

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from orchestrator.planner.model.arrays import Floats, Integers
    from orchestrator.planner.model.problem import Problem
    from orchestrator.planner.model.time_limit import TimeLimit
    from orchestrator.planner.offer.offer import Offer
    from orchestrator.spec.goal import Goal

TRIES = 5
"""Times that the solver is asked, each for as much less time as the last task was late."""


class StartsTooLate(Exception):
    """Raised where there is room for the tasks, and some would end too late, as they have to start and end."""

    def __init__(self, solution: Solution) -> None:
        super().__init__()
        self.solution = solution
        """One that is in time but for its starts."""


def with_starts(solution: Solution, offer: Offer) -> Solution:
    """Return the solution with the hours that tasks hold their slots: their starts and ends included."""
    return replace(solution, problem=held_problem(offer, solution.problem))


def held_problem(offer: Offer, problem: Problem) -> Problem:
    """Return a problem of the offer in which tasks take the hours that they hold their slots."""
    choices = problem.choices
    return replace(problem, choices=replace(choices, hours=choices.hours + _held_besides(offer)[choices.lane]))


def end_hours(solution: Solution, offer: Offer) -> Floats:
    """Return for each choice the hours until its last task ends, starts included; 0 for a choice without tasks."""
    return _end_hours(with_starts(solution, offer), offer)


def _end_hours(slow: Solution, offer: Offer) -> Floats:
    """Return the same of a solution whose tasks take the hours that they hold their slots."""
    ends = end_hours_by_choice(slow, offer.busy)
    rates = _rates(offer)
    if np.isinf(rates).all():
        return ends
    choices, on_lane, sites = slow.problem.choices, _tasks_on_lanes(slow), _sites(offer)
    first_starts = np.bincount(sites, weights=np.minimum(on_lane, slow.slots))[sites] / rates
    one_by_one = _hours_to_start(on_lane, sites, rates)[choices.lane] + choices.wait + choices.hours
    return np.where(slow.tasks > 0, np.maximum(ends + first_starts[choices.lane], one_by_one), 0.0)


def solve_in_time(offer: Offer, goal: Goal, time_limit: TimeLimit) -> Solution:
    """Return the solution that the goal asks for, whose starts keep its deadline, too.

    DoesNotFit if there is no room for the tasks. StartsTooLate if there is, but not for their starts.
    """
    found = _solve_in_time(offer, goal, time_limit)
    if goal.fastest and (_held_besides(offer).any() or np.isfinite(_rates(offer)).any()):
        ends = float(end_hours(found, offer).max(initial=0.0))
        return replace(found, bound=_least_usd_until(ends, found, offer, time_limit))
    return found


def _least_usd_until(hours: float, found: Solution, offer: Offer, time_limit: TimeLimit) -> float:
    """Return the $ that all solutions cost at least whose tasks end by then, starts included; 0 if nothing is proven.

    The fastest solution was found without starts. With them another may end as soon, and be cheaper.
    """
    held = held_problem(offer, offer.problem)
    choices, deadline = held.choices, max(hours, held.deadline)
    ends_in_time = choices.hours + choices.wait + choices.spare <= deadline * SLACK
    # Each task is held to its own spare hours here, and no lane to the most of them: so it is when starts are played.
    choices = replace(choices.take(ends_in_time), spare=np.zeros(int(ends_in_time.sum())))
    try:
        return optimise(replace(held, choices=choices, budget=found.problem.budget).within(hours), time_limit).bound
    except DoesNotFit:
        return 0.0


def _solve_in_time(offer: Offer, goal: Goal, time_limit: TimeLimit) -> Solution:
    """Return the same, with a bound that a fastest solution has without starts."""
    first = meet_goal(offer.problem, goal, time_limit)
    if goal.deadline is None or _late_hours(with_starts(first, offer), offer, goal.hours) <= 0:
        return first

    def solve(problem: Problem, hours: float) -> Solution:
        if time_limit.is_out:
            raise NotFound
        return meet_goal(problem, goal, time_limit, hours)

    too_many = starts_too_many(first, offer, goal.hours)
    try:
        slow = fit_starts(held_problem(offer, offer.problem), offer, goal.hours, solve, is_limited=too_many)
    except DoesNotFit:
        raise StartsTooLate(first) from None
    proven = slow.bound or (0.0 if goal.fastest else _least_usd_until(goal.hours, slow, offer, time_limit))
    return replace(_as_planned(slow, offer), bound=max(first.bound, proven))


def fit_starts(
    held: Problem, offer: Offer, until: float, solve: Callable[[Problem, float], Solution], *, is_limited: bool = False
) -> Solution:
    """Return a solution of the problem of held hours, all of whose tasks end by then, start by start.

    `solve` finds one within so many hours, and knows neither when each start comes nor which slots are still busy. If
    it is limited, no Region gets more slots than its starts can keep busy: so what one cannot start in time goes to
    another. The solver takes longer for that: hours that are equally longer are in no proportion any more.
    DoesNotFit if none is found. The bound is what is proven for all of the time: 0, if nothing is.
    """
    hours, bound = until, 0.0
    for tried in range(TRIES):
        hurried = replace(held, deadline=max(held.deadline - (until - hours), 0.0))
        problem = _without_busy_hours(hurried, offer, hours, is_sure=tried > 0)
        if is_limited:
            problem = replace(problem, limits=(*problem.limits, *_limits_of_starts(problem, offer)))
        found = solve(problem, hours)
        if not (tried or is_limited or offer.busy or held.choices.spare.any()):
            bound = found.bound  # else there may be more time, or more slots, than this problem has
        slow = replace(_as_part_of(held, found, problem), bound=bound)
        late = _late_hours(slow, offer, until)
        if late <= 0:
            return slow
        is_limited = is_limited or starts_too_many(slow, offer, until)
        if tried or not offer.busy:
            hours -= late
        if hours <= 0:
            break
    raise NotFound


def _without_busy_hours(problem: Problem, offer: Offer, hours: float, *, is_sure: bool) -> Problem:
    """Return the problem in which lanes close earlier by the hours for which slots are busy: on average, or at most."""
    if not offer.busy:
        return problem
    closes = problem.closes.copy()
    for lane, busy in offer.busy.items():
        taken = max(busy) if is_sure else sum(busy) / max(problem.most_slots[lane], len(busy))
        closes[lane] = min(closes[lane], max(hours - taken, 0.0))
    return replace(problem, closes=closes)


def _limits_of_starts(held: Problem, offer: Offer) -> Iterator[Limit]:
    """Yield for each Region the slots that its starts can keep busy."""
    shortest = np.full(held.lanes, np.inf)
    np.minimum.at(shortest, held.choices.lane, held.choices.hours)
    sites, rates = _sites(offer), _rates(offer)
    for site in np.unique(sites):
        lanes = np.flatnonzero((sites == site) & np.isfinite(rates * shortest))
        if len(lanes):
            busy = float(np.floor((rates[lanes] * shortest[lanes]).min()))
            yield Limit(lanes, np.ones(len(lanes)), max(busy, 1.0))


def _as_part_of(held: Problem, found: Solution, solved: Problem) -> Solution:
    """Return what was found for a problem with fewer choices or more limits as a solution of the whole one."""
    tasks, horizon = np.zeros(len(held.choices), dtype=np.int64), found.problem.horizon
    tasks[solved.ends_in_time(horizon)] = found.tasks
    whole = replace(held.within(horizon), budget=found.problem.budget)
    return Solution(whole, tasks[held.ends_in_time(horizon)], found.bound, found.slots)


def _as_planned(slow: Solution, offer: Offer) -> Solution:
    """Return the solution with the hours that tasks train."""
    return _as_part_of(offer.problem, slow, held_problem(offer, offer.problem))


def _held_besides(offer: Offer) -> Floats:
    """Return for each lane the hours that a training holds its slot before and after it trains."""
    held = offer.lanes["start_h"] + offer.lanes["wait_h"]
    return np.asarray(held.to_numpy(dtype=np.float64))


def _rates(offer: Offer) -> Floats:
    """Return how many trainings each lane's Region starts in an hour."""
    return np.asarray(offer.lanes["starts_per_hour"].to_numpy(dtype=np.float64))


def _late_hours(slow: Solution, offer: Offer, until: float) -> float:
    """Return the hours by which the last task ends later, or too late to go on elsewhere; 0 or less if none does."""
    ends, spare = _end_hours(slow, offer), slow.problem.choices.spare
    late = ends.max(initial=0.0) - until * SLACK
    busy = (slow.tasks > 0) & (spare > 0)
    deadline = max(until, slow.problem.deadline)
    return float(max(late, (ends + spare)[busy].max(initial=-np.inf) - deadline * SLACK))


def _tasks_on_lanes(solution: Solution) -> Floats:
    lanes = solution.problem.lanes
    return np.bincount(solution.problem.choices.lane, weights=solution.tasks, minlength=lanes).astype(np.float64)


def _sites(offer: Offer) -> Integers:
    """Return the number of each lane's Region, on its platform."""
    return np.asarray(offer.lanes.groupby(["platform", "region"]).ngroup(), dtype=np.int64)


def _hours_to_start(on_lane: Floats, sites: Integers, rates: Floats) -> Floats:
    """Return for each lane the hours until all tasks of its Region have been started, one after the other."""
    return np.asarray(np.bincount(sites, weights=on_lane)[sites] / rates)


def least_hours_to_start(offer: Offer) -> float:
    """Return the hours until all tasks have been started, if each Region begins as many as it can."""
    rates = _rates(offer)[np.unique(_sites(offer), return_index=True)[1]]
    return float(offer.problem.counts.sum() / rates.sum())


def starts_too_many(solution: Solution, offer: Offer, hours: float) -> bool:
    """Return whether a Region has more tasks to start than there is time for, whatever its slots."""
    return bool((_hours_to_start(_tasks_on_lanes(solution), _sites(offer), _rates(offer)) > hours).any())
