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

from orchestrator.errors import InfeasibleError
from orchestrator.planner.model.arrays import SLACK
from orchestrator.planner.model.problem import Limit
from orchestrator.planner.model.solution import DoesNotFit, Solution
from orchestrator.planner.pack.schedule import end_hours_by_choice
from orchestrator.planner.solver.meet_goal import meet_goal
from orchestrator.spec.duration import HOUR, MINUTE, spell

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Floats, Integers
    from orchestrator.planner.model.time_limit import TimeLimit
    from orchestrator.planner.offer.offer import Offer
    from orchestrator.spec.goal import Goal

TRIES = 5
"""Times that the solver is asked, each for as much less time as the last task was late."""
WAIT_TOLD = 1 / HOUR
"""Hours of waiting from which it is told."""


def with_starts(solution: Solution, offer: Offer) -> Solution:
    """Return the solution with the hours that tasks hold their slots: their starts and ends included."""
    choices = solution.problem.choices
    hours = choices.hours + _held_besides(offer)[choices.lane]
    problem = replace(solution.problem, choices=replace(choices, hours=hours))
    return replace(solution, problem=problem)


def end_hours(solution: Solution, offer: Offer) -> Floats:
    """Return for each choice the hours until its last task ends, starts included; 0 for a choice without tasks."""
    slow = with_starts(solution, offer)
    ends = end_hours_by_choice(slow)
    rates = offer.lanes["starts_per_hour"].to_numpy(dtype=np.float64)
    if np.isinf(rates).all():
        return ends
    choices, on_lane, sites = slow.problem.choices, _tasks_on_lanes(solution), _sites(offer)
    first_starts = np.bincount(sites, weights=np.minimum(on_lane, solution.slots))[sites] / rates
    one_by_one = _hours_to_start(on_lane, sites, rates)[choices.lane] + choices.wait + choices.hours
    return np.where(solution.tasks > 0, np.maximum(ends + first_starts[choices.lane], one_by_one), 0.0)


def solve_in_time(offer: Offer, goal: Goal, time_limit: TimeLimit) -> Solution:
    """Return the solution that the goal asks for, whose starts keep its deadline, too.

    DoesNotFit if there is no room for the tasks. InfeasibleError if there is, but not for their starts.
    """
    first = meet_goal(offer.problem, goal, time_limit)
    late = _late_hours(first, offer, goal)
    if goal.deadline is None or late <= 0:
        return first
    too_many = _starts_too_many(first, offer, goal)
    hours = goal.hours
    for _ in range(TRIES):
        if hours <= 0 or time_limit.is_out:
            break
        try:
            solution = _meet_goal_by_starts(offer, goal, time_limit, hours, is_limited=too_many)
        except DoesNotFit:
            break
        late = _late_hours(solution, offer, goal)
        if late <= 0:
            return replace(solution, bound=first.bound)  # what is proven for less time is not for all of it
        hours -= late
    raise _too_late(first, offer, goal)


def _meet_goal_by_starts(
    offer: Offer, goal: Goal, time_limit: TimeLimit, hours: float, *, is_limited: bool
) -> Solution:
    """Return a solution whose tasks hold their slots while they start. If that is asked for, no Region has more slots
    than its starts can keep busy: so what one cannot start in time goes to another.

    The solver takes longer for that: hours that are equally longer are in no proportion any more.
    """
    choices = offer.problem.choices
    held = choices.hours + _held_besides(offer)[choices.lane]
    shortest = np.full(offer.problem.lanes, np.inf)
    np.minimum.at(shortest, choices.lane, held)
    sites, rates, limits = _sites(offer), offer.lanes["starts_per_hour"].to_numpy(dtype=np.float64), []
    for site in np.unique(sites) if is_limited else ():
        lanes = np.flatnonzero((sites == site) & np.isfinite(rates * shortest))
        if len(lanes):
            busy = float(np.floor((rates[lanes] * shortest[lanes]).min()))
            limits.append(Limit(lanes, np.ones(len(lanes)), max(busy, 1.0)))
    longer = replace(offer.problem, choices=replace(choices, hours=held), limits=(*offer.problem.limits, *limits))
    found = meet_goal(longer, goal, time_limit, hours)
    tasks = np.zeros(len(choices), dtype=np.int64)
    tasks[longer.ends_in_time(found.problem.horizon)] = found.tasks
    plain = offer.problem.within(found.problem.horizon)
    there = offer.problem.ends_in_time(found.problem.horizon)
    return Solution(replace(plain, budget=found.problem.budget), tasks[there], found.bound, found.slots)


def _held_besides(offer: Offer) -> Floats:
    """Return for each lane the hours that a training holds its slot before and after it trains."""
    held = offer.lanes["start_h"] + offer.lanes["wait_h"]
    return np.asarray(held.to_numpy(dtype=np.float64))


def _late_hours(solution: Solution, offer: Offer, goal: Goal) -> float:
    """Return the hours by which the last task misses the deadline; 0 or less if none does."""
    return float(end_hours(solution, offer).max()) - goal.hours * SLACK


def _tasks_on_lanes(solution: Solution) -> Floats:
    lanes = solution.problem.lanes
    return np.bincount(solution.problem.choices.lane, weights=solution.tasks, minlength=lanes).astype(np.float64)


def _sites(offer: Offer) -> Integers:
    """Return the number of each lane's Region, on its platform."""
    return np.asarray(offer.lanes.groupby(["platform", "region"]).ngroup(), dtype=np.int64)


def _hours_to_start(on_lane: Floats, sites: Integers, rates: Floats) -> Floats:
    """Return for each lane the hours until all tasks of its Region have been started, one after the other."""
    return np.asarray(np.bincount(sites, weights=on_lane)[sites] / rates)


def _starts_too_many(solution: Solution, offer: Offer, goal: Goal) -> bool:
    """Return whether a Region has more tasks to start than there is time for, whatever its slots."""
    rates = offer.lanes["starts_per_hour"].to_numpy(dtype=np.float64)
    return bool((_hours_to_start(_tasks_on_lanes(solution), _sites(offer), rates) > goal.hours).any())


def _too_late(solution: Solution, offer: Offer, goal: Goal) -> InfeasibleError:
    ends = end_hours(solution, offer)
    row = int(ends.argmax())
    lane, end = int(solution.problem.choices.lane[row]), float(ends[row])
    region, rate = offer.lanes["region"].iloc[lane], float(offer.lanes["starts_per_hour"].iloc[lane])
    start, wait = (float(offer.lanes[name].iloc[lane]) for name in ("start_h", "wait_h"))
    waits = f" after a wait of {spell(wait * HOUR)}" if wait >= WAIT_TOLD else ""
    hint = f"relax the deadline to {spell(-(-end * HOUR // MINUTE) * MINUTE)}, allow more Regions, or make longer tasks"
    return InfeasibleError(
        f"the tasks fit into the deadline of {goal.deadline}, but not with their starts: in {region} one takes "
        f"{spell(start * HOUR)}{waits}, and {rate / HOUR:g} a second can begin. The last task would end after "
        f"{spell(end * HOUR)}",
        hint=hint,
    )
