"""The age of facts: when each was last seen to be what it is.

A fact is seen when it is observed, and again whenever its feed is refreshed and tells no other.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import and_, func, select, true

from orchestrator.catalog.files.to_come import believed
from orchestrator.catalog.wording import counted
from orchestrator.db.tables import interruptions, prices, quotas, refreshes
from orchestrator.wire.task import Lane, Purchase

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sqlalchemy import ColumnElement, Connection, Row, Table

    from orchestrator.catalog.platforms import Platforms
    from orchestrator.settings.max_age import MaxAge

_PRICED = (Purchase.SPOT, Purchase.ON_DEMAND)


class Price(NamedTuple):
    """The newest price of a lane."""

    value: float
    seen_at: datetime
    """When it was last seen to be this."""
    source: str = ""
    """The file or the feed that told it."""
    is_fed: bool = False
    """A feed told it: the feed can be asked again."""


class _Seen(NamedTuple):
    """When a fact was last seen, and who told it."""

    at: datetime
    source: str
    is_fed: bool


def newest_prices(
    connection: Connection, now: datetime, instance_types: Sequence[str] | None = None
) -> dict[Lane, Price]:
    """Return the newest price of each lane, or of each lane of these instance types, that was observed until now."""
    wanted = true() if instance_types is None else prices.c.instance_type.in_(instance_types)
    key = ("platform", "region", "instance_type", "purchase")
    rows = _newest(connection, prices, key, now, wanted)
    return {
        Lane(row.platform, row.region, row.instance_type, Purchase(row.purchase)): Price(row.usd_per_hour, *_seen(row))
        for row in rows
    }


def tell_ages(
    connection: Connection, lanes: Iterable[Lane], platforms: Platforms, ages: MaxAge, now: datetime
) -> tuple[str, ...]:
    """Return a line for each kind of facts that were, of these lanes, not seen for longer than they may.

    The price of a spot lane that has none of its own is its proxy's, and so is how often it is taken back.
    """
    told = sorted({lane for lane in lanes if lane.purchase in _PRICED})
    old: dict[tuple[str, str], list[datetime]] = {}
    for what, max_age, seen in _facts(connection, told, platforms, ages, now):
        if now - seen.at > max_age:
            what_to_do = (
                "`sweep catalog refresh` asks AWS" if seen.is_fed else f"{seen.source} told them: load newer ones"
            )
            old.setdefault((what, what_to_do), []).append(seen.at)
    return tuple(
        f"{counted(moments, what)} last seen {days(now - min(moments))} ago: {what_to_do}"
        for (what, what_to_do), moments in sorted(old.items())
    )


def _facts(
    connection: Connection, lanes: Sequence[Lane], platforms: Platforms, ages: MaxAge, now: datetime
) -> Iterator[tuple[str, timedelta, _Seen]]:
    """Yield what each fact about these lanes is called, how old it may be, and when it was seen."""
    proxies = {lane: platforms.proxy(lane) if lane.purchase is Purchase.SPOT else None for lane in lanes}
    names = sorted({lane.instance_type for pair in proxies.items() for lane in pair if lane is not None})
    known = newest_prices(connection, now, names)
    rates = _newest_rates(connection, names, now)
    for lane, proxy in proxies.items():
        is_spot = lane.purchase is Purchase.SPOT
        if price := known.get(lane) or known.get(proxy or lane):
            seen = _Seen(price.seen_at, price.source, price.is_fed)
            yield f"{lane.purchase.value} price", ages.spot_prices if is_spot else ages.prices, seen
        if is_spot and (rate := rates.get(_machine(lane)) or rates.get(_machine(proxy or lane))):
            yield "interruption rate", ages.interruptions, rate
    used = {(lane.platform, lane.region, name) for lane in lanes for name in platforms.uses(lane)}
    for row in _newest(connection, quotas, ("platform", "region", "quota"), now, true()) if used else ():
        if (row.platform, row.region, row.quota) in used:
            yield "quota", ages.quotas, _seen(row)


def _newest_rates(connection: Connection, names: Sequence[str], now: datetime) -> dict[tuple[str, str, str], _Seen]:
    key = ("platform", "region", "instance_type")
    wanted = interruptions.c.instance_type.in_(names)
    rows = _newest(connection, interruptions, key, now, wanted)
    return {(row.platform, row.region, row.instance_type): _seen(row) for row in rows}


def _newest(
    connection: Connection, table: Table, names: Sequence[str], now: datetime, wanted: ColumnElement[bool]
) -> Iterable[Row[Any]]:
    """Return the newest row of each key, its key first, with the moment at which its feed was last read."""
    key = [table.c[name] for name in names]
    last = func.max(table.c.observed_at).label("observed_at")
    newest = select(*key, last).where(wanted, believed(table, now)).group_by(*key).subquery()
    same = and_(*(newest.c[column.name] == column for column in (*key, table.c.observed_at)))
    seen = and_(refreshes.c.feed == table.c.source, refreshes.c.region == table.c.region)
    others = [column for column in table.c if column.name not in names]
    found = select(*key, *others, refreshes.c.refreshed_at).select_from(
        table.join(newest, same).outerjoin(refreshes, seen)
    )
    return connection.execute(found)


def _seen(row: Row[Any]) -> _Seen:
    at = max(row.observed_at, row.refreshed_at or row.observed_at)
    return _Seen(at, row.source, row.refreshed_at is not None)


def _machine(lane: Lane) -> tuple[str, str, str]:
    return lane.platform, lane.region, lane.instance_type


def days(age: timedelta) -> str:
    """Return an age in words: hours up to two days, then whole days."""
    if age < timedelta(days=2):
        return f"{age // timedelta(hours=1)} hours"
    return f"{age.days} days"
