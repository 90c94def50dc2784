"""Sweep and Market in, Plan out. Pure: same arguments, same plan, byte for byte. The model: docs/planner.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.planner.ask import ask
from orchestrator.planner.plan import Plan
from orchestrator.planner.problem import DoesNotFit
from orchestrator.planner.pursue import pursue
from orchestrator.planner.write import written

if TYPE_CHECKING:
    from orchestrator.catalog.market import Market
    from orchestrator.spec.sweep import Sweep


def solve(sweep: Sweep, market: Market) -> Plan:
    """InfeasibleError or Refused, in words, when there is no plan that does what the sweep asks for."""
    asked = ask(sweep, market)
    try:
        solution = pursue(asked.offer.problem, sweep.plan)
    except DoesNotFit:
        from orchestrator.planner.refuse import Refusal  # here, for only a refusal always needs HiGHS

        raise Refusal(asked).error() from None
    return written(Plan(sweep, market.hash, asked.datasets, (), asked.notes), asked.cohorts, asked.offer, solution)
