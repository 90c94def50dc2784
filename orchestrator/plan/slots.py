"""What a plan takes at once: instances of each lane, and units of each quota. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.plan.facts import Lot
    from orchestrator.plan.plan import Plan
    from orchestrator.wire.task import Lane, Place, Quota


@dataclass(frozen=True, order=True)
class LotKey:
    """What a lot is known by: a lane and, of a committed lane, one training plan."""

    lane: Lane
    site: str = ""

    @classmethod
    def of(cls, place: Place) -> LotKey:
        """Return what the lot is known by whose instances a task at this place takes."""
        return cls(place.lane, place.site)

    def __str__(self) -> str:
        """Return the lane's name, as it stands within a sentence."""
        return f"{self.lane.instance_type} {self.lane.purchase.value} in {self.lane.region}"


def lots_by_key(plan: Plan) -> dict[LotKey, Lot]:
    """Return the plan's lots."""
    return {LotKey(lot.lane, lot.site): lot for lot in plan.lots}


def tasks_by_lot(plan: Plan) -> dict[LotKey, Counter[int]]:
    """Return how many tasks take instances of each lot, by how many each takes, if all run at their first choice."""
    tasks: defaultdict[LotKey, Counter[int]] = defaultdict(Counter)
    for share in plan.shares:
        tasks[LotKey.of(share.places[0])][share.instances] += share.count
    return dict(tasks)


def instances_taken(plan: Plan, tasks: Mapping[LotKey, Mapping[int, int]]) -> dict[LotKey, int]:
    """Return how many instances so many of its tasks hold at once: those that they need, or those that the plan has.

    Tasks of each lot are counted by their instances. Instances that no task can use, such as one of five where all
    tasks have two, are not taken.
    """
    lots = lots_by_key(plan)
    taken = {}
    for key, counts in tasks.items():
        needed, step = _instances_needed(counts), gcd(*counts)
        most = lots[key].used if key in lots else None
        taken[key] = needed if most is None else min(needed, most // step * step)
    return taken


def units_taken(plan: Plan, tasks: Mapping[LotKey, Mapping[int, int]]) -> dict[Quota, int]:
    """Return how many units of each quota so many of its tasks hold at once. Tasks are counted as in `tasks_by_lot`."""
    lots = lots_by_key(plan)
    units: Counter[Quota] = Counter()
    for key, instances in instances_taken(plan, tasks).items():
        if key in lots:
            units.update({quota: each * instances for quota, each in lots[key].quotas.items()})
    return dict(units)


def crowded(plan: Plan) -> bool:
    """Return whether some of its tasks have to wait until others have ended."""
    tasks = tasks_by_lot(plan)
    taken = instances_taken(plan, tasks)
    return any(taken[key] < _instances_needed(counts) for key, counts in tasks.items())


def _instances_needed(counts: Mapping[int, int]) -> int:
    """Return the instances of so many tasks, counted by their instances, if all run at once."""
    return sum(instances * count for instances, count in counts.items())
