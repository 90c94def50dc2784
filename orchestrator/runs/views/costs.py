"""What a run has cost, by lane and site."""

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
    site: str = ""
    """The part of the lane, such as a zone; empty where it has no parts."""


def cost_rows(known: Iterable[Known]) -> list[CostRow]:
    """Return what every attempt was billed, by lane and site, with what bringing its checkpoint elsewhere cost.

    Sites that gave no machines are left out, if others of their lane did.
    """
    hours: defaultdict[tuple[Lane, str], float] = defaultdict(float)
    usd: defaultdict[tuple[Lane, str], float] = defaultdict(float)
    moved: defaultdict[tuple[Lane, str], float] = defaultdict(float)
    tasks: defaultdict[tuple[Lane, str], set[int]] = defaultdict(set)
    for one in known:
        for outcome in one.result.outcomes:
            key = outcome.lane, outcome.site
            hours[key] += outcome.billable_s * outcome.instances / 3600
            usd[key] += outcome.usd + outcome.moved_usd
            moved[key] += outcome.moved_usd
            tasks[key].add(one.result.task)
    gave = {lane for (lane, site), some in hours.items() if some}
    return [
        CostRow(
            platform=lane.platform,
            region=lane.region,
            instance_type=lane.instance_type,
            purchase=lane.purchase.value,
            tasks=len(tasks[lane, site]),
            hours=hours[lane, site],
            usd=usd[lane, site],
            moved_usd=moved[lane, site],
            site=site,
        )
        for lane, site in sorted(tasks)
        if hours[lane, site] or usd[lane, site] or lane not in gave
    ]
