"""Decides which copies are made in a large problem, and proves what any plan costs, whichever copies it makes.

What is left then is a problem without copies.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.choices import NO_COPY
from orchestrator.planner.model.commodities import commodities
from orchestrator.planner.model.solution import DoesNotFit, Solution
from orchestrator.planner.solver.columns import Allowance, build_columns
from orchestrator.planner.solver.copies.choose_copies import choose_copies, made_parts
from orchestrator.planner.solver.copies.copies_program import CopiesProgram
from orchestrator.planner.solver.copies.proof import Proof
from orchestrator.planner.solver.copies.set_program import CopySet, set_of
from orchestrator.planner.solver.merged import merge_cohorts
from orchestrator.planner.solver.program import Effort
from orchestrator.planner.solver.room import check_room
from orchestrator.planner.solver.sifting import Sifted, Sifting

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Floats, Integers
    from orchestrator.planner.model.problem import Problem
    from orchestrator.planner.model.time_limit import TimeLimit
    from orchestrator.planner.solver.columns import Columns

NEAR = 5e-4
"""The part of the bound by which copies may be too dear, as far as hours tell, before a better bound is looked for."""
FEW, MANY = 4_000, 25_000
"""Columns up to which an integer program over all of them is searched, and up to which it is begun at all."""
LINKED = 2_000
"""Columns from which on rows for lanes and copies prove more in less time; below, many quick nodes do."""
EFFORT = Effort(gap=2e-4, nodes=1, plain=True)
FEWER = 2
"""The factor by which merged cohorts must have fewer choices than the relaxation has columns, to be looked at."""
PRICES, BUDGET_PRICE, MORE = 2, 1.0, 4.0
"""Times that a budget is priced; what it costs to promise a $ at first; and how many times more, if nothing fits."""
WORK = 400_000
"""Nodes times columns that are looked at, if there are few columns."""


@dataclass(frozen=True)
class Decided:
    """A problem in which the copies are made already, and what is known of the one in which they are not."""

    problem: Problem
    rows: Integers
    """The choices of the undecided problem that are left."""
    charges: float
    """$ of the copies."""
    copies: CopySet
    proof: Proof
    """What every plan costs at least, whichever copies it makes."""

    def undecide(self, whole: Problem, found: Solution) -> Solution:
        """Return the solution as one of the whole problem, in which copies are still to be made."""
        tasks = np.zeros(len(whole.choices), dtype=np.int64)
        tasks[self.rows] = found.tasks
        return replace(found, problem=whole, tasks=tasks, bound=self.proof.bound)


def decide_copies(problem: Problem, time_limit: TimeLimit) -> list[Decided]:
    """Return the problem with its copies decided in good ways, the best first, as far as hours tell.

    DoesNotFit, if not even parts of tasks fit, whatever is copied.
    """
    all_commodities = commodities(problem)
    if sum(len(each.rows) for each in all_commodities) > MANY:
        check_room(problem, time_limit)
    relaxation = build_columns(problem, all_commodities)
    if len(relaxation) > MANY:
        merged = merge_cohorts(problem, most=len(relaxation) // FEWER)
        if merged is not None:
            try:
                return _decide_by_averages(problem, merged, relaxation, time_limit)
            except DoesNotFit:  # average tasks may not fit where tasks as they are do
                if time_limit.stopped:
                    raise
    return _decide(problem, relaxation, time_limit)


def _decide(problem: Problem, relaxation: Columns, time_limit: TimeLimit) -> list[Decided]:
    sifting = Sifting(relaxation)
    sifted = sifting.solve(time_limit)
    parts = np.zeros(len(relaxation))
    parts[sifted.columns] = sifted.parts
    found = choose_copies(relaxation, sifting.costs, parts, sifted.bound, time_limit)
    bound = sifted.bound
    if found[0][1] > bound * (1 + NEAR) and len(relaxation) <= MANY and not time_limit.is_out:
        bound, copies, usd = _prove(problem, relaxation, sifted, parts, time_limit)
        found = sorted({**dict(found), copies: usd}.items(), key=lambda each: (each[1], sorted(each[0])))
    proof = Proof(relaxation, bound)
    return [decided(problem, copies, proof) for copies, usd in found if np.isfinite(usd)]


def _decide_by_averages(problem: Problem, merged: Problem, relaxation: Columns, time_limit: TimeLimit) -> list[Decided]:
    """Return the problem with the copies that are good where cohorts that are alike count as their average.

    Where cohorts are in no proportion, this takes a tenth of the time. A budget has a price: what the last copies make
    of it.
    """
    proof, price = Proof(relaxation), BUDGET_PRICE
    if not np.isfinite(problem.budget):
        return [decided(problem, copies, proof) for copies in _good_sets(merged, 0.0, time_limit)]
    for _ in range(PRICES):
        found = [decided(problem, copies, proof) for copies in _good_sets(merged, price, time_limit)]
        left = build_columns(found[0].problem, commodities(found[0].problem))
        sifting = Sifting(left)
        try:
            sifting.solve(time_limit)
        except DoesNotFit:
            price *= MORE
            continue
        price = float(sifting.limits[left.budget_limit[0]]) / found[0].problem.budget
    return found


def _good_sets(merged: Problem, price: float, time_limit: TimeLimit) -> list[CopySet]:
    """Return good sets of copies, the best first, if each $ that is promised costs this price besides."""
    choices = replace(merged.choices, usd=merged.choices.usd + price * merged.choices.promise)
    priced = replace(merged, choices=choices, charges=merged.charges * (1 + price), budget=np.inf)
    priced.__dict__["busy_hours"] = merged.busy_hours
    relaxation = build_columns(priced, commodities(priced))
    return [each.copies for each in _decide(priced, relaxation, time_limit)]


def _prove(
    problem: Problem, relaxation: Columns, sifted: Sifted, parts: Floats, time_limit: TimeLimit
) -> tuple[float, CopySet, float]:
    """Return a better bound, if there is one; and copies, with what all costs then as far as hours tell."""
    every = Sifted(np.arange(len(relaxation)), parts, sifted.bound)
    count = len(relaxation)
    effort = replace(EFFORT, nodes=WORK // count) if count <= FEW else EFFORT
    try:
        program = CopiesProgram(problem, relaxation, every, Allowance(), lane_links=count > LINKED)
        answer = program.solve(time_limit, effort)
    except DoesNotFit:  # it did not come that far
        return sifted.bound, frozenset([NO_COPY]), np.inf
    copies = set_of(np.flatnonzero(made_parts(relaxation, answer.flow) > 0))
    usd = float(relaxation.usd @ answer.flow + problem.charges[sorted(copies)].sum())
    return answer.bound, copies, usd


def decided(problem: Problem, copies: CopySet, proof: Proof) -> Decided:
    is_made = np.zeros(len(problem.charges) + 1, dtype=bool)
    is_made[[NO_COPY, *copies]] = True
    rows = np.flatnonzero(is_made[problem.choices.copy])
    choices = problem.choices.take(rows)
    at_hand = replace(choices, copy=np.broadcast_to(np.array(NO_COPY), len(choices)))
    charges = float(problem.charges[sorted(copies)].sum())
    left = replace(problem, choices=at_hand, charges=np.empty(0), budget=problem.budget - charges)
    return Decided(left, rows, charges, copies, proof)
