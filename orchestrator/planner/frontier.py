"""Makes plans from the cheapest to the fastest: they say what time costs."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

from orchestrator.errors import InfeasibleError
from orchestrator.planner.solve import solve
from orchestrator.spec.duration import HOUR, MINUTE, spell
from orchestrator.spec.goal import Goal

if TYPE_CHECKING:
    from orchestrator.catalog.market import Market
    from orchestrator.plan.plan import Plan
    from orchestrator.spec.sweep import Sweep

PLANS = 8
"""Plans at most."""
TRIES = 12
"""Deadlines that are tried. Two of them may lead to the same plan, where there is little to choose from."""
NEAR = 1.02
"""The factor by which two deadlines must differ for another one to be tried between them."""


def frontier(sweep: Sweep, market: Market) -> list[Plan]:
    """Return plans, the cheapest first. Each is faster than the one before.

    Raise what `solve` raises, if the sweep has no plan.
    """
    horizon = spell(sweep.plan.hours * HOUR)
    cheapest = solve(_with_goal(sweep, Goal(horizon=horizon)), market)
    fastest = solve(_with_goal(sweep, Goal(minimize="time", horizon=horizon)), market)
    plans = [cheapest, fastest]
    gaps = [(fastest.finish, cheapest.finish)]
    for _ in range(TRIES):
        low, high = max(gaps, key=lambda hours: hours[1] / hours[0])
        if high < low * NEAR or len(_drop_dominated(plans)) == PLANS:
            break
        gaps.remove((low, high))
        deadline = sqrt(low * high)
        try:
            plan = solve(_with_goal(sweep, Goal(deadline=spell(max(deadline * HOUR, MINUTE)))), market)
        except InfeasibleError:  # rounded to a second below the fastest
            gaps.append((deadline, high))
            continue
        plans.append(plan)
        # No other plan ends between this one's end and its deadline.
        gaps += [(low, max(plan.finish, low)), (deadline, high)]
    return _drop_dominated(plans)


def _with_goal(sweep: Sweep, goal: Goal) -> Sweep:
    return sweep.model_copy(update={"plan": goal})


def _drop_dominated(plans: list[Plan]) -> list[Plan]:
    """Return the plans, the cheapest first, without those that another one beats in cost and in time."""
    found: list[Plan] = []
    for plan in sorted(plans, key=lambda plan: (plan.usd, plan.finish)):
        if not found or plan.finish < found[-1].finish:
            found.append(plan)
    return found
