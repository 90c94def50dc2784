"""What is thought of a lane before anything of ours has run there: what the catalog and its platform say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import select

from orchestrator.catalog.ages import newest_prices
from orchestrator.db.tables import interruptions
from orchestrator.spec.duration import HOUR
from orchestrator.wire.task import Lane, Purchase

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from sqlalchemy import Connection

    from orchestrator.catalog.ages import Price
    from orchestrator.catalog.platforms import Platforms


@dataclass(frozen=True)
class LanePrior:
    """What is thought of a lane."""

    usd_per_hour: float | None
    """The catalog's price; of spot without one, as its proxy is beside its own price on demand. None if unknown."""
    on_demand_usd_per_hour: float | None
    interruptions_per_hour: float | None
    start_h: float
    """Hours that its platform says a training takes to start and to end."""


def lane_priors(
    connection: Connection, platforms: Platforms, lanes: Iterable[Lane], now: datetime
) -> dict[Lane, LanePrior]:
    """Return what is thought of each of these lanes. Of a platform that is not installed, no proxy and no start."""
    prices = newest_prices(connection, now)
    rates = {
        tuple(row[:3]): row.per_hour
        for row in connection.execute(
            select(
                *(interruptions.c[name] for name in ("platform", "region", "instance_type")), interruptions.c.per_hour
            )
            .where(interruptions.c.observed_at <= now)
            .order_by(interruptions.c.observed_at)
        )
    }
    found = {}
    for lane in lanes:
        is_installed = lane.platform in platforms.installed
        proxy = platforms.proxy(lane) if is_installed and lane.purchase is Purchase.SPOT else None
        own, rate = prices.get(lane), rates.get((lane.platform, lane.region, lane.instance_type))
        if rate is None and proxy is not None:
            rate = rates.get((proxy.platform, proxy.region, proxy.instance_type))
        found[lane] = LanePrior(
            own.value if own else _by_proxy(lane, proxy, prices),
            _on_demand(lane, prices),
            rate if lane.purchase is Purchase.SPOT else None,
            platforms.start(lane).seconds / HOUR if is_installed else 0.0,
        )
    return found


def known_machines(connection: Connection, now: datetime) -> set[tuple[str, str, str]]:
    """Return each platform, Region and instance type that has a price."""
    return {(lane.platform, lane.region, lane.instance_type) for lane in newest_prices(connection, now)}


def _by_proxy(lane: Lane, proxy: Lane | None, prices: Mapping[Lane, Price]) -> float | None:
    own, theirs = _on_demand(lane, prices), _on_demand(proxy, prices) if proxy else None
    spot = prices.get(proxy) if proxy else None
    return own * spot.value / theirs if own and theirs and spot else None


def _on_demand(lane: Lane, prices: Mapping[Lane, Price]) -> float | None:
    found = prices.get(Lane(lane.platform, lane.region, lane.instance_type, Purchase.ON_DEMAND))
    return found.value if found else None
