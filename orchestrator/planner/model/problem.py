"""Everything that a plan may not exceed, in one place: the `Problem`, which holds these limits beside its choices.

| what may not be exceeded                                 | where it stands                               |
| ---                                                      | ---                                           |
| the units of a quota that lanes hold at once             | `Problem.limits`, each a `Limit`              |
| the dollars that a savings plan has paid for             | `Problem.pools`, each a `Pool`                |
| the time until which all tasks have ended                | `Problem.horizon`                             |
| the time until which a lane is ours                      | `Problem.closes`                              |
| the time until which tasks on spot can still change      | `Choices.spare`, `Problem.margins`            |
| the dollars promised, copies included                    | `Problem.budget`                              |

docs/planner-model.md writes them as inequalities.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.arrays import SLACK
from orchestrator.planner.model.busy_hours import busy_hours
from orchestrator.planner.model.choices import NO_POOL

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Booleans, Floats, Integers
    from orchestrator.planner.model.choices import Choices


@dataclass(frozen=True)
class Limit:
    """A quota, in units. Each of its lanes holds a fixed part of it for as long as the plan runs."""

    lanes: Integers
    """The numbers of the lanes that it counts."""
    units: Floats
    """Units that one training holds on each of these lanes."""
    free: float
    """Units that they hold at once, all together."""

    @cached_property
    def step(self) -> int:
        """The units by which it can grow to any use: the greatest common divisor of what trainings hold."""
        return int(np.gcd.reduce(np.rint(self.units).astype(np.int64)))

    def used(self, slots: Floats) -> float:
        """Return the units that lanes with so many slots hold."""
        return float(self.units @ slots[self.lanes])


@dataclass(frozen=True)
class Pool:
    """A savings plan: so many $ of on-demand work an hour are paid already."""

    usd_per_hour: float
    opens: float
    """Hours from now at which it begins."""
    closes: float
    """Hours from now at which it ends."""

    def usd(self, horizon: float) -> float:
        """Return the $ that it pays for from now until the horizon."""
        return self.usd_per_hour * max(min(self.closes, horizon) - max(self.opens, 0.0), 0.0)


@dataclass(frozen=True)
class Problem:
    """Tasks to send somewhere: what each cohort may choose from, and the limits that all choices share."""

    counts: Integers
    """Tasks of each cohort."""
    lanes: int
    """The number of lanes."""
    charges: Floats
    """$ of each copy. A copy is paid for once, however many tasks use it."""
    choices: Choices
    horizon: float
    """Hours from now until which every task has ended."""
    budget: float = np.inf
    """$ that all promises and copies together may come to."""
    closes: Floats = field(default_factory=lambda: np.empty(0))
    """Hours from now after which each lane is not ours any more. Every lane stays ours unless this is given."""
    limits: tuple[Limit, ...] = ()
    """The quotas that are known. A lane under none of them has as many slots as are wanted."""
    pools: tuple[Pool, ...] = ()
    lots: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """The number of each lane's lot. Lanes of one lot differ in the instances of a training, and in nothing else. Every
    lane is a lot of its own unless this is given."""
    instances: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """The instances of a training on each lane: 1 unless this is given."""
    deadline: float = 0.0
    """Hours from now from which `Choices.spare` counts back, where the horizon is shorter. Else the horizon is it."""
    margins: Floats = field(default_factory=lambda: np.empty(0))
    """Hours before that by which the last task of each lane has ended: the most that its choices need to spare, which
    `within` finds. Whoever leaves choices out keeps them, so a part of a problem has no longer slots than the whole."""

    def __post_init__(self) -> None:
        if not len(self.closes):
            object.__setattr__(self, "closes", np.full(self.lanes, np.inf))
        if not len(self.lots):
            object.__setattr__(self, "lots", np.arange(self.lanes))
        if not len(self.instances):
            object.__setattr__(self, "instances", np.ones(self.lanes, dtype=np.int64))
        if not len(self.margins):
            object.__setattr__(self, "margins", np.zeros(self.lanes))

    def within(self, horizon: float) -> Problem:
        """Return the problem with this horizon and only the choices that end in time. The rows keep their order."""
        in_time = self.ends_in_time(horizon)
        choices = self.choices if in_time.all() else self.choices.take(in_time)
        return replace(self, choices=choices, horizon=horizon, margins=self._most_spare(in_time))

    def ends_in_time(self, horizon: float) -> Booleans:
        """Return, for each choice, True if a task that starts as early as it may ends within this horizon."""
        lane, spare = self.choices.lane, self.choices.spare
        earliest_end = self.choices.hours + self.choices.wait
        found = np.asarray(earliest_end <= np.minimum(self.closes, horizon)[lane] * SLACK)
        if not spare.any():
            return found
        deadline = max(horizon, self.deadline)
        found &= earliest_end <= (deadline - spare) * SLACK
        most = self._most_spare(found)[lane]  # its tasks may be the last on their lane
        return np.asarray(found & (earliest_end <= np.where(most > 0, deadline - most, np.inf) * SLACK))

    def has_no_spare_hours(self, choice: int, horizon: float) -> bool:
        """Return whether a choice would end within this horizon, but not with the hours that it needs to spare."""
        end = self.choices.hours[choice] + self.choices.wait[choice]
        in_time = end <= min(self.closes[self.choices.lane[choice]], horizon) * SLACK
        return bool(in_time and not self.ends_in_time(horizon)[choice])

    @cached_property
    def latest_end(self) -> Floats:
        """Hours from now by which the last task of each lane must have ended."""
        return np.minimum(np.minimum(self.closes, self.horizon), max(self.horizon, self.deadline) - self.margins)

    def _most_spare(self, rows: Booleans) -> Floats:
        """Return the most that any of these choices needs to spare, for each lane."""
        found = np.zeros(self.lanes)
        if self.choices.spare.any():
            np.maximum.at(found, self.choices.lane[rows], self.choices.spare[rows])
        return found

    @cached_property
    def open_hours(self) -> Floats:
        """Hours of each lane between the earliest start of any choice there and the latest end, the slack included."""
        earliest_start = np.full(self.lanes, np.inf)
        np.minimum.at(earliest_start, self.choices.lane, self.choices.wait)
        starts = np.where(np.isfinite(earliest_start), earliest_start, 0.0)
        return np.maximum(self.latest_end * SLACK - starts, 0.0)

    @cached_property
    def most_slots(self) -> Floats:
        """Trainings that each lane may hold at once, if no other lane holds anything; inf where no quota is known."""
        found = np.full(self.lanes, np.inf)
        for limit in self.limits:
            alone = np.floor(limit.free / limit.units + 1e-9)
            found[limit.lanes] = np.minimum(found[limit.lanes], alone)
        return found

    @cached_property
    def shared_limits(self) -> tuple[Limit, ...]:
        """The limits that their lanes could exceed together: the lanes must share these."""
        return tuple(limit for limit in self.limits if limit.used(self.most_slots) > limit.free)

    def still_shared(self, lanes: Integers) -> tuple[Limit, ...]:
        """Return the shared limits that these lanes could exceed together, if no other lane holds anything."""
        slots = np.zeros(self.lanes)
        slots[lanes] = self.most_slots[lanes]
        return tuple(limit for limit in self.shared_limits if limit.used(slots) > limit.free)

    @cached_property
    def sharing_lanes(self) -> Integers:
        """The lanes that are under a shared limit, in order."""
        shared = [limit.lanes for limit in self.shared_limits]
        return np.unique(np.concatenate(shared)) if shared else np.empty(0, dtype=np.int64)

    def units_on(self, limit: Limit) -> Floats:
        """Return the units of this limit that one training holds on each of all lanes: 0 where it counts nothing."""
        found = np.zeros(self.lanes)
        found[limit.lanes] = limit.units
        return found

    @cached_property
    def funds(self) -> Floats:
        """$ that each pool pays for until the horizon."""
        return np.array([pool.usd(self.horizon) for pool in self.pools], dtype=np.float64)

    def drawn_usd(self, tasks: Integers) -> Floats:
        """Return the $ that these tasks, so many of each choice, draw from each pool."""
        paid = np.flatnonzero((self.choices.pool != NO_POOL) & (tasks > 0))
        draws = self.choices.draw[paid] * tasks[paid]
        return np.bincount(self.choices.pool[paid], weights=draws, minlength=len(self.pools)).astype(np.float64)

    @cached_property
    def first_choice(self) -> Integers:
        """The row of each cohort's first choice. Cohort k has the rows first_choice[k] up to first_choice[k + 1]."""
        return np.searchsorted(self.choices.cohort, np.arange(len(self.counts) + 1))

    @cached_property
    def cheapest(self) -> Integers:
        """The row of each cohort's cheapest choice: its first, unless costs were replaced."""
        by_usd = np.lexsort((self.choices.usd, self.choices.cohort))
        return by_usd[self.first_choice[:-1]]

    @cached_property
    def busy_hours(self) -> Floats:
        """Hours that one slot of each lane can be busy for at most, given that tasks are whole."""
        limited = np.isfinite(self.most_slots)
        return busy_hours(self.choices.lane, self.choices.hours, self.open_hours, limited)

    @cached_property
    def slot_parts(self) -> Floats:
        """The part of a slot that one task of each choice takes: as its hours tell, or what is known better."""
        with np.errstate(divide="ignore"):  # where no task ends in time, each takes more than any slot
            by_hours = self.choices.hours / self.busy_hours[self.choices.lane]
        return np.where(np.isnan(self.choices.part), by_hours, self.choices.part) if self.is_weighed else by_hours

    @cached_property
    def is_weighed(self) -> bool:
        """True if more than hours is known of what some tasks take of a slot."""
        return not np.isnan(self.choices.part).all()

    @property
    def stranded(self) -> Integers:
        """The cohorts that have no choice at all."""
        return np.flatnonzero(np.diff(self.first_choice) == 0)
