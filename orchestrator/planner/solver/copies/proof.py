"""Proves what any plan costs at least, whichever copies it makes, from what slots are about worth."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.choices import NO_COPY
from orchestrator.planner.model.commodities import commodities
from orchestrator.planner.solver.columns import Allowance, Duals, build_columns, prices_in
from orchestrator.planner.solver.copies.pay_charges import pay_charges
from orchestrator.planner.solver.dual_estimate import Cooling, DualEstimate
from orchestrator.planner.solver.sifting import Sifting

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Floats
    from orchestrator.planner.model.problem import Problem
    from orchestrator.planner.model.time_limit import TimeLimit
    from orchestrator.planner.solver.columns import Columns

FROM_AFAR, NEARER = Cooling(1.0, 0.002, 160), (Cooling(0.01, 0.001, 40), Cooling(0.003, 0.0003, 50))
"""The cooling when duals are estimated that no program told, and when they are settled then."""
FEWER = 2
"""The factor by which copies that cost nothing must leave fewer columns, for these to be looked at."""


class Proof:
    """The best bound that is proven so far."""

    def __init__(self, columns: Columns, bound: float | None = None) -> None:
        """Take the relaxation in which copies are not decided, and what is proven already."""
        self._columns, self._allowed = columns, columns.allowed(Allowance())
        self.bound = 0.0 if bound is None else bound
        self.duals = Duals(np.zeros(columns.limit_count), np.zeros(len(columns.copy_of)))
        """The duals that prove most, of those that were used."""
        self._is_estimated = bound is not None
        self._are_copies_free = False
        self._budget_dual = 0.0

    def use_prices(self, of: Columns, limits: Floats) -> None:
        """Prove what these duals of another relaxation's limits prove, in which copies are decided.

        Commodities pay the charges of copies. Where the copies that were decided are about the best, this proves nearly
        all that can be proven.
        """
        found = prices_in(self._columns, of, limits)
        self._budget_dual = float(found[self._columns.budget_limit].sum())
        self._use(pay_charges(self._columns, found))

    def improve(self, problem: Problem, enough: float, time_limit: TimeLimit) -> None:
        """Prove more in ways that take longer, the fastest first, until a bound of more than `enough` is proven.

        Each way once only, and only if nothing was proven to begin with.
        """
        if self._is_estimated or self.bound > enough:
            return
        if not self._are_copies_free:
            self.use_free_copies(problem, time_limit)
        if self.bound <= enough:
            self.estimate(enough)

    def use_free_copies(self, problem: Problem, time_limit: TimeLimit) -> None:
        """Prove what prices of limits prove that would hold if all copies were made already, and cost nothing.

        Then cohorts whose data lies in different places are alike. If that makes far fewer commodities, prices take
        little time. Where copies cost little beside all else, they prove nearly all that can be proven.
        """
        self._are_copies_free = True
        made = replace(problem.choices, copy=np.broadcast_to(np.array(NO_COPY), len(problem.choices)))
        free = replace(problem, choices=made, charges=np.empty(0))
        free.__dict__["busy_hours"] = problem.busy_hours
        columns = build_columns(free, commodities(free))
        if len(columns) * FEWER <= len(self._columns):
            sifting = Sifting(columns)
            sifting.solve(time_limit)
            self._use(pay_charges(self._columns, prices_in(self._columns, columns, sifting.limits)))

    def estimate(self, enough: float = np.inf) -> None:
        """Prove what duals prove that are estimated without any program; once only, and only if nothing was proven.

        Stop when a bound of more than `enough` is proven.

        A budget keeps the price that it had last.
        """
        if self._is_estimated:
            return
        self._is_estimated = True
        priced = self._columns.at_budget_price(self._budget_dual)
        estimate = DualEstimate(priced)
        duals = estimate.estimate(FROM_AFAR)
        for cooling in NEARER:
            self._use(self._with_budget(duals))
            if self.bound > enough:
                return
            duals = estimate.settle(pay_charges(priced, duals.limits), cooling)
        self._use(self._with_budget(pay_charges(priced, duals.limits)))

    def sift(self, time_limit: TimeLimit) -> None:
        """Prove what the relaxation proves. In a large problem this takes long."""
        self.bound = max(self.bound, Sifting(self._columns).solve(time_limit).bound)

    def _with_budget(self, duals: Duals) -> Duals:
        limits = duals.limits.copy()
        limits[self._columns.budget_limit] = self._budget_dual
        return Duals(limits, duals.links)

    def _use(self, duals: Duals) -> None:
        bound = self._columns.bound(duals, self._allowed)
        if bound > self.bound:
            self.bound, self.duals = bound, duals
