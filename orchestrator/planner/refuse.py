"""Why there is no plan, in words: which limit binds, and what would do instead."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, floor, inf, isfinite
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.errors import InfeasibleError, Refused
from orchestrator.planner import runtime
from orchestrator.planner.optimise import EXACT_CHOICES
from orchestrator.planner.problem import SLACK, DoesNotFit
from orchestrator.planner.pursue import feasible, smallest_budget, smallest_deadline
from orchestrator.spec.duration import HOUR, MINUTE, spell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.errors import SweepError
    from orchestrator.planner.cohorts import Cohort
    from orchestrator.planner.cost import Offer
    from orchestrator.planner.plan import Dataset
    from orchestrator.planner.problem import Problem
    from orchestrator.spec.sweep import Sweep

_LANES_TRIED = 5


@dataclass(frozen=True)
class Refusal:
    """Puts together why this sweep has no plan."""

    sweep: Sweep
    datasets: Sequence[Dataset]
    cohorts: Sequence[Cohort]
    offer: Offer

    def error(self) -> SweepError:
        goal, problem = self.sweep.plan, self.offer.problem
        if goal.budget is not None:
            try:
                least = smallest_budget(problem, goal.hours)
            except DoesNotFit:
                return self._too_little_room()
            return self._too_little_money(goal.budget, least)
        return self._too_little_room()

    def _too_little_money(self, budget: float, least: float) -> Refused:
        goal = self.sweep.plan
        hours = smallest_deadline(replace(self.offer.problem, budget=budget), goal.hours)
        longer = f", or a deadline of {_spell(hours)}" if hours else "; no deadline is long enough for less"
        return Refused(
            f"${budget:,.2f} cannot be promised within {_spell(goal.hours)}: honest runs may cost ${least:,.2f}",
            hint=f"a budget of {ceil(least * 100) / 100:.2f} would do{longer}",
        )

    def _too_little_room(self) -> InfeasibleError:
        problem, horizon = self.offer.problem, self.sweep.plan.hours
        within = problem.within(horizon)
        deadline = smallest_deadline(problem, horizon)
        relax = [f"relax the deadline to {_spell(deadline)}"] if deadline else []
        if within.stranded.size:
            return self._too_long(int(within.stranded[0]), relax)
        return self._too_few_slots(within, relax)

    def _too_long(self, cohort: int, remedies: list[str]) -> InfeasibleError:
        problem, group = self.offer.problem, self.cohorts[cohort]
        rows = slice(problem.first[cohort], problem.first[cohort + 1])
        least = float((problem.choices.hours + problem.choices.wait)[rows].min())
        size = runtime.at(self.sweep, group.longest_size)
        return InfeasibleError(
            f"a task of {self.datasets[group.dataset].name}{size} takes {_spell(least)} where it is fastest, "
            f"longer than the {self._limit()}",
            hint=" or ".join([*remedies, "use more instances"]),
        )

    def _too_few_slots(self, within: Problem, remedies: list[str]) -> InfeasibleError:
        """The lane whose quota is nearest to enough; too long a search where there are many lanes."""
        tasks = f"{int(within.counts.sum()):,} tasks do not fit into the {self._limit()}"
        if len(within.choices) > EXACT_CHOICES:
            hint = ", or ".join(["raise quotas", *self._elsewhere(), *remedies])
            return InfeasibleError(f"{tasks}: all slots of all lanes together are too few", hint=hint)
        lane, slots, wanted = _binding(within)
        facts = self.offer.lanes.iloc[lane]
        instances = self.sweep.train.instances
        have, need = int(slots * instances), int(wanted * instances)
        name = f"{facts['region']} {facts['instance_type']} {facts['purchase']}"
        return InfeasibleError(
            f"{tasks}: {name} has {have:,} of the {need:,} slots it would take",
            hint=", or ".join([f"raise that quota to {need:,}", *self._elsewhere(), *remedies]),
        )

    def _elsewhere(self) -> list[str]:
        found = []
        if self.sweep.where.regions:
            found.append("allow more Regions in where.regions")
        if self.sweep.data.move_data == "never":
            found.append("let data move with `data: {move_data: if_cheaper}`")
        return found

    def _limit(self) -> str:
        goal = self.sweep.plan
        return f"{'deadline' if goal.deadline else 'horizon'} of {_spell(goal.hours)}"


def _binding(problem: Problem) -> tuple[int, float, float]:
    """The lane whose quota needs the smallest raise, its trainings at once, and how many would be enough."""
    choices = problem.choices
    load = np.bincount(
        choices.lane, weights=problem.counts[choices.cohort] * choices.hours, minlength=len(problem.slots)
    )
    load[np.isinf(problem.slots)] = 0
    likely = np.argsort(-load, kind="stable")[:_LANES_TRIED].tolist()
    raises = [(_enough(problem, lane) - problem.slots[lane], lane) for lane in likely if load[lane] > 0]
    more, lane = min(raises)
    have = float(problem.slots[lane])
    return lane, have, have + more if isfinite(more) else float(problem.counts.sum())


def _enough(problem: Problem, lane: int) -> float:
    """Trainings at once on this lane that would make everything fit; inf if as many as there are tasks do not."""

    def fits(slots: float) -> bool:
        raised = problem.slots.copy()
        raised[lane] = slots
        return feasible(replace(problem, slots=raised), problem.horizon)

    low, high = float(problem.slots[lane]), float(problem.counts.sum())
    if not fits(high):
        return inf
    while high > low + 1:
        middle = floor((low + high) / 2)
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def _spell(hours: float) -> str:
    """Rounded up to whole minutes, so that what is suggested works."""
    return spell(ceil(hours * HOUR / MINUTE / SLACK) * MINUTE)
