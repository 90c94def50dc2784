"""Says how many times as fast tasks are on several instances, and who knows it.

A sweep of one number of instances does with a prior. A plan that chooses among several would rest its choice on that
prior. So no number is then taken to be faster than the largest that somebody has said or seen something of.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from orchestrator.planner.hours.learned import INSTANCES
from orchestrator.planner.hours.speed import EFFICIENCY, speedup

if TYPE_CHECKING:
    from orchestrator.planner.hours.learned import LearnedHours
    from orchestrator.spec.train.train import Train


NOBODY = "as nobody has said or seen what they are worth: set `train.efficiency`, or write `instances` into `runtime`"


@dataclass(frozen=True)
class Scaling:
    """What several instances are worth to a task whose hours on one instance are known."""

    efficiency: float
    """Part of its speed that a training keeps when its instances double."""
    most: float = inf
    """The number of instances beyond which more are not taken to be faster."""
    source: str = ""
    """Who says so; empty if nobody does."""
    limit: str = ""
    """Why more than `most` are not taken to be faster."""

    def speedup(self, instances: int) -> float:
        """Return how many times as fast as on one instance a training is on so many."""
        return speedup(int(min(instances, self.most)), self.efficiency)

    def describe(self, counts: tuple[int, ...]) -> str:
        """Return in words what these numbers of instances are worth, to go on with in a note."""
        known = [count for count in counts if 1 < count <= self.most]
        if not known:
            return ""
        worth = [f"{count} to be {self.speedup(count):.2g}" for count in known]
        worth[0] = worth[0].replace(" ", " instances taken ", 1)
        listed = " and ".join([", ".join(worth[:-1]), worth[-1]]) if len(worth) > 1 else worth[0]
        source = f", as {self.source}" if len(counts) > 1 and self.source else ""
        return f"; {listed} times as fast{source}"


def find_scaling(train: Train, learned: LearnedHours | None) -> Scaling:
    """Return what several instances are worth: as the sweep file says, or finished tasks do, or else a prior."""
    counts = train.instance_counts
    if train.efficiency is not None:
        return Scaling(train.efficiency, source="train.efficiency says")
    if learned is None or learned.doubling is None:
        return Scaling(EFFICIENCY) if len(counts) == 1 else Scaling(EFFICIENCY, counts[0], limit=NOBODY)
    most, limit = most_learned(train, learned)
    return Scaling(learned.doubling / 2, most, "finished tasks say", limit)


def most_learned(train: Train, learned: LearnedHours) -> tuple[float, str]:
    """Return the number of instances beyond which finished tasks do not say that more are faster; and why, in words.

    A sweep of one number has no choice, so its hours are estimated, however many instances these are.
    """
    counts = train.instance_counts
    if len(counts) == 1 or train.efficiency is not None:
        return inf, ""
    highest = learned.features[INSTANCES].highest
    return max(counts[0], highest), f"as finished tasks do not say so: they had {highest:g} at most"
