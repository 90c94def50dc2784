"""The slots that a plan takes of each lane. Pure."""

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
    """Whose slots are taken: a lane's or, of a committed lane, those of one training plan."""

    lane: Lane
    arn: str = ""

    @classmethod
    def of(cls, place: Place) -> Quota:
        """Return whose slots a task at this place takes."""
        return cls(place.lane, place.plan_arn)

    def __str__(self) -> str:
        """Return the quota's name, as it stands within a sentence."""
        return f"{self.lane.instance_type} {self.lane.purchase.value} in {self.lane.region}"


def lots_by_quota(plan: Plan) -> dict[Quota, Lot]:
    """Return the plan's lots, each by the quota that its slots belong to."""
    return {Quota(lot.lane, lot.arn or ""): lot for lot in plan.lots}


def tasks_by_quota(plan: Plan) -> Counter[Quota]:
    """Return how many tasks take slots of each quota, if every task runs at its first choice."""
    tasks: Counter[Quota] = Counter()
    for share in plan.shares:
        tasks[Quota.of(share.places[0])] += share.count
    return tasks


def slots_taken(plan: Plan, tasks: Mapping[Quota, int]) -> dict[Quota, int]:
    """Return how many slots so many of its tasks hold at once: as many as they need, or as there were for the plan."""
    lots, each = lots_by_quota(plan), plan.sweep.train.instances
    taken = {}
    for quota, count in tasks.items():
        most = _slots_for_plan(lots[quota]) if quota in lots else None
        at_once = count if most is None else min(count, most // each)
        taken[quota] = at_once * each
    return taken


def crowded(plan: Plan) -> bool:
    """Return whether some of its tasks have to wait until others have ended."""
    tasks = tasks_by_quota(plan)
    taken = slots_taken(plan, tasks)
    return any(taken[quota] < count * plan.sweep.train.instances for quota, count in tasks.items())


def _slots_for_plan(lot: Lot) -> int | None:
    """Return how many slots the plan could count on; None where no quota was known."""
    if lot.used is not None:
        return lot.used
    return None if lot.slots is None else lot.slots - lot.held
