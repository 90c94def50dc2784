"""The model of docs/planner.md as arrays: what there is to choose from, and what was chosen."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.arrays import SLACK
from orchestrator.planner.model.busy_hours import busy_hours

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Booleans, Floats, Integers

NO_COPY = -1
NO_POOL = -1


@dataclass(frozen=True)
class Choices:
    """One row for each cohort and each place it may go to, by cohort, and in each cohort cheapest first."""

    cohort: Integers
    lane: Integers
    copy: Integers
    """The copy that brings the data there, or NO_COPY."""
    hours: Floats
    """That one task holds a slot."""
    wait: Floats
    """Hours before it may start: its data is on the way."""
    usd: Floats
    """Expected, of one task."""
    promise: Floats
    """The least envelope that one honest task fits into. It never counts on a pool."""
    pool: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """The pool that pays for it, or NO_POOL; unless said, none does."""
    draw: Floats = field(default_factory=lambda: np.empty(0))
    """$ that one task takes from that pool."""

    def __post_init__(self) -> None:
        if not len(self.pool):
            object.__setattr__(self, "pool", np.full(len(self), NO_POOL))
            object.__setattr__(self, "draw", np.zeros(len(self)))

    def __len__(self) -> int:
        return len(self.cohort)

    def take(self, rows: Integers | Booleans) -> Choices:
        return Choices(**{name: getattr(self, name)[rows] for name in self.__dataclass_fields__})


@dataclass(frozen=True)
class Total:
    """A limit on several lanes together. Each of them holds a fixed part of it for as long as the plan runs."""

    lanes: Integers
    slots: float
    """Trainings at once."""


@dataclass(frozen=True)
class Pool:
    """A savings plan: so many $ of on-demand work an hour are paid already."""

    usd_per_hour: float
    opens: float
    closes: float
    """Hours from now."""

    def usd(self, horizon: float) -> float:
        """That it holds within the horizon."""
        return self.usd_per_hour * max(min(self.closes, horizon) - max(self.opens, 0.0), 0.0)


@dataclass(frozen=True)
class Problem:
    counts: Integers
    """Tasks of each cohort."""
    slots: Floats
    """Trainings that each lane holds at once; inf where no quota is known."""
    charges: Floats
    """$ of each copy."""
    choices: Choices
    horizon: float
    budget: float = np.inf
    """Of all promises and copies together."""
    closes: Floats = field(default_factory=lambda: np.empty(0))
    """Hours after which each lane is not ours any more; unless said, it stays."""
    totals: tuple[Total, ...] = ()
    pools: tuple[Pool, ...] = ()

    def __post_init__(self) -> None:
        if not len(self.closes):
            object.__setattr__(self, "closes", np.full(len(self.slots), np.inf))

    def within(self, horizon: float) -> Problem:
        """Only what can end in time. The rows keep their order."""
        return replace(self, choices=self.choices.take(self.kept(horizon)), horizon=horizon)

    def kept(self, horizon: float) -> Booleans:
        """Which choices can end in time."""
        until = np.minimum(self.closes, horizon)[self.choices.lane]
        return np.asarray(self.choices.hours + self.choices.wait <= until * SLACK)

    @cached_property
    def until(self) -> Floats:
        """By lane: when its last task must have ended."""
        return np.minimum(self.closes, self.horizon)

    @cached_property
    def open(self) -> Floats:
        """By lane: hours between the first that anything may start there and the last."""
        first = np.full(len(self.slots), np.inf)
        np.minimum.at(first, self.choices.lane, self.choices.wait)
        return np.maximum(self.until - np.where(np.isfinite(first), first, 0.0), 0.0)

    @cached_property
    def most(self) -> Floats:
        """By lane: trainings at once that its own slots, and each total alone, leave to it."""
        found = self.slots.copy()
        for total in self.totals:
            found[total.lanes] = np.minimum(found[total.lanes], total.slots)
        return found

    @cached_property
    def shared(self) -> tuple[Total, ...]:
        """The totals that are less than what their lanes could take."""
        return tuple(total for total in self.totals if self.most[total.lanes].sum() > total.slots)

    @cached_property
    def funds(self) -> Floats:
        """$ in each pool until the horizon."""
        return np.array([pool.usd(self.horizon) for pool in self.pools], dtype=np.float64)

    def drawn(self, tasks: Integers) -> Floats:
        """$ that these tasks draw from each pool."""
        paid = np.flatnonzero((self.choices.pool != NO_POOL) & (tasks > 0))
        draws = self.choices.draw[paid] * tasks[paid]
        return np.bincount(self.choices.pool[paid], weights=draws, minlength=len(self.pools)).astype(np.float64)

    @cached_property
    def first(self) -> Integers:
        """The choices of cohort k are first[k] up to first[k + 1]."""
        return np.searchsorted(self.choices.cohort, np.arange(len(self.counts) + 1))

    @cached_property
    def cheapest(self) -> Integers:
        """The row of each cohort's cheapest choice: its first, unless costs were replaced."""
        by_usd = np.lexsort((self.choices.usd, self.choices.cohort))
        return by_usd[self.first[:-1]]

    @cached_property
    def busy_hours(self) -> Floats:
        """Hours that one slot of each lane can be busy for at most, given that tasks are whole."""
        limited = np.isfinite(self.most)
        return busy_hours(self.choices.lane, self.choices.hours, self.open, limited)

    @property
    def stranded(self) -> Integers:
        """Cohorts that have no choice at all."""
        return np.flatnonzero(np.diff(self.first) == 0)
