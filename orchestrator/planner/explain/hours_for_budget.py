"""Finds the hours below which a budget is certainly not enough, as far as hours tell, in a problem of any size.

At any prices of slots, what every plan promises at least falls in a straight line as slots are there for longer. So the
line's hours for the budget are too few as well, or just enough: prices are found anew there, until nothing is missing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.commodities import commodities
from orchestrator.planner.solver.columns import Allowance, Duals, Usage, build_columns
from orchestrator.planner.solver.copies.pay_charges import pay_charges
from orchestrator.planner.solver.copies.proof import FROM_AFAR, NEARER
from orchestrator.planner.solver.dual_estimate import DualEstimate

if TYPE_CHECKING:
    from orchestrator.planner.model.problem import Problem
    from orchestrator.planner.solver.columns import Columns

LINES = 5
ENOUGH = 1e-3
"""The part of the budget that may still be missing."""
LONGER = 4.0
"""Choices that take so many times longer than there is time are looked at."""


def find_hours_for_budget(problem: Problem, hours: float) -> float:
    """Return hours from which on the budget may do; `hours`, if that is so already, and inf if it never does.

    `problem` must hold every choice, and one of each cohort that ends within these hours.
    """
    most = hours * LONGER
    longer = problem.within(most)
    promised = replace(longer, budget=np.inf, choices=replace(longer.choices, usd=longer.choices.promise))
    columns, budget = build_columns(promised, commodities(promised)), problem.budget
    if _bound(columns, pay_charges(columns, np.zeros(columns.limit_count))) > budget:
        return np.inf
    timed = np.arange(columns.limit_count) < len(columns.lanes) + len(columns.shared_limits)
    duals: Duals | None = None
    for _ in range(LINES):
        scale = np.where(timed, most / hours, 1.0)
        usage = columns.usage
        within = replace(columns, usage=Usage(usage.limit, usage.column, usage.part * scale[usage.limit]))
        estimate = DualEstimate(within)
        duals = estimate.estimate(FROM_AFAR) if duals is None else duals
        for cooling in NEARER:
            duals = estimate.settle(pay_charges(within, duals.limits), cooling)
        missing, falls = _bound(within, duals) - budget, float(duals.limits[timed].sum())
        if missing <= ENOUGH * budget or falls <= 0:
            break
        hours *= 1 + missing / falls
    return hours


def _bound(columns: Columns, duals: Duals) -> float:
    return columns.bound(duals, columns.allowed(Allowance()))
