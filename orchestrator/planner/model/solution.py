"""What was chosen: the number of tasks of each choice, and the slots that they take. Or the error that nothing fits."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.arrays import SLACK
from orchestrator.planner.model.choices import NO_COPY

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Floats, Integers
    from orchestrator.planner.model.problem import Problem


@dataclass(frozen=True)
class Solution:
    """The tasks that are sent to each choice of a problem, what they cost, and a bound for what any plan costs."""

    problem: Problem
    tasks: Integers
    """Tasks sent to each choice."""
    bound: float
    """$ that every plan costs at least, as the solver counts them: this is proven."""
    slots: Floats = field(default_factory=lambda: np.empty(0))
    """Slots that each lane takes of its limits. They are as many as the lane may hold alone unless this is given."""

    def __post_init__(self) -> None:
        if not len(self.slots):
            object.__setattr__(self, "slots", self.problem.most_slots)

    @cached_property
    def copies(self) -> Integers:
        """The numbers of the copies that are made, each once."""
        used = self.problem.choices.copy[self.tasks > 0]
        return np.unique(used[used != NO_COPY])

    @cached_property
    def usd(self) -> float:
        """Expected $ of all tasks and copies, and those that are counted for refusals."""
        return float(self.tasks @ self.problem.choices.usd + self.problem.charges[self.copies].sum())

    @cached_property
    def unpaid(self) -> float:
        """$ that are counted for refusals, and that nobody pays."""
        return float(self.tasks @ self.problem.choices.unpaid)

    @property
    def paid(self) -> float:
        """Expected $ of all tasks and copies that somebody pays."""
        return self.usd - self.unpaid

    @cached_property
    def promise(self) -> float:
        """$ that all envelopes and copies come to at least."""
        return float(self.tasks @ self.problem.choices.promise + self.problem.charges[self.copies].sum())

    @property
    def keeps_budget(self) -> bool:
        """True if the budget is enough for what is promised. Equal sums may differ in their last bits."""
        return self.promise <= self.problem.budget * SLACK

    @property
    def gap(self) -> float:
        """The part of the bound by which this costs more than the bound; 0 where the bound is 0."""
        return max(self.usd / self.bound - 1, 0.0) if self.bound > 0 else 0.0


class DoesNotFit(Exception):
    """Raised where the tasks cannot all run within the horizon and the budget."""


class NotFound(DoesNotFit):
    """Raised where no way was found in which the tasks all run, and it is not proven that there is none."""
