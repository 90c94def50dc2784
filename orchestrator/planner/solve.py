"""Sweep and Market in, Plan out. Pure: same arguments, same plan, byte for byte. The model: docs/planner.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.errors import InfeasibleError
from orchestrator.planner.ask import ask
from orchestrator.planner.clock import Clock
from orchestrator.planner.plan import Plan
from orchestrator.planner.problem import DoesNotFit
from orchestrator.planner.pursue import pursue
from orchestrator.planner.write import written

if TYPE_CHECKING:
    from orchestrator.catalog.market import Market
    from orchestrator.spec.sweep import Sweep


def solve(sweep: Sweep, market: Market, time_limit_s: float | None = None) -> Plan:
    """InfeasibleError or Refused, in words, when there is no plan that does what the sweep asks for.

    With a limit in seconds, a plan that it cut short says so: it is not reproducible.
    """
    asked = ask(sweep, market)
    clock = Clock() if time_limit_s is None else Clock(time_limit_s)
    try:
        solution = pursue(asked.offer.problem, sweep.plan, clock)
    except DoesNotFit:
        if clock.stopped:
            raise InfeasibleError(
                f"no plan was found within {time_limit_s:g} seconds", hint="allow more time, or none at all"
            ) from None
        from orchestrator.planner.refuse import Refusal  # here, for only a refusal always needs HiGHS

        raise Refusal(asked).error() from None
    notes = [*asked.notes]
    if clock.stopped:
        notes.append(f"cut short after {time_limit_s:g} seconds: planning again may find another plan")
    plan = Plan(sweep, market.hash, asked.datasets, (), tuple(notes))
    return written(plan, asked.cohorts, asked.offer, solution)
