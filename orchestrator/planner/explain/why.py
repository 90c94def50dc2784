"""Why tasks go where they go: what else there was, what it would have cost, and which limits bind. Pure."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.errors import UsageError, did_you_mean
from orchestrator.planner.explain.remedies import large
from orchestrator.planner.model.arrays import SLACK
from orchestrator.planner.model.problem import NO_COPY, NO_POOL
from orchestrator.planner.model.solution import DoesNotFit, Solution
from orchestrator.planner.offer.formulate import formulate
from orchestrator.planner.offer.offer import LOT
from orchestrator.planner.pack.lanes import Lanes
from orchestrator.planner.solver.optimise import optimise
from orchestrator.wire.task import Lane, Purchase

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.catalog.market import Market
    from orchestrator.plan.plan import Plan, Share
    from orchestrator.planner.offer.formulate import Formulation

PASSED_OVER = 3
"""Cheaper choices that are told of."""
MORE_SLOTS = 3
"""Lanes of which is told what one more slot would save: each is a plan of its own."""
CENT = 0.01


def explain(plan: Plan, what: str, market: Market) -> list[str]:
    """Of a task by its number, or of a dataset by its name. `market` is the one that the plan was made from."""
    shares = _shares(plan, what)
    why = _Why(plan, formulate(plan.sweep, market))
    lines = [line for share in shares for line in why.of(share)]
    return lines + [f"hours: {note}" for note in plan.notes if note.startswith("runtime")]


def _shares(plan: Plan, what: str) -> list[Share]:
    if what.isdecimal():
        if int(what) >= plan.tasks:
            raise UsageError(f"there is no task {what}", hint=f"they are numbered 0 to {plan.tasks - 1}")
        return [plan.share(int(what))]
    names = [dataset.name for dataset in plan.datasets]
    if what not in names:
        raise UsageError(f"{what!r} is no task number and no dataset of the plan", hint=did_you_mean(what, names))
    return [share for share in plan.shares if plan.datasets[share.dataset].name == what]


class _Why:
    """A plan beside all that there was to choose from."""

    def __init__(self, plan: Plan, formulation: Formulation) -> None:
        self._plan = plan
        goal = plan.sweep.plan
        # The fastest plan was made for a horizon of its own.
        horizon = plan.finish * SLACK if goal.fastest else goal.hours
        self._every = formulation.offer.problem
        self._problem = self._every.within(horizon)
        self._kept = np.flatnonzero(self._every.kept(horizon))
        """Rows of all choices that are choices within the horizon."""
        self._firsts = [cohort.first for cohort in formulation.cohorts]
        lanes = formulation.offer.lanes
        self._lanes = [
            _named(Lane(platform, region, instance_type, Purchase(purchase)), arn)
            for platform, region, instance_type, purchase, arn in lanes[LOT].itertuples(index=False)
        ]
        self._prices = lanes["usd_per_hour"].tolist()
        self._tasks = np.zeros(len(self._problem.choices), dtype=np.int64)
        for share in plan.shares:
            self._tasks[self._row(share)] += share.count
        self._filled = Lanes(self._problem)
        self._filled.hold(self._tasks)
        solution = Solution(self._problem, self._tasks, plan.bound)
        self._copies = set(solution.copies.tolist())
        self._spent = self._problem.drawn(self._tasks)
        self._unpromised = (goal.budget or np.inf) - solution.promise
        """$ of the budget."""
        self._savings: dict[int, float | None] = {}

    def of(self, share: Share) -> Iterator[str]:
        last = share.first + share.count - 1
        tasks = f"task {last}" if share.count == 1 else f"tasks {share.first}-{last}"
        row, usd = self._row(share), self._every.choices.usd
        chosen = int(self._kept[row])
        yield f"{tasks} of {self._plan.datasets[share.dataset].name}: {self._place(chosen)}"
        ends = f"; the last ends after {share.finish:.3g} h" if share.finish is not None else ""
        yield f"  chosen: {share.hours:.3g} h and ${share.usd:.4g} each{ends}; {self._slots(row)}"
        if (copy := int(self._every.choices.copy[chosen])) != NO_COPY:
            yield f"  on a copy of the data, for ${self._every.charges[copy]:,.2f} in all"
        others = [other for other in self._of_cohort(chosen) if other != chosen]
        cheaper = [other for other in others if usd[other] * SLACK < usd[chosen]]
        for other in cheaper[:PASSED_OVER]:
            but = self._obstacle(other, chosen) or "within the gap of the plan"
            yield f"  cheaper: {self._beside(other, chosen)}; but {but}"
        if len(cheaper) > PASSED_OVER:
            yield f"  cheaper: {len(cheaper) - PASSED_OVER:,} more"
        possible = (other for other in others if other not in cheaper and not self._obstacle(other, chosen))
        if (runner_up := next(possible, None)) is not None:
            yield f"  runner-up: {self._beside(runner_up, chosen)}"
        if len(share.places) > 1:
            yield f"  if refused: {', then '.join(_named(place.lane, place.plan_arn) for place in share.places[1:])}"

    def _row(self, share: Share) -> int:
        """The choice, within the horizon, that the share was sent to."""
        cohort = bisect_right(self._firsts, share.first) - 1
        named = _named(share.places[0].lane, share.places[0].plan_arn)
        choices, first = self._problem.choices, self._problem.first
        rows = range(first[cohort], first[cohort + 1])
        # A lane may be there twice: under a savings plan, and not.
        return min((abs(choices.usd[n] - share.usd), n) for n in rows if self._lanes[choices.lane[n]] == named)[1]

    def _of_cohort(self, row: int) -> range:
        cohort = int(self._every.choices.cohort[row])
        return range(int(self._every.first[cohort]), int(self._every.first[cohort + 1]))

    def _place(self, row: int) -> str:
        """With its price."""
        choices = self._every.choices
        lane = int(choices.lane[row])
        paid = "under a savings plan" if choices.pool[row] != NO_POOL else f"${self._prices[lane]:.4g}/h"
        return f"{self._lanes[lane]}, {paid}"

    def _beside(self, other: int, chosen: int) -> str:
        choices = self._every.choices
        hours, usd = choices.hours[other], choices.usd[other]
        more_h, more_usd = hours - choices.hours[chosen], usd - choices.usd[chosen]
        return f"{self._place(other)}: {hours:.3g} h ({more_h:+.3g}) and ${usd:.4g} ({more_usd:+.4g}) each"

    def _slots(self, row: int) -> str:
        lane = int(self._problem.choices.lane[row])
        if not isfinite(self._problem.slots[lane]):
            return "no quota is known"
        return self._full(lane) if not self._filled.fits(row, 1) else f"{self._free(lane):,} slots"

    def _obstacle(self, other: int, chosen: int) -> str:
        """Why that choice cannot be had instead; empty if it can."""
        choices, problem = self._every.choices, self._problem
        within = int(np.searchsorted(self._kept, other))
        if within == len(self._kept) or self._kept[within] != other:
            return "too late"
        copy, pool = int(choices.copy[other]), int(choices.pool[other])
        if copy != NO_COPY and copy not in self._copies:
            return f"without the data (a copy is ${problem.charges[copy]:,.2f})"
        if pool != NO_POOL and self._spent[pool] + choices.draw[other] > problem.funds[pool] * SLACK:
            return "its savings plan is spent"
        if choices.promise[other] - choices.promise[chosen] > self._unpromised:
            return f"its promise of ${choices.promise[other]:,.2f} is beyond the budget"
        return "" if self._filled.fits(within, 1) else self._full(int(choices.lane[other]))

    def _full(self, lane: int) -> str:
        """Which limit it is, and what one more slot would be worth."""
        if self._filled.slots[lane] < self._problem.slots[lane]:
            return "all slots of its Region together are busy"
        free = self._free(lane)
        return ("its only slot is busy" if free == 1 else f"all {free:,} slots are busy") + self._worth(lane)

    def _worth(self, lane: int) -> str:
        """Of one more slot there, in words; nothing where that is not known."""
        if lane not in self._savings and len(self._savings) < MORE_SLOTS:
            self._savings[lane] = self._saving(lane)
        saved = self._savings.get(lane)
        if saved is None:
            return ""
        return f", one more would save ${saved:,.2f}" if saved >= CENT else ", one more would save nothing"

    def _free(self, lane: int) -> int:
        """Instances, for this plan."""
        return int(self._problem.slots[lane]) * self._plan.sweep.train.instances

    def _saving(self, lane: int) -> float | None:
        """$ by which the plan would be cheaper with room for one more training there; None where that is not known."""
        if large(self._problem) or self._plan.sweep.plan.fastest:
            return None
        slots = self._problem.slots.copy()
        slots[lane] += 1
        budget = self._plan.sweep.plan.budget or np.inf
        try:
            return self._plan.usd - optimise(replace(self._problem, slots=slots, budget=budget)).usd
        except DoesNotFit:
            return None


def _named(lane: Lane, arn: str) -> str:
    return f"{lane.region} {lane.instance_type} {lane.purchase.value}" + (f" of {arn}" if arn else "")
