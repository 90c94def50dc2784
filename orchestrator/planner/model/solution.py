"""What was chosen: how many tasks of each choice, with the slots that this takes; or that nothing fits."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.problem import NO_COPY

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Floats, Integers
    from orchestrator.planner.model.problem import Problem


@dataclass(frozen=True)
class Solution:
    problem: Problem
    tasks: Integers
    """Sent to each choice."""
    bound: float
    """No plan costs less: proven."""
    slots: Floats = field(default_factory=lambda: np.empty(0))
    """That each lane has, of the totals it is under; unless said, as many as it can."""

    def __post_init__(self) -> None:
        if not len(self.slots):
            object.__setattr__(self, "slots", self.problem.most)

    @cached_property
    def copies(self) -> Integers:
        """The copies that are made, each once."""
        used = self.problem.choices.copy[self.tasks > 0]
        return np.unique(used[used != NO_COPY])

    @cached_property
    def usd(self) -> float:
        return float(self.tasks @ self.problem.choices.usd + self.problem.charges[self.copies].sum())

    @cached_property
    def promise(self) -> float:
        return float(self.tasks @ self.problem.choices.promise + self.problem.charges[self.copies].sum())

    @property
    def gap(self) -> float:
        return max(self.usd / self.bound - 1, 0.0) if self.bound > 0 else 0.0


class DoesNotFit(Exception):
    """The tasks cannot all run within the horizon and the budget."""
