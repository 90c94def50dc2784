"""Tells why tasks go where they go: what else there was, what it would have cost, and which limits bind. Pure."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.errors import UsageError, did_you_mean
from orchestrator.planner.explain.billed import billed_besides, more_than
from orchestrator.planner.explain.remedies import with_more_units
from orchestrator.planner.lane_notes import REFUSED_TOLD, times_as_dear
from orchestrator.planner.model.arrays import SLACK
from orchestrator.planner.model.choices import NO_COPY, NO_POOL
from orchestrator.planner.model.solution import DoesNotFit, Solution
from orchestrator.planner.model.time_limit import TimeLimit
from orchestrator.planner.offer.copy_prices import COPY
from orchestrator.planner.offer.formulate import formulate
from orchestrator.planner.offer.instance_counts import on_instances
from orchestrator.planner.offer.offer import LAUNCHERS, LOT_AND_COUNT, QUOTA
from orchestrator.planner.pack.lanes import Lanes
from orchestrator.planner.solver.optimise import is_large
from orchestrator.planner.start_rates import StartsTooLate, held_problem, solve_in_time
from orchestrator.wire.task import Lane, Purchase, Quota

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from orchestrator.catalog.market import Market
    from orchestrator.plan.plan import Plan, Share
    from orchestrator.planner.offer.formulate import Formulation

PASSED_OVER = 3
"""Cheaper choices that are named. The rest are counted."""
MORE_SLOTS = 3
"""Lanes for which it is worked out what one more slot would save: each is a plan of its own."""
CENT = 0.01
"""Savings below this are nothing."""


def explain(plan: Plan, what: str, market: Market) -> list[str]:
    """Return in words why tasks go where they go. `what` is a task's number, or a dataset's name.

    `market` is the one that the plan was made from. UsageError if the plan has no such task or dataset.
    """
    shares = _shares(plan, what)
    explainer = Explainer(plan, formulate(plan.sweep, market))
    lines = [line for share in shares for line in explainer.explain(share)]
    return lines + [f"hours: {note}" for note in plan.notes if note.startswith("runtime")]


def _shares(plan: Plan, what: str) -> list[Share]:
    """Return the shares that this task, or this dataset, belongs to."""
    if what.isdecimal():
        if int(what) >= plan.tasks:
            raise UsageError(f"there is no task {what}", hint=f"they are numbered 0 to {plan.tasks - 1}")
        return [plan.share(int(what))]
    names = [dataset.name for dataset in plan.datasets]
    if what not in names:
        raise UsageError(f"{what!r} is no task number and no dataset of the plan", hint=did_you_mean(what, names))
    return [share for share in plan.shares if plan.datasets[share.dataset].name == what]


class Explainer:
    """Explains the shares of a plan: it compares them with all that there was to choose from."""

    def __init__(self, plan: Plan, formulation: Formulation) -> None:
        self._plan = plan
        goal = plan.sweep.plan
        # The fastest plan was made for a horizon of its own.
        horizon = plan.finish * SLACK if goal.fastest else goal.hours
        self._offer = formulation.offer
        # A deadline leaves room for what is in time with its start.
        plain = formulation.offer.problem
        self._every = plain if goal.deadline is None else held_problem(formulation.offer, plain)
        self._problem = self._every.within(horizon)
        self._kept = np.flatnonzero(self._every.ends_in_time(horizon))
        """Rows of all choices that are choices within the horizon."""
        self._firsts = [cohort.first for cohort in formulation.cohorts]
        lanes = formulation.offer.lanes
        self._mixed = lanes["platform"].nunique() > 1
        """Several platforms may sell the same instance type: then a lane's name begins with its platform."""
        self._lanes = [
            self._lane_name(Lane(platform, region, instance_type, Purchase(purchase)), site, instances)
            for platform, region, instance_type, purchase, site, instances in lanes[LOT_AND_COUNT].itertuples(
                index=False
            )
        ]
        self._counts: list[int] = self._problem.instances.tolist()
        self._lots: list[int] = self._problem.lots.tolist()
        self._quotas = [Quota(*key) for key in formulation.offer.quotas[QUOTA].itertuples(index=False, name=None)]
        self._prices = lanes["usd_per_hour"].tolist()
        self._refused = lanes["refused"].tolist()
        made = {(copy.dataset, copy.to_region, copy.from_region) for copy in plan.copies}
        every = formulation.offer.copies[COPY].itertuples(index=False, name=None)
        self._copies = {NO_COPY, *(number for number, copy in enumerate(every) if copy in made)}
        """The numbers of the copies that the plan makes."""
        self._tasks = np.zeros(len(self._problem.choices), dtype=np.int64)
        for share in plan.shares:
            self._tasks[self._row(share)] += share.count
        self._filled = Lanes(self._problem)
        self._filled.add_all(self._tasks)
        solution = Solution(self._problem, self._tasks, plan.bound)
        self._spent = self._problem.drawn_usd(self._tasks)
        self._unpromised = (goal.budget or np.inf) - solution.promise
        """$ of the budget that are not promised to any task."""
        self._savings: dict[int, float | None] = {}
        """$ that one more slot of each lane would save, as far as that was worked out."""

    def explain(self, share: Share) -> Iterator[str]:
        """Yield the lines that explain one share."""
        last = share.first + share.count - 1
        tasks = f"task {last}" if share.count == 1 else f"tasks {share.first}-{last}"
        row, usd = self._row(share), self._every.choices.paid
        chosen = int(self._kept[row])
        yield f"{tasks} of {self._plan.datasets[share.dataset].name}: {self._place(chosen)}"
        ends = f"; the last ends after {share.finish:.3g} h" if share.finish is not None else ""
        yield f"  chosen: {share.hours:.3g} h and ${share.usd:.4g} each{ends}; {self._slots(row)}"
        yield from billed_besides(self._offer, int(self._every.choices.lane[chosen]), share.hours)
        copy = int(self._every.choices.copy[chosen])
        if copy != NO_COPY:
            yield f"  on a copy of the data, for ${self._every.charges[copy]:,.2f} in all"
        others = [other for other in self._of_cohort(chosen) if other != chosen]
        cheaper = [other for other in others if usd[other] * SLACK < usd[chosen]]
        for other in cheaper[:PASSED_OVER]:
            but = self._obstacle(other, chosen) or "within the gap of the plan"
            yield f"  cheaper: {self._beside(other, chosen)}; but {but}"
        if len(cheaper) > PASSED_OVER:
            yield f"  cheaper: {len(cheaper) - PASSED_OVER:,} more"
        possible = (other for other in others if other not in cheaper and not self._obstacle(other, chosen))
        runner_up = next(possible, None)
        if runner_up is not None:
            yield f"  runner-up: {self._beside(runner_up, chosen)}"
        told = {runner_up, *cheaper[:PASSED_OVER]}
        yield from self._other_counts(chosen, [other for other in others if other not in told])
        if len(share.places) > 1:
            fallbacks = [self._lane_name(place.lane, place.site, place.instances) for place in share.places[1:]]
            yield f"  if refused: {', then '.join(fallbacks)}"

    def _other_counts(self, chosen: int, others: Sequence[int]) -> Iterator[str]:
        """Yield what the task would take on other numbers of instances of the same lot, fewest first."""
        choices = self._every.choices
        lane = int(choices.lane[chosen])
        here = {
            self._counts[number]: other
            for other in others
            if self._lots[number := int(choices.lane[other])] == self._lots[lane] and choices.pool[other] == NO_POOL
        }
        for count in sorted(here.keys() - {self._counts[lane]}):
            other, obstacle = here[count], ""
            if choices.paid[other] * SLACK < choices.paid[chosen] or self._plan.sweep.plan.fastest:
                obstacle = self._obstacle(other, chosen)
            but = f"; but {obstacle}" if obstacle else ""
            yield f" {on_instances(count)}: {self._more(other, chosen)}{but}"

    def _row(self, share: Share) -> int:
        """Return the row of the choice, within the horizon, that the share was sent to."""
        cohort = bisect_right(self._firsts, share.first) - 1
        name = self._lane_name(share.places[0].lane, share.places[0].site, share.instances)
        choices, first = self._problem.choices, self._problem.first_choice
        rows = range(first[cohort], first[cohort + 1])
        on_lane = [row for row in rows if self._lanes[choices.lane[row]] == name and choices.copy[row] in self._copies]
        # A lane may be there twice: under a savings plan, and not.
        return min(on_lane, key=lambda row: (abs(choices.paid[row] - share.usd), row))

    def _of_cohort(self, row: int) -> range:
        """Return the rows of all choices of the cohort that this choice is for."""
        cohort = int(self._every.choices.cohort[row])
        return range(int(self._every.first_choice[cohort]), int(self._every.first_choice[cohort + 1]))

    def _place(self, row: int) -> str:
        """Return the choice's lane in words, with its price."""
        choices = self._every.choices
        lane = int(choices.lane[row])
        each = " each" if len(self._plan.sweep.train.instance_counts) > 1 and self._counts[lane] > 1 else ""
        paid = "under a savings plan" if choices.pool[row] != NO_POOL else f"${self._prices[lane]:.4g}/h{each}"
        return f"{self._lanes[lane]}, {paid}"

    def _beside(self, other: int, chosen: int) -> str:
        """Return the other choice in words, with its hours and $ beside those of the chosen one."""
        return f"{self._place(other)}: {self._more(other, chosen)}"

    def _more(self, other: int, chosen: int) -> str:
        """Return the hours and the $ of the other choice, and how many more these are than those of the chosen one."""
        choices = self._every.choices
        hours, usd = choices.average[other], choices.paid[other]
        more_h, more_usd = more_than(hours, choices.average[chosen]), more_than(usd, choices.paid[chosen])
        return f"{hours:.3g} h ({more_h:+.3g}) and ${usd:.4g} ({more_usd:+.4g}) each"

    def _slots(self, row: int) -> str:
        """Return in words how many slots the choice's lane has, or which limit is full."""
        lane = int(self._problem.choices.lane[row])
        if not isfinite(self._problem.most_slots[lane]):
            return "no quota is known"
        if self._filled.has_room(row, 1):
            return f"{self._instances(lane):,} slots"
        return self._full(lane)

    def _obstacle(self, other: int, chosen: int) -> str:
        """Return in words why that choice cannot be had instead; an empty string if it can."""
        choices, problem = self._every.choices, self._problem
        within = int(np.searchsorted(self._kept, other))
        if within == len(self._kept) or self._kept[within] != other:
            late = self._every.has_no_spare_hours(other, self._problem.horizon)
            return "too late to begin on spot: its launcher would go on demand" if late else "too late"
        copy, pool = int(choices.copy[other]), int(choices.pool[other])
        if copy not in self._copies:
            return f"without the data (a copy is ${problem.charges[copy]:,.2f})"
        if pool != NO_POOL and self._spent[pool] + choices.draw[other] > problem.funds[pool] * SLACK:
            return "its savings plan is spent"
        if choices.promise[other] - choices.promise[chosen] > self._unpromised:
            return f"its promise of ${choices.promise[other]:,.2f} is beyond the budget"
        if self._filled.has_room(within, 1):
            return self._refuses(other) if choices.usd[other] * SLACK >= choices.usd[chosen] else ""
        return self._full(int(choices.lane[other]))

    def _refuses(self, row: int) -> str:
        """Return in words that the choice's lane has refused machines lately; an empty string if it has not."""
        refused = self._refused[self._every.choices.lane[row]]
        if refused < REFUSED_TOLD:
            return ""
        return f"it refused machines lately, and so counts as {times_as_dear(refused):.2g} times as dear"

    def _full(self, lane: int) -> str:
        """Return in words which limit of the lane is full, and what one more slot would save."""
        limit = self._full_limit(lane)
        if limit is not None and len({self._lots[other] for other in self._problem.limits[limit].lanes}) > 1:
            if self._quotas[limit].name == LAUNCHERS:
                return f"Batch has room for {self._problem.limits[limit].free:,.0f} launchers, and all are in use"
            return f"quota {self._quotas[limit]} is used up"
        slots = self._instances(lane)
        free = 0 if limit is None else self._free_instances(lane, limit)
        if free:
            return f"it needs {self._counts[lane]:,} slots, and only {free:,} are free"
        busy = "its only slot is busy" if slots == 1 else f"all {slots:,} slots are busy"
        return busy + self._saved_by_one_more(lane)

    def _saved_by_one_more(self, lane: int) -> str:
        """Return in words what one more slot there would save; an empty string where that is not known."""
        if lane not in self._savings and len(self._savings) < MORE_SLOTS:
            self._savings[lane] = self._saving(lane)
        saved = self._savings.get(lane)
        if saved is None:
            return ""
        return f", one more would save ${saved:,.2f}" if saved >= CENT else ", one more would save nothing"

    def _lane_name(self, lane: Lane, site: str, instances: int) -> str:
        """Return the name of a lane of the problem; with its number of instances, if the plan could choose that."""
        name = f"{lane.region} {lane.instance_type} {lane.purchase.value}"
        name = f"{lane.platform} {name}" if self._mixed else name
        name = f"{name} of {site}" if site else name
        return name + on_instances(instances) if len(self._plan.sweep.train.instance_counts) > 1 else name

    def _instances(self, lane: int) -> int:
        """Return how many instances of the lane this plan may have at once."""
        return int(self._problem.most_slots[lane]) * self._counts[lane]

    def _free_instances(self, lane: int, limit: int) -> int:
        """Return for how many more instances of the lane a limit has units left: too few for one more training."""
        its = self._problem.limits[limit]
        each = self._problem.units_on(its)[lane] / self._counts[lane]
        return int((its.free - its.used(self._filled.slots)) / each + 1e-9)

    def _full_limit(self, lane: int) -> int | None:
        """Return the number of a limit that has no units left for one more slot there; None if every limit has some.

        A limit of this lane alone comes before those that it shares.
        """
        limits, slots = self._problem.limits, self._filled.slots
        full = [
            number
            for number, limit in enumerate(limits)
            if lane in limit.lanes and limit.free - limit.used(slots) < self._problem.units_on(limit)[lane]
        ]
        return min(full, key=lambda number: len(limits[number].lanes), default=None)

    def _saving(self, lane: int) -> float | None:
        """Return the $ that slots for one more training there would save; None where a plan takes too long to tell."""
        limit = self._full_limit(lane)
        if limit is None or is_large(self._problem):
            return None
        return self.saved(limit, self._problem.units_on(self._problem.limits[limit])[lane])

    def saved(self, limit: int, units: float) -> float | None:
        """Return the $ that so many more units of a limit would save; None where no plan tells."""
        if self._plan.sweep.plan.fastest:
            return None
        more = replace(self._offer, problem=with_more_units(self._offer.problem, {limit: int(units)}))
        try:
            best = solve_in_time(more, self._plan.sweep.plan, TimeLimit())
        except (DoesNotFit, StartsTooLate):
            return None
        return max(self._plan.usd - best.paid, 0.0)
