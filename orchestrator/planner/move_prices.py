"""Tells each place what it costs to bring a checkpoint from there to another Region of its task."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from orchestrator.plan.plan import Plan
    from orchestrator.wire.task import Place


def price_moves(plan: Plan, transfers: pd.DataFrame) -> Plan:
    """Return the plan with the prices of moves, where trainings keep checkpoints and may go to another Region.

    Of several Regions that a checkpoint may come to, and of several tiers, the dearest counts: no envelope is passed.
    """
    if plan.sweep.train.checkpoints is None:
        return plan
    dearest: dict[tuple[str, str], float] = {}
    for source, target, _, usd in transfers.itertuples(index=False, name=None):
        dearest[source, target] = max(float(usd), dearest.get((source, target), 0.0))
    shares = (replace(share, places=_priced(share.places, dearest)) for share in plan.shares)
    return replace(plan, shares=tuple(shares))


def _priced(places: tuple[Place, ...], dearest: dict[tuple[str, str], float]) -> tuple[Place, ...]:
    regions = sorted({place.lane.region for place in places})
    prices = {source: [dearest.get((source, target)) for target in regions if target != source] for source in regions}
    return tuple(replace(place, leave_usd_per_gb=_dearest(prices[place.lane.region])) for place in places)


def _dearest(prices: list[float | None]) -> float | None:
    """Return the highest of these prices; None if there is none, or one is not known."""
    known = [price for price in prices if price is not None]
    return max(known) if known and len(known) == len(prices) else None
