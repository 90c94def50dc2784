"""Notes on what it costs to start trainings: tasks that are shorter than their start, and launchers."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

from orchestrator.plan.launcher_price import LAUNCHER_USD_PER_HOUR
from orchestrator.planner.hours.lane_times import LANE
from orchestrator.spec.duration import HOUR, spell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.plan.plan import Plan
    from orchestrator.planner.offer.offer import Offer

TOGETHER = 20
"""Points that one training could go through, one after the other, in the comparison."""
WORTH_TELLING = 0.01
"""The part of a plan's cost from which the launchers' is told."""


def starting_notes(plan: Plan, offer: Offer) -> Iterator[str]:
    """Yield a note on tasks that are shorter than their start, and one on what launchers cost, if that is much."""
    known = offer.lanes[[*LANE, "start_h", "wait_h"]].drop_duplicates().itertuples(index=False, name=None)
    of_lane = {tuple(lane): (float(start), float(wait)) for *lane, start, wait in known}
    starts, waits = [], []
    for share in plan.shares:
        lane = share.places[0].lane
        start, wait = of_lane[lane.platform, lane.region, lane.instance_type, lane.purchase.value]
        starts.append(start)
        waits.append(wait)
    if not any(starts):
        return
    short = [(share, start) for share, start in zip(plan.shares, starts, strict=True) if share.hours < start]
    count = sum(share.count for share, _ in short)
    if count:
        work = fsum(share.hours * share.count for share, _ in short)
        held = fsum((share.hours + start) * share.count for share, start in short)
        together = fsum(share.hours * share.count + start * -(-share.count // TOGETHER) for share, start in short)
        most = max(share.count for share, _ in short)
        takes, holds = ("1 task takes", "holds") if count == 1 else (f"{count:,} tasks take", "hold")
        told = f"{takes} {spell(work / count * HOUR)} and {holds} a slot for {spell(held / count * HOUR)}"
        instead = (
            f": a script that trains {min(TOGETHER, most)} points one after the other would hold slots for "
            f"{together / held:.0%} of that time"
        )
        # Points of different shares are not trained together: where each has one, there is nothing to gain.
        yield f"{told}, as trainings have to start and end{instead if together < held else ''}"
    every = zip(plan.shares, starts, waits, strict=True)
    usd = LAUNCHER_USD_PER_HOUR * fsum((share.hours + start + wait) * share.count for share, start, wait in every)
    if usd >= WORTH_TELLING * plan.usd and usd >= WORTH_TELLING:
        yield f"launchers cost about ${usd:,.2f} more: they wait while trainings start, run and end"
