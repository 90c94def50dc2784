"""How many slots of each lane a plan takes. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.plan.plan import Lot, Plan
    from orchestrator.wire.task import Lane, Place


@dataclass(frozen=True, order=True)
class Quota:
    """Whose slots: a lane's; of a committed lane, one training plan's."""

    lane: Lane
    arn: str = ""

    @classmethod
    def of(cls, place: Place) -> Quota:
        """What a task at this place takes its slots from."""
        return cls(place.lane, place.plan_arn)

    def __str__(self) -> str:
        """As a sentence would name it."""
        return f"{self.lane.instance_type} {self.lane.purchase.value} in {self.lane.region}"


def lots(plan: Plan) -> dict[Quota, Lot]:
    return {Quota(lot.lane, lot.arn or ""): lot for lot in plan.lots}


def first_choices(plan: Plan) -> Counter[Quota]:
    """How many tasks take whose slots."""
    tasks: Counter[Quota] = Counter()
    for share in plan.shares:
        tasks[Quota.of(share.places[0])] += share.count
    return tasks


def at_once(plan: Plan, tasks: Mapping[Quota, int]) -> dict[Quota, int]:
    """Instances that so many of its tasks hold at once: as many as they are, or as there were for the plan."""
    limits = {quota: limit for quota, lot in lots(plan).items() if (limit := _limit(lot)) is not None}
    each = plan.sweep.train.instances
    return {quota: min(count, limits.get(quota, count * each) // each) * each for quota, count in tasks.items()}


def crowded(plan: Plan) -> bool:
    """Whether some of its tasks have to wait until others have ended."""
    tasks = first_choices(plan)
    slots = at_once(plan, tasks)
    return any(slots[quota] < count * plan.sweep.train.instances for quota, count in tasks.items())


def _limit(lot: Lot) -> int | None:
    if lot.used is not None:
        return lot.used
    return None if lot.slots is None else lot.slots - lot.held
