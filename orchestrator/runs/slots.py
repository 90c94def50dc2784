"""How many slots of each lane a plan takes, and how its tasks wait for them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.aws.batch import Resource
from orchestrator.wire.names import resource_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.planner.plan import Lot, Plan, Share
    from orchestrator.wire.task import Lane


@dataclass(frozen=True, order=True)
class Quota:
    """Whose slots: a lane's; of a committed lane, one training plan's."""

    lane: Lane
    arn: str = ""

    def __str__(self) -> str:
        return f"{self.lane} {self.arn}".rstrip()


def quota_of(share: Share) -> Quota:
    """The slots that its tasks take at their first choice."""
    return Quota(share.places[0].lane, share.places[0].plan_arn)


def lots(plan: Plan) -> dict[Quota, Lot]:
    return {Quota(lot.lane, lot.arn or ""): lot for lot in plan.lots}


def first_choices(plan: Plan) -> Counter[Quota]:
    """How many tasks take whose slots."""
    tasks: Counter[Quota] = Counter()
    for share in plan.shares:
        tasks[quota_of(share)] += share.count
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


def resource(plan: Plan, quota: Quota | None) -> Resource | None:
    """These slots, all that there are, as Batch counts them; None where nobody knows how many there are."""
    lot = lots(plan).get(quota) if quota else None
    if quota is None or lot is None or lot.slots is None:
        return None
    return Resource(resource_name(quota.lane, quota.arn), lot.slots)


def _limit(lot: Lot) -> int | None:
    if lot.used is not None:
        return lot.used
    return None if lot.slots is None else lot.slots - lot.held
