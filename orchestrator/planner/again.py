"""Plans some tasks of a run anew, and weighs that against leaving them where they are. Pure.

The tasks are numbered as if the run had no others: 0, 1, 2, ... in the order of their numbers in the run.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from orchestrator.errors import InfeasibleError, Refused
from orchestrator.plan.slots import LotKey
from orchestrator.planner.model.solution import Solution
from orchestrator.planner.offer.formulate import formulate
from orchestrator.planner.solve import solve_formulated
from orchestrator.planner.start_rates import end_hours
from orchestrator.wire.ranges import Ranges
from orchestrator.wire.task import Lane, Purchase

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from orchestrator.catalog.market import Market
    from orchestrator.plan.plan import Plan, Share
    from orchestrator.planner.offer.cohorts import Cohort
    from orchestrator.planner.offer.offer import Offer
    from orchestrator.spec.sweep import Sweep
    from orchestrator.wire.task import Place

    Hours = Mapping[tuple[LotKey, int], Sequence[float]]
    """Hours for which slots are busy yet, by their lot and the instances of a slot."""


@dataclass(frozen=True)
class Busy:
    """Slots that running tasks of the same run hold, and for how long."""

    ending: Hours = field(default_factory=dict)
    """Slots that the new plan may use once they are free."""
    staying: Hours = field(default_factory=dict)
    """Slots that it leaves alone. In the market they are taken."""


@dataclass(frozen=True)
class Again:
    """A new plan of tasks that have places already, and what it would be to leave them there."""

    plan: Plan | None
    """None where there is none, and the tasks are in time where they are."""
    stay_usd: float
    """Dollars that they cost where they are, at today's prices. Tasks that cannot stay are not in it."""
    stay_hours: float
    """Hours until the last of them ends where they are; those that cannot stay aside."""
    lost: int
    """Tasks of which no place can be had any more."""
    moving: tuple[tuple[Ranges, Share], ...]
    """The tasks that would go elsewhere, with the share of the new plan that says where."""


def plan_again(sweep: Sweep, market: Market, tasks: Ranges, there: Sequence[Share], busy: Busy) -> Again:
    """Return the new plan of these tasks of a sweep, and what they cost where they are.

    `there` are their shares as they are now. Raise what `solve` raises where they can neither stay nor go elsewhere.
    """
    formulation = formulate(sweep, market, tasks=tasks)
    cohorts, offer = formulation.cohorts, formulation.offer
    staying, lost = _staying(cohorts, offer, there)
    stay = Solution(offer.problem, staying, 0.0, offer.problem.most_slots + _busy_slots(offer, busy))
    stay_hours = float(end_hours(stay, replace(offer, busy=_of_lanes(offer, busy.ending, busy.staying))).max(initial=0))
    formulation = replace(formulation, offer=replace(offer, busy=_of_lanes(offer, busy.ending)))
    try:
        plan = solve_formulated(formulation, market)
    except (InfeasibleError, Refused):  # what stays keeps the envelope that it has
        if lost or (sweep.plan.deadline is not None and stay_hours > sweep.plan.hours):
            raise
        return Again(None, stay.usd, stay_hours, lost, ())
    moving = tuple(move for cohort in cohorts for move in _moves(cohort, there, plan.shares))
    return Again(plan, stay.usd, stay_hours, lost, moving)


def _of_lanes(offer: Offer, *slots: Hours) -> dict[int, list[float]]:
    """Return for how many hours slots are busy, by the number of their lane."""
    found = defaultdict[int, list[float]](list)
    for number, key in enumerate(_keys(offer)):
        for hours in slots:
            found[number] += hours.get(key, ())
    return {number: sorted(hours) for number, hours in found.items() if hours}


def _busy_slots(offer: Offer, busy: Busy) -> np.ndarray:
    """Return for each lane the slots that it has beside those of the market, as the run holds them."""
    return np.array([len(busy.staying.get(key, ())) for key in _keys(offer)], dtype=np.float64)


def _keys(offer: Offer) -> list[tuple[LotKey, int]]:
    """Return the lot of each lane, and the instances of a training there."""
    rows = offer.lanes.to_dict("records")
    return [(LotKey(_lane(row), row["site"]), int(row["instances"])) for row in rows]


def _staying(cohorts: Sequence[Cohort], offer: Offer, there: Sequence[Share]) -> tuple[np.ndarray, int]:
    """Return how many tasks would be at each choice if all stayed, and how many cannot stay.

    Of a place that can be had no more, they would go to the next one of theirs.
    """
    choices = offer.problem.choices
    rows: dict[tuple[int, LotKey, int], int] = {}
    keys = _keys(offer)
    for row in np.lexsort((choices.copy, choices.usd)).tolist():  # the cheapest, and of equals one without a copy
        rows.setdefault((int(choices.cohort[row]), *keys[int(choices.lane[row])]), row)
    tasks, lost = np.zeros(len(choices), dtype=np.int64), 0
    for number, cohort in enumerate(cohorts):
        for share in _within(there, cohort):
            places = ((number, LotKey.of(place), place.instances) for place in share.places)
            row = next((rows[key] for key in places if key in rows), None)
            if row is None:
                lost += share.count
            else:
                tasks[row] += share.count
    return tasks, lost


def _lane(row: Mapping[Any, Any]) -> Lane:
    return Lane(row["platform"], row["region"], row["instance_type"], Purchase(row["purchase"]))


def _moves(cohort: Cohort, there: Sequence[Share], planned: Sequence[Share]) -> Iterator[tuple[Ranges, Share]]:
    """Yield which tasks of a cohort go to which share of the new plan, as few as can be: they are all alike."""
    old, new = _by_place(_within(there, cohort)), list(_within(planned, cohort))
    wanted = defaultdict[tuple[LotKey, int, str], int](int)
    for share in new:
        wanted[_at(share.places[0])] += share.count
    free = []
    for key, tasks in old.items():
        kept = min(len(tasks), wanted[key])
        free.append(tasks.cut(kept, len(tasks)))
        wanted[key] -= kept
    left = Ranges.union(free)
    for share in new:
        key = _at(share.places[0])
        count = min(wanted[key], share.count)
        wanted[key] -= count
        if count:
            yield left.cut(0, count), share
            left = left.cut(count, len(left))


def _by_place(shares: Iterable[Share]) -> dict[tuple[LotKey, int, str], Ranges]:
    found: dict[tuple[LotKey, int, str], list[Ranges]] = defaultdict(list)
    for share in shares:
        found[_at(share.places[0])].append(share.tasks)
    return {key: Ranges.union(tasks) for key, tasks in found.items()}


def _at(place: Place) -> tuple[LotKey, int, str]:
    return LotKey.of(place), place.instances, place.s3_uri


def _within(shares: Iterable[Share], cohort: Cohort) -> Iterator[Share]:
    """Yield the parts of the shares that hold tasks of the cohort."""
    for share in shares:
        first, stop = max(share.first, cohort.first), min(share.first + share.count, cohort.first + cohort.count)
        if first < stop:
            yield share.cut(first, stop)
