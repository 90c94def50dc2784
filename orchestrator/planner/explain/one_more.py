"""Tells what one more slot would save, for each quota that a plan leaves no room in. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.explain.why import Explainer
from orchestrator.planner.offer.formulate import formulate
from orchestrator.planner.solver.optimise import is_large

if TYPE_CHECKING:
    from orchestrator.catalog.market import Market
    from orchestrator.plan.plan import Plan
    from orchestrator.planner.model.problem import Limit
    from orchestrator.wire.task import Quota

MOST_TOLD, MOST_OF_LARGE = 20, 3
"""Quotas of a sweep, and of a large one, for which it is worked out: each is a plan of its own."""


def find_savings(plan: Plan, market: Market) -> dict[Quota, float | None]:
    """Return the $ that slots for one more training would save, for each quota that the plan leaves no room in.

    All but the few that hold most are None, and so are all of a plan that is to be fast. For a plan as large as those
    that are not solved exactly, a figure is as near as its gap. `market` is the one that the plan was made from.
    """
    return _OneMore(plan, formulate(plan.sweep, market)).savings()


class _OneMore(Explainer):
    def savings(self) -> dict[Quota, float | None]:
        """Return the $ that slots for one more training would save, of each quota without room for it."""
        limits, slots = self._problem.limits, self._filled.slots
        used = [limit.used(slots) for limit in limits]
        full = [n for n in np.argsort(used)[::-1].tolist() if used[n] > 0 and not self._has_room(limits[n])]
        tried = full[: MOST_OF_LARGE if is_large(self._problem) else MOST_TOLD]
        saved = {number: self.saved(number, limits[number].units.min()) for number in tried}
        return {self._quotas[number]: saved.get(number) for number in full}

    def _has_room(self, limit: Limit) -> bool:
        """Return whether the longest task of each lane in use would still find a slot there.

        A lane may have slots in which no task would end in time: they are missed by nobody.
        """
        choices = self._problem.choices
        rows = [np.flatnonzero(choices.lane == lane) for lane in limit.lanes if self._filled.slots[lane] > 0]
        return all(self._filled.has_room(int(its[choices.hours[its].argmax()]), 1) for its in rows if len(its))
