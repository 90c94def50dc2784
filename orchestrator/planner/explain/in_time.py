"""Tries what a refusal would suggest as planning would: with a deadline, the starts of tasks count too."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.solver.meet_goal import least_hours
from orchestrator.planner.solver.optimise import find_least_promise, find_room, is_large
from orchestrator.planner.start_rates import end_hours, fit_starts, held_problem, least_hours_to_start

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.planner.model.problem import Problem
    from orchestrator.planner.model.solution import Solution
    from orchestrator.planner.offer.offer import Offer
    from orchestrator.spec.goal import Goal


@dataclass(frozen=True)
class InTime:
    """The problem of an offer in which remedies are looked for, and a way to try one."""

    offer: Offer
    goal: Goal

    @cached_property
    def problem(self) -> Problem:
        """The offer's problem, in which tasks take the hours that they hold their slots, if these count.

        A large one has the plain hours, with which it is far quicker: there, starts count in `room` alone.
        """
        return self.offer.problem if is_large(self.offer.problem) else self.held

    @cached_property
    def held(self) -> Problem:
        """The problem in which tasks take the hours that they hold their slots, if these count."""
        plain = self.offer.problem
        return held_problem(self.offer, plain) if self.counts_starts else plain

    @property
    def least_hours(self) -> float:
        """The hours of the goal, or more: those that the longest task and all starts take at least."""
        if not self.counts_starts:
            return self.goal.hours
        return max(self.goal.hours, least_hours(self.held), least_hours_to_start(self.offer))

    @property
    def counts_starts(self) -> bool:
        """True if the sweep has a deadline. A horizon is nothing that was promised."""
        return self.goal.deadline is not None

    @property
    def budget(self) -> float:
        """The sweep's budget; inf without one."""
        return np.inf if self.goal.budget is None else self.goal.budget

    def room(self, problem: Problem, hours: float) -> Solution:
        """Return a solution of a problem that was made from this one, within so many hours; DoesNotFit without one."""
        return self._in_time(problem, hours, find_room)

    def least_promise(self, problem: Problem, hours: float) -> Solution:
        """Return the same, but one that promises about as little as can be; no budget counts."""
        return self._in_time(problem, hours, find_least_promise)

    def _in_time(self, problem: Problem, hours: float, find: Callable[[Problem], Solution]) -> Solution:
        def find_within(problem: Problem, hours: float) -> Solution:
            return find(problem.within(hours))

        if not self.counts_starts:
            return find_within(problem, hours)
        if not is_large(self.offer.problem):
            return fit_starts(problem, self.offer, hours, find_within)
        found = find_within(problem, hours)
        if end_hours(found, self.offer).max() <= hours:
            return found
        return fit_starts(held_problem(self.offer, problem), self.offer, hours, find_within)
