"""What instances have cost: the newest price of each lane, and its price on each of the last days (`sweep prices`)."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from sqlalchemy import select

from orchestrator.catalog.ages import newest_prices
from orchestrator.catalog.files.to_come import believed
from orchestrator.db.tables import prices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from orchestrator.wire.task import Lane

DAYS = 30


@dataclass(frozen=True)
class LanePrices:
    """What an instance of a lane costs for an hour, and has cost."""

    lane: Lane
    usd_per_hour: float
    seen_at: datetime
    """When it was last seen to cost that."""
    days: tuple[float | None, ...]
    """What it cost at the end of each of the last days, the newest last; None before it was first observed."""


def price_history(connection: Connection, instance_types: Sequence[str], now: datetime) -> list[LanePrices]:
    """Return the prices of all lanes of these instance types, cheapest first."""
    newest = newest_prices(connection, now, instance_types)
    observed: dict[Lane, list[tuple[datetime, float]]] = {lane: [] for lane in newest}
    columns = ("platform", "region", "instance_type", "purchase", "observed_at", "usd_per_hour")
    query = select(*(prices.c[name] for name in columns)).where(prices.c.instance_type.in_(instance_types))
    by_key = {(lane.platform, lane.region, lane.instance_type, lane.purchase.value): lane for lane in newest}
    for row in connection.execute(query.where(believed(prices, now)).order_by(prices.c.observed_at)):
        observed[by_key[tuple(row[:4])]].append((row.observed_at, row.usd_per_hour))
    found = [
        LanePrices(lane, price.value, price.seen_at, _by_day(observed[lane], now)) for lane, price in newest.items()
    ]
    return sorted(found, key=lambda one: (one.usd_per_hour, one.lane))


def _by_day(observed: Sequence[tuple[datetime, float]], now: datetime) -> tuple[float | None, ...]:
    moments = [moment for moment, _ in observed]
    until = (bisect_right(moments, now - timedelta(days=ago)) for ago in reversed(range(DAYS)))
    return tuple(observed[count - 1][1] if count else None for count in until)
