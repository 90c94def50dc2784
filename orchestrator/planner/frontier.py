"""From the cheapest plan to the fastest: what time costs."""

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
TRIES = 12
"""Plans are made; some of them twice, where little can be chosen."""
NEAR = 1.02
"""Deadlines that differ by less are not told apart."""


def frontier(sweep: Sweep, market: Market) -> list[Plan]:
    """The cheapest first. None is both dearer and slower than another."""
    horizon = spell(sweep.plan.hours * HOUR)
    cheapest = solve(_with(sweep, Goal(horizon=horizon)), market)
    fastest = solve(_with(sweep, Goal(minimize="time", horizon=horizon)), market)
    plans = [cheapest, fastest]
    between = [(fastest.finish, cheapest.finish)]
    for _ in range(TRIES):
        low, high = max(between, key=lambda hours: hours[1] / hours[0])
        if high < low * NEAR or len(_better_in_something(plans)) == PLANS:
            break
        between.remove((low, high))
        deadline = sqrt(low * high)
        try:
            plan = solve(_with(sweep, Goal(deadline=spell(max(deadline * HOUR, MINUTE)))), market)
        except InfeasibleError:  # rounded to a second below the fastest
            between.append((deadline, high))
            continue
        plans.append(plan)
        # From when it ends until the deadline there is no other.
        between += [(low, max(plan.finish, low)), (deadline, high)]
    return _better_in_something(plans)


def _with(sweep: Sweep, goal: Goal) -> Sweep:
    return sweep.model_copy(update={"plan": goal})


def _better_in_something(plans: list[Plan]) -> list[Plan]:
    found: list[Plan] = []
    for plan in sorted(plans, key=lambda plan: (plan.usd, plan.finish)):
        if not found or plan.finish < found[-1].finish:
            found.append(plan)
    return found
