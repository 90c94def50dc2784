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
    spare: Floats = field(default_factory=lambda: np.empty(0))
    """Hours before the deadline by which one task must have ended there. With less, it would go on elsewhere in time,
    and cost something else. 0 unless given."""
    part: Floats = field(default_factory=lambda: np.empty(0))
    """The part of a slot that one task takes, whichever tasks it shares it with; NaN, unless given, where only hours
    tell. No slot holds tasks of more than 1 in all."""

    def __post_init__(self) -> None:
        defaults = {"pool": NO_POOL, "draw": 0.0, "unpaid": 0.0, "spare": 0.0, "part": np.nan}
        for name, value in defaults.items():
            if not len(getattr(self, name)):
                object.__setattr__(self, name, np.broadcast_to(np.array(value), len(self)))
        if not len(self.average):
            object.__setattr__(self, "average", self.hours)

    def __len__(self) -> int:
        return len(self.cohort)

    @cached_property
    def paid(self) -> Floats:
        """Expected $ of one task that somebody pays."""
        return self.usd - self.unpaid

    def take(self, rows: Integers | Booleans) -> Choices:
        """Return these rows only, in the order in which they are given."""
        count = int(np.count_nonzero(rows)) if rows.dtype == bool else len(rows)
        taken: dict[int, np.ndarray] = {}
        """What was taken of each array: one that stands for two names is taken once."""
        for name in self.__dataclass_fields__:
            values = getattr(self, name)
            if id(values) not in taken:
                same = len(values) and _is_constant(values)
                taken[id(values)] = np.broadcast_to(values[0], count) if same else values[rows]
        return Choices(**{name: taken[id(getattr(self, name))] for name in self.__dataclass_fields__})

    @classmethod
    def join(cls, parts: Sequence[Choices]) -> Choices:
        """Return the rows of all parts, one part after the other."""
        names = cls.__dataclass_fields__
        return cls(**{name: _joined([getattr(part, name) for part in parts]) for name in names})


def _is_constant(values: np.ndarray) -> bool:
    """Return whether an array was made as one value that many rows share, and takes no more memory than that."""
    return values.strides == (0,)


def _joined(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Return the arrays one after the other; as one shared value if they all are the same one."""
    arrays = [each for each in arrays if len(each)] or [*arrays[:1]]
    if all(len(each) and _is_constant(each) for each in arrays):
        values = np.array([each[0] for each in arrays])
        if len(np.unique(values)) == 1:
            return np.broadcast_to(values[0], sum(len(each) for each in arrays))
    return np.concatenate(arrays)
