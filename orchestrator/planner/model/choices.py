"""The choices of a problem: one row for each cohort, each lane that it may go to, and each way to pay for it there."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.planner.model.arrays import Booleans, Floats, Integers

NO_COPY = -1
"""Stands in `Choices.copy` where the data lies there already."""
NO_POOL = -1
"""Stands in `Choices.pool` where no savings plan pays."""


@dataclass(frozen=True)
class Choices:
    """Arrays of equal length, one row a choice: cohort by cohort, and in each cohort cheapest first."""

    cohort: Integers
    lane: Integers
    copy: Integers
    """The copy that brings the data there, or NO_COPY."""
    hours: Floats
    """Hours that one task holds a slot at most: those of the cohort's longest task. No limit is exceeded by them."""
    wait: Floats
    """Hours before a task may start: its data is on the way, or its lane is not open yet."""
    usd: Floats
    """Expected $ of one task, and `unpaid`: what the solver goes by."""
    promise: Floats
    """The smallest envelope ($) that one honest task fits into. It never counts on a pool."""
    pool: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """The pool that pays for it, or NO_POOL. No pool pays for anything unless this is given."""
    draw: Floats = field(default_factory=lambda: np.empty(0))
    """$ that one task takes from that pool."""
    average: Floats = field(default_factory=lambda: np.empty(0))
    """Hours that one task holds a slot on average, which its cost goes by. They are `hours` unless given."""

    unpaid: Floats = field(default_factory=lambda: np.empty(0))
    """$ of `usd` that nobody pays: they are counted because the lane refuses machines. 0 unless given."""

    def __post_init__(self) -> None:
        if not len(self.unpaid):
            object.__setattr__(self, "unpaid", np.zeros(len(self)))
        if not len(self.average):
            object.__setattr__(self, "average", self.hours)
        if not len(self.pool):
            object.__setattr__(self, "pool", np.full(len(self), NO_POOL))
            object.__setattr__(self, "draw", np.zeros(len(self)))

    def __len__(self) -> int:
        return len(self.cohort)

    @cached_property
    def paid(self) -> Floats:
        """Expected $ of one task that somebody pays."""
        return self.usd - self.unpaid

    def take(self, rows: Integers | Booleans) -> Choices:
        """Return these rows only, in the order in which they are given."""
        return Choices(**{name: getattr(self, name)[rows] for name in self.__dataclass_fields__})

    @classmethod
    def join(cls, parts: Sequence[Choices]) -> Choices:
        """Return the rows of all parts, one part after the other."""
        names = cls.__dataclass_fields__
        return cls(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})
