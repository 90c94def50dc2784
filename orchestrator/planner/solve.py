"""Sweep and Market in, Plan out. Pure: same arguments, same plan, byte for byte. The model: docs/planner-model.md."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.errors import InfeasibleError
from orchestrator.plan.plan import Plan
from orchestrator.planner.compose import compose
from orchestrator.planner.lane_notes import lane_notes
from orchestrator.planner.model.solution import DoesNotFit, NotFound
from orchestrator.planner.model.time_limit import TimeLimit
from orchestrator.planner.move_prices import price_moves
from orchestrator.planner.offer.formulate import formulate
from orchestrator.planner.start_rates import StartsTooLate, solve_in_time
from orchestrator.planner.starting import starting_notes

if TYPE_CHECKING:
    from orchestrator.catalog.market import Market
    from orchestrator.planner.offer.formulate import Formulation
    from orchestrator.spec.sweep import Sweep


def solve(sweep: Sweep, market: Market, time_limit_s: float | None = None) -> Plan:
    """Return the plan that does what the sweep asks for.

    InfeasibleError or Refused says in words why there is none. With a limit in seconds, a plan that the limit cut short
    says so in its notes: such a plan is not reproducible.
    """
    return solve_formulated(formulate(sweep, market), market, time_limit_s)


def solve_formulated(formulation: Formulation, market: Market, time_limit_s: float | None = None) -> Plan:
    """Return the plan that solves this problem, which was made in this market; raise what `solve` raises."""
    sweep = formulation.sweep
    time_limit = TimeLimit() if time_limit_s is None else TimeLimit(time_limit_s)
    try:
        solution = solve_in_time(formulation.offer, sweep.plan, time_limit)
    except StartsTooLate as late:
        from orchestrator.planner.explain.late_starts import late_starts_error  # here, as below

        raise late_starts_error(late.solution, formulation) from None
    except DoesNotFit as failure:
        if time_limit.stopped:
            raise InfeasibleError(
                f"no plan was found within {time_limit_s:g} seconds", hint="allow more time, or none at all"
            ) from None
        from orchestrator.planner.explain.refusal import Refusal  # here, for only a refusal always needs HiGHS

        raise Refusal(formulation, proven=not isinstance(failure, NotFound)).error() from None
    notes = [*formulation.notes]
    if time_limit.stopped:
        notes.append(f"cut short after {time_limit_s:g} seconds: planning again may find another plan")
    learned = formulation.learned.to_json() if formulation.learned is not None else None
    plan = Plan(sweep, formulation.market, formulation.datasets, (), tuple(notes), learned=learned)
    plan = compose(plan, formulation, market, solution)
    plan = price_moves(plan, market.transfers)
    offered = formulation.offer
    return replace(plan, notes=(*plan.notes, *lane_notes(plan, offered, market), *starting_notes(plan, offered)))
