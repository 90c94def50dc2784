"""The age of prices: when each was last seen to be what it is.

A price is seen when it is observed, and again whenever its feed is refreshed and tells no other.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import and_, func, select, true

from orchestrator.catalog.wording import counted
from orchestrator.db.tables import prices, refreshes
from orchestrator.wire.task import Lane, Purchase

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import Connection

    from orchestrator.catalog.platforms import Platforms

MAX_AGE = {Purchase.SPOT: timedelta(hours=24), Purchase.ON_DEMAND: timedelta(days=30)}
"""A plan warns of prices that were not seen for longer: spot changes within hours, the others a few times a year."""


class Price(NamedTuple):
    """The newest price of a lane."""

    value: float
    seen_at: datetime
    """When it was last seen to be this."""
    source: str = ""
    """The file or the feed that told it."""
    is_fed: bool = False
    """A feed told it: the feed can be asked again."""


def newest_prices(connection: Connection, instance_types: Sequence[str] | None = None) -> dict[Lane, Price]:
    """Return the newest price of each lane, or of each lane of these instance types."""
    key = [prices.c[name] for name in ("platform", "region", "instance_type", "purchase")]
    wanted = true() if instance_types is None else prices.c.instance_type.in_(instance_types)
    newest = select(*key, func.max(prices.c.observed_at).label("observed_at")).where(wanted).group_by(*key).subquery()
    same = and_(*(newest.c[column.name] == column for column in (*key, prices.c.observed_at)))
    seen = and_(refreshes.c.feed == prices.c.source, refreshes.c.region == prices.c.region)
    facts = (prices.c.usd_per_hour, prices.c.observed_at, prices.c.source, refreshes.c.refreshed_at)
    found = select(*key, *facts)
    rows = connection.execute(found.select_from(prices.join(newest, same).outerjoin(refreshes, seen)))
    return {
        Lane(*row[:3], Purchase(row.purchase)): Price(
            row.usd_per_hour,
            max(row.observed_at, row.refreshed_at or row.observed_at),
            row.source,
            row.refreshed_at is not None,
        )
        for row in rows
    }


def tell_ages(connection: Connection, lanes: Iterable[Lane], platforms: Platforms, now: datetime) -> tuple[str, ...]:
    """Return a line for each way of buying whose prices, of these lanes, were not seen for too long.

    The price of a spot lane that has none of its own is its proxy's.
    """
    proxies = {
        lane: platforms.proxy(lane) if lane.purchase is Purchase.SPOT else None
        for lane in lanes
        if lane.purchase in MAX_AGE
    }
    names = sorted({lane.instance_type for pair in proxies.items() for lane in pair if lane is not None})
    known = newest_prices(connection, names)
    found = [(lane, known.get(lane) or known.get(proxy or lane)) for lane, proxy in proxies.items()]
    old: dict[tuple[Purchase, str], list[datetime]] = {}
    for lane, price in found:
        if price and now - price.seen_at > MAX_AGE[lane.purchase]:
            what_to_do = (
                "`sweep catalog refresh` asks AWS" if price.is_fed else f"{price.source} told them: load newer ones"
            )
            old.setdefault((lane.purchase, what_to_do), []).append(price.seen_at)
    return tuple(
        f"{counted(moments, f'{purchase.value} price')} last seen {_days(now - min(moments))} ago: {what_to_do}"
        for (purchase, what_to_do), moments in sorted(old.items())
    )


def _days(age: timedelta) -> str:
    if age < timedelta(days=2):
        return f"{age // timedelta(hours=1)} hours"
    return f"{age.days} days"
