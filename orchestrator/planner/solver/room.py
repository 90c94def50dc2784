"""Finds out whether tasks have room at all, as far as hours tell: with data everywhere, whatever anything costs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.choices import NO_COPY
from orchestrator.planner.model.commodities import commodities
from orchestrator.planner.solver.columns import build_columns
from orchestrator.planner.solver.sifting import Sifting

if TYPE_CHECKING:
    from orchestrator.planner.model.problem import Problem
    from orchestrator.planner.model.time_limit import TimeLimit


def check_room(problem: Problem, time_limit: TimeLimit) -> None:
    """Raise DoesNotFit if not even parts of tasks fit: that is proven.

    Where only hours count, most cohorts are alike. So this takes a fraction of the time that any plan takes.
    """
    bare = without_dollars(problem)
    Sifting(build_columns(bare, commodities(bare))).solve(time_limit, is_any_enough=True)


def without_dollars(problem: Problem) -> Problem:
    """Return the problem with all copies made, no budget, and hours as costs."""
    nothing, nowhere = (np.broadcast_to(np.array(value), len(problem.choices)) for value in (0.0, NO_COPY))
    choices = replace(problem.choices, usd=problem.choices.hours, promise=nothing, copy=nowhere)
    bare = replace(problem, choices=choices, charges=np.empty(0), budget=np.inf)
    bare.__dict__["busy_hours"] = problem.busy_hours
    return bare
