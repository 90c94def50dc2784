"""Improves the copies that a plan makes, by what slots are worth if all copies are made already and cost nothing.

Copies cost little beside what runs on them. So at these prices, only a few choices are worth a look: a search over them
takes less time than the relaxation does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.commodities import commodities
from orchestrator.planner.solver.columns import build_columns
from orchestrator.planner.solver.copies.choose_copies import improve_set
from orchestrator.planner.solver.copies.decide_copies import Decided, decided
from orchestrator.planner.solver.copies.proof import Proof
from orchestrator.planner.solver.copies.set_program import SetProgram, set_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.planner.model.arrays import Booleans
    from orchestrator.planner.model.commodities import Commodity
    from orchestrator.planner.model.problem import Problem
    from orchestrator.planner.model.solution import Solution
    from orchestrator.planner.model.time_limit import TimeLimit
    from orchestrator.planner.solver.columns import Columns

NEAR = 1e-5
"""Columns are looked at if they are dearer than their commodity's cheapest by no more than this part."""


def improve_copies(problem: Problem, found: Solution, time_limit: TimeLimit) -> Decided:
    """Return the problem with copies decided: those of a solution, or better ones that are near."""
    all_commodities = commodities(problem)
    relaxation = build_columns(problem, all_commodities)
    proof = Proof(relaxation)
    proof.improve(problem, 0.0, time_limit)
    costs = relaxation.reduced_costs(proof.duals)
    cheapest = np.minimum.reduceat(costs, relaxation.starts)[relaxation.commodity]
    near = costs <= cheapest + NEAR * np.abs(cheapest)
    rows = np.flatnonzero(near | _in_use(relaxation, all_commodities, found))
    copies = improve_set(SetProgram(relaxation, rows), set_of(found.copies), proof.bound, time_limit)
    return decided(problem, copies, proof)


def _in_use(relaxation: Columns, all_commodities: Sequence[Commodity], found: Solution) -> Booleans:
    """Return which columns have a cohort whose tasks the solution sends that way."""
    is_used = np.zeros(len(found.tasks), dtype=bool)
    for commodity in all_commodities:
        for _, rows in commodity.members:
            is_used[commodity.rows] |= found.tasks[rows] > 0
    return np.asarray(is_used[relaxation.choice])
