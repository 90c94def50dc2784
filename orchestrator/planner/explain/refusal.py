"""Tells in words why there is no plan: which limits bind, and what would do instead."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from orchestrator.errors import InfeasibleError, Refused, TooFewSlots
from orchestrator.plan.launcher_price import LAUNCHERS_A_VCPU
from orchestrator.planner.explain.in_time import InTime
from orchestrator.planner.explain.remedies import (
    find_enough_dollars,
    find_enough_hours,
    find_enough_units,
    round_up_hours,
)
from orchestrator.planner.hours.sizes import named_size
from orchestrator.planner.model.arrays import SLACK
from orchestrator.planner.offer.offer import LAUNCHERS
from orchestrator.spec.duration import HOUR, spell
from orchestrator.wire.task import Quota

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from orchestrator.errors import SweepError
    from orchestrator.planner.model.problem import Limit, Problem
    from orchestrator.planner.offer.formulate import Formulation
    from orchestrator.spec.sweep import Sweep

NAMED = 3
"""Limits that are named; the rest are counted."""


@dataclass(frozen=True)
class Refusal:
    """Finds out why a formulated sweep has no plan, and what would do."""

    formulation: Formulation
    proven: bool = True
    """False if no plan was found, although there may be one."""

    def error(self) -> SweepError:
        """Return the error that says so: Refused if it is the budget, TooFewSlots if quotas, else InfeasibleError."""
        goal = self._sweep.plan
        within = self._problem.within(goal.hours)
        if within.stranded.size:
            return self.too_long(int(within.stranded[0]))
        if goal.budget is not None:
            enough = find_enough_dollars(within, self._trial.least_promise)
            if enough is not None:
                return self._too_little_money(goal.budget, enough)
        return self._too_few_slots(within)

    def _too_little_money(self, budget: float, enough: float) -> Refused:
        goal = self._sweep.plan
        hours, within = self.enough_hours(), spell(goal.hours * HOUR)
        asked = f"${budget:,.2f}" if round(budget, 2) == budget else f"${budget:,.6g}"
        if hours:
            longer = f", or a deadline of {_spell(hours)}"
        elif self._least_promise() > budget * SLACK:
            longer = f"; no deadline is long enough for {asked}"
        else:
            longer = "; no deadline was found that is long enough"
        if self.proven:
            said = f"{asked} cannot be promised within {within}: honest runs may cost ${enough:,.2f}"
        else:
            said = f"no plan was found that promises {asked} within {within}: the least found is ${enough:,.2f}"
        return Refused(said, hint=f"a budget of {enough:.2f} would do{longer}")

    def _least_promise(self) -> float:
        """Return what every plan promises at least, whatever its time and slots."""
        problem = self._problem
        return float(problem.counts @ np.minimum.reduceat(problem.choices.promise, problem.first_choice[:-1]))

    def too_long(self, number: int) -> InfeasibleError:
        """Return the error that says that the tasks of this cohort are too long wherever they may run."""
        problem, cohort = self._trial.held, self.formulation.cohorts[number]
        rows = slice(problem.first_choice[number], problem.first_choice[number + 1])
        hours = (problem.choices.hours + problem.choices.wait)[rows]
        least, fastest = float(hours.min()), problem.first_choice[number] + int(hours.argmin())
        start = float(problem.choices.hours[fastest] - self.formulation.offer.problem.choices.hours[fastest])
        starts = f", {spell(start * HOUR)} of that to start and to end" if round(start * HOUR) else ""
        limit = f"longer than the {self._limit} of {spell(self._sweep.plan.hours * HOUR)}"
        size = named_size(self._sweep, cohort.longest_size)
        return InfeasibleError(
            f"a task of {self.formulation.datasets[cohort.dataset].name}{size} takes {_spell(least)} where it is "
            f"fastest{starts}, {limit}",
            hint=" or ".join(self._more_time()) or "use instance types that are faster",
        )

    def _too_few_slots(self, within: Problem) -> TooFewSlots:
        bought = self.formulation.offer.quotas["bought"].to_numpy(dtype=bool)
        raised = find_enough_units(replace(within, budget=self._trial.budget), bought, self._trial.room)
        short = self._short_limits(raised) if raised else []
        named = [str(limit) for limit in short[:NAMED]]
        if len(short) > NAMED:
            named.append(f"{len(short) - NAMED} more limits")
        count = int(within.counts.sum())
        tasks = "1 task" if count == 1 else f"{count:,} tasks"
        limit = f"the {self._limit} of {spell(within.horizon * HOUR)}"
        short_of = _listed(named)
        if self.proven:
            said = f"{tasks} {'does' if count == 1 else 'do'} not fit into {limit}"
            short_of = short_of or "all slots of all lanes together are too few"
        else:
            said = f"no plan was found for {tasks} within {limit} (it is not proven that there is none)"
        remedies = [*_raise(short), *self._more_time()] or self._more_time_and_money()
        remedies = [*self._look_again(short), *remedies]
        return TooFewSlots(
            f"{said}: {short_of}" if short_of else said,
            hint=", or ".join(remedies) or "ask for fewer tasks",
        )

    def _short_limits(self, raised: dict[int, int]) -> list[ShortLimit]:
        """Return the limits that bind, those that lack most first."""
        limits, quotas = self._problem.limits, self.formulation.offer.quotas.to_dict("records")
        found = [self._limit_of(quotas[number], limits[number], more) for number, more in raised.items()]
        return sorted(found, key=lambda limit: limit.free - limit.wanted)

    def _limit_of(self, facts: dict[Any, Any], limit: Limit, more: int) -> ShortLimit:
        """Return the limit of this quota, which lacks so many units `more`."""
        quota = Quota(facts["platform"], facts["region"], facts["quota"])
        free, units, held = int(limit.free), int(facts["units"]), int(facts["held"])
        if quota.name == LAUNCHERS:
            return ShortLimit(LAUNCHERS, free, free + more, units, held)
        return ShortLimit(str(quota), free, free + more, units, held, self._holders(quota) if held else ())

    def _holders(self, quota: Quota) -> tuple[str, ...]:
        """Return which runs hold units of this quota, as far as that is known."""
        leases = self.formulation.leases
        for name, value in zip(
            ("platform", "region", "quota"), (quota.platform, quota.region, quota.name), strict=True
        ):
            leases = leases[leases[name] == value]
        return tuple(sorted(leases["run"].unique()))

    def _look_again(self, short: Sequence[ShortLimit]) -> list[str]:
        """Return the remedy that costs nothing: a run holds its slots until somebody has seen that it has ended."""
        runs = sorted({run for limit in short for run in limit.runs})
        if not runs:
            return []
        commands = [f"`sweep sync {run}`" for run in runs[:NAMED]]
        if len(runs) > NAMED:
            commands.append(f"that of the {len(runs) - NAMED} others")
        frees = "frees" if len(commands) == 1 else "free"
        return [f"{_listed(commands)} {frees} what has ended"]

    def _more_time(self) -> list[str]:
        """Return the remedy of a longer deadline or horizon; nothing if no time is enough."""
        hours = self.enough_hours()
        return [f"relax the {self._limit} to {_spell(hours)}"] if hours else []

    def _more_time_and_money(self) -> list[str]:
        """Return the remedy of both a longer deadline and a larger budget; nothing without a budget, or if none is."""
        if self._sweep.plan.budget is None:
            return []
        hours = find_enough_hours(self._problem, self._trial.least_hours, self._trial.room)
        enough = find_enough_dollars(self._problem.within(hours), self._trial.least_promise) if hours else None
        return [f"relax the {self._limit} to {_spell(hours)} with a budget of {enough:.2f}"] if hours and enough else []

    def enough_hours(self, likely: float = np.inf) -> float | None:
        """Return how many hours would do, within the budget; None if no time is enough.

        Those that are `likely` to do are tried first.
        """
        problem = replace(self._problem, budget=self._trial.budget)
        return find_enough_hours(problem, self._trial.least_hours, self._trial.room, likely)

    @property
    def _sweep(self) -> Sweep:
        return self.formulation.sweep

    @property
    def _problem(self) -> Problem:
        return self._trial.problem

    @cached_property
    def _trial(self) -> InTime:
        return InTime(self.formulation.offer, self._sweep.plan)

    @property
    def _limit(self) -> str:
        """The name of what bounds the time."""
        return "deadline" if self._sweep.plan.deadline else "horizon"


@dataclass(frozen=True)
class ShortLimit:
    """A quota of which there is too little."""

    name: str
    free: int
    """Units that this sweep may use."""
    wanted: int
    """Units that would do."""
    units: int
    """The whole quota."""
    held: int
    """Units that other runs hold."""
    runs: tuple[str, ...] = ()
    """The names of these runs, as far as they are known."""

    def __str__(self) -> str:
        held = f", as {self.held:,} of its {self.units:,} are held by {_runs(self.runs)}" if self.held else ""
        return f"{self.name}: {self.free:,} of {self.wanted:,} units{held}"

    @property
    def quota(self) -> int:
        """The whole quota that would do."""
        return self.wanted + self.held


def _raise(limits: Sequence[ShortLimit]) -> Iterator[str]:
    """Yield the remedies of raising all of these limits together."""
    short = [limit for limit in limits if limit.name != LAUNCHERS]
    for limit in limits:
        if limit.name == LAUNCHERS:
            yield f"write `max_vcpus = {-(-limit.wanted // LAUNCHERS_A_VCPU)}` below [infra], and deploy that"
    quotas = [f"{limit.quota:,}" for limit in short]
    if len(short) == 1:
        yield f"raise the quota to {quotas[0]}"
    elif 1 < len(short) <= NAMED:
        yield f"raise these quotas to {_listed(quotas)}"
    elif short:
        yield f"raise {len(short)} quotas by {sum(limit.wanted - limit.free for limit in short):,} in all"


def _runs(names: Sequence[str]) -> str:
    """Return the names of runs, as they stand within a sentence: the first few, and how many more there are."""
    if len(names) < 2:
        return f"run {names[0]}" if names else "other runs"
    more = [f"{len(names) - NAMED} more"] if len(names) > NAMED else []
    return f"runs {_listed([*names[:NAMED], *more])}"


def _listed(words: Sequence[str]) -> str:
    """Return the words with commas, and an "and" before the last."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def _spell(hours: float) -> str:
    return spell(round_up_hours(hours) * HOUR)
