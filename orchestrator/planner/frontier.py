"""From the cheapest plan to the fastest: what time costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.errors import InfeasibleError
from orchestrator.planner.solve import solve
from orchestrator.spec.duration import HOUR, MINUTE, spell
from orchestrator.spec.goal import Goal

if TYPE_CHECKING:
    from orchestrator.catalog.market import Market
    from orchestrator.planner.plan import Plan
    from orchestrator.spec.sweep import Sweep

PLANS = 7


def frontier(sweep: Sweep, market: Market) -> list[Plan]:
    """The cheapest first; deadlines lie evenly, by factors, between the two ends. None is both dearer and slower."""
    horizon = spell(sweep.plan.hours * HOUR)
    cheapest = solve(_with(sweep, Goal(horizon=horizon)), market)
    fastest = solve(_with(sweep, Goal(minimize="time", horizon=horizon)), market)
    ratio = fastest.finish / cheapest.finish
    plans = [cheapest]
    for step in range(1, PLANS - 1):
        hours = cheapest.finish * ratio ** (step / (PLANS - 1))
        try:
            plans.append(solve(_with(sweep, Goal(deadline=spell(max(hours * HOUR, MINUTE)))), market))
        except InfeasibleError:  # rounded to a second below the fastest
            break
    plans.append(fastest)
    return _better_in_something(plans)


def _with(sweep: Sweep, goal: Goal) -> Sweep:
    return sweep.model_copy(update={"plan": goal})


def _better_in_something(plans: list[Plan]) -> list[Plan]:
    found: list[Plan] = []
    for plan in sorted(plans, key=lambda plan: (plan.usd, plan.finish)):
        if not found or plan.finish < found[-1].finish:
            found.append(plan)
    return found
