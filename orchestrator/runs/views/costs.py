"""What a run has cost, by lane."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.runs.known.rows import Known
    from orchestrator.wire.task import Lane


@dataclass(frozen=True)
class CostRow:
    platform: str
    region: str
    instance_type: str
    purchase: str
    tasks: int
    hours: float
    """Billable hours of instances: a training of two instances for an hour is two."""
    usd: float
    moved_usd: float = 0.0
    """The part of these dollars that brought checkpoints from there to other Regions."""


def cost_rows(known: Iterable[Known]) -> list[CostRow]:
    """Return what every attempt was billed, by lane, with what it cost to bring its checkpoint elsewhere."""
    hours: defaultdict[Lane, float] = defaultdict(float)
    usd: defaultdict[Lane, float] = defaultdict(float)
    moved: defaultdict[Lane, float] = defaultdict(float)
    tasks: defaultdict[Lane, set[int]] = defaultdict(set)
    for one in known:
        for outcome in one.result.outcomes:
            hours[outcome.lane] += outcome.billable_s * outcome.instances / 3600
            usd[outcome.lane] += outcome.usd + outcome.moved_usd
            moved[outcome.lane] += outcome.moved_usd
            tasks[outcome.lane].add(one.result.task)
    return [
        CostRow(
            platform=lane.platform,
            region=lane.region,
            instance_type=lane.instance_type,
            purchase=lane.purchase.value,
            tasks=len(tasks[lane]),
            hours=hours[lane],
            usd=usd[lane],
            moved_usd=moved[lane],
        )
        for lane in sorted(tasks)
    ]
