"""Makes the history of the catalog smaller: of what lies back, the last observation of each day or week stays.

All facts of the last days stay. So does what the plans of runs were made from, whenever that was: the newest facts of
their lanes when each run was made.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from sqlalchemy import Column, MetaData, Table, and_, delete, exists, func, insert, select

from orchestrator.db import tables, upsert
from orchestrator.db.engine import reading, shrink, size, writing
from orchestrator.wire.task import Lane, Purchase

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlalchemy import ColumnElement, Connection, Engine

    from orchestrator.catalog.platforms import Platforms

EVERY = timedelta(days=7)
"""All observations of so many days stay. Of each day before, the last one does."""
DAILY = timedelta(days=35)
"""Days of which one observation stays: `sweep prices` shows a month of days. Of each week before, the last stays."""
WEEK, DAY = timedelta(days=7), timedelta(days=1)

THINNED = (tables.prices, tables.quotas, tables.interruptions)

_PERIODS = Table(
    "periods",
    MetaData(),
    Column("ends", tables.UtcTime, primary_key=True, comment="when a day or a week is over, of which the last stays"),
    prefixes=["TEMPORARY"],
)


@dataclass(frozen=True)
class Compacted:
    """What a compaction removed, or would remove."""

    removed: int
    kept: int
    daily_before: datetime
    weekly_before: datetime
    bytes_before: int
    bytes_after: int
    """The size of the database; after a dry run, what it was."""


def compact(engine: Engine, platforms: Platforms, now: datetime, *, dry_run: bool = False) -> Compacted:
    """Remove old observations that are not the last of their day or week, and that no run's plan was made from.

    All are removed or none; a dry run removes none.
    """
    before = size(engine)
    daily_before, weekly_before = horizons(now)
    removed = kept = 0
    with (reading if dry_run else writing)(engine) as connection:
        _PERIODS.create(connection)
        for table in THINNED:
            total = connection.scalars(select(func.count()).select_from(table)).one()
            gone = _thin(connection, table, platforms, (daily_before, weekly_before))
            removed, kept = removed + gone, kept + total - gone
        _PERIODS.drop(connection)
        row = {"compacted_at": now, "daily_before": daily_before, "weekly_before": weekly_before}
        upsert.upsert(connection, tables.compactions, [row])
    if not dry_run:
        shrink(engine)
    return Compacted(removed, kept, daily_before, weekly_before, before, size(engine))


def horizons(now: datetime) -> tuple[datetime, datetime]:
    """Return the midnight before which days have one observation, and the Monday before which weeks have."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    a_while_ago = midnight - DAILY
    return midnight - EVERY, a_while_ago - DAY * a_while_ago.weekday()


def tell_thinned(connection: Connection, moment: datetime) -> str:
    """Return in one line what of the facts of a moment is not known any more; nothing if all of it is."""
    last = select(func.max(tables.compactions.c.daily_before), func.max(tables.compactions.c.weekly_before))
    daily_before, weekly_before = connection.execute(last).one()
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    if weekly_before is not None and moment < weekly_before:
        begins, ends = midnight - DAY * midnight.weekday(), midnight - DAY * midnight.weekday() + WEEK
    elif daily_before is not None and moment < daily_before:
        begins, ends = midnight, midnight + DAY
    else:
        return ""
    if moment == begins:
        return ""
    return (
        f"the catalog was compacted: what changed more than once between {begins:%Y-%m-%d} and {ends:%Y-%m-%d} may be"
        f" taken as it was when {begins:%Y-%m-%d} began"
    )


def _thin(connection: Connection, table: Table, platforms: Platforms, before: tuple[datetime, datetime]) -> int:
    """Remove what is to go from a table, and return how many rows that was."""
    daily_before, _ = before
    oldest = connection.scalar(select(func.min(table.c.observed_at)))
    connection.execute(delete(_PERIODS))
    if oldest is None or oldest >= daily_before:
        return 0
    connection.execute(insert(_PERIODS), [{"ends": end} for end in _ends(oldest, *before)])
    keys = [column.name for column in table.primary_key if column.name != "observed_at"]
    used = _gather_used(connection, table, keys, platforms)
    later = table.alias()
    its_end = select(func.min(_PERIODS.c.ends)).where(_PERIODS.c.ends > table.c.observed_at)
    comes_after = and_(
        _alike(later, table, keys),
        later.c.observed_at > table.c.observed_at,
        later.c.observed_at < its_end.correlate(table).scalar_subquery(),
    )
    gone = delete(table).where(
        table.c.observed_at < daily_before, exists().where(comes_after), ~_was_used(table, used, keys)
    )
    removed = int(connection.execute(gone).rowcount)
    used.drop(connection)
    return removed


def _ends(oldest: datetime, daily_before: datetime, weekly_before: datetime) -> Iterator[datetime]:
    """Yield when each week is over, and then each day, from the oldest observation on."""
    end = oldest.replace(hour=0, minute=0, second=0, microsecond=0)
    end -= DAY * end.weekday()
    while end < daily_before:
        end += WEEK if end < weekly_before else DAY
        yield end


def _gather_used(connection: Connection, table: Table, keys: Iterable[str], platforms: Platforms) -> Table:
    """Return a temporary table of what the plans of runs were made from: keys of this table, and when."""
    columns = [Column(name, table.c[name].type, primary_key=True) for name in keys]
    moment = Column("at", tables.UtcTime, primary_key=True)
    used = Table("used", MetaData(), *columns, moment, prefixes=["TEMPORARY"])
    used.create(connection)
    lane = [tables.results.c[name] for name in ("platform", "region", "instance_type", "purchase")]
    ran = select(*lane, tables.runs.c.created_at).join_from(tables.results, tables.runs).distinct()
    rows = {
        (*(key[name] for name in used.c.keys()[:-1]), row.created_at)
        for row in connection.execute(ran)
        for key in _keys_of(Lane(*row[:3], Purchase(row.purchase)), table, platforms)
    }
    if rows:
        named = [dict(zip(used.c.keys(), row, strict=True)) for row in rows]
        connection.execute(
            insert(used), [row | {"at": datetime.fromtimestamp(row["at"], timezone.utc)} for row in named]
        )
    return used


def _keys_of(lane: Lane, table: Table, platforms: Platforms) -> Iterator[dict[str, str]]:
    """Yield the keys of a table's rows that say something of a lane, or of the lane that stands in for it."""
    proxy = platforms.proxy(lane) if lane.platform in platforms.installed else None
    for one in (lane, proxy):
        if one is None:
            continue
        facts = {"platform": one.platform, "region": one.region, "instance_type": one.instance_type}
        if table is tables.prices:
            yield facts | {"purchase": one.purchase.value}
            yield facts | {"purchase": Purchase.ON_DEMAND.value}
        elif table is tables.interruptions:
            yield facts
        elif one.platform in platforms.installed:
            yield from (facts | {"quota": name} for name in platforms.uses(one))


def _was_used(table: Table, used: Table, keys: Iterable[str]) -> ColumnElement[bool]:
    """Return the condition for a row to be the newest of its key when some run was made."""
    other = table.alias()
    newest = select(func.max(other.c.observed_at)).where(_alike(other, used, keys), other.c.observed_at <= used.c.at)
    is_newest = table.c.observed_at == newest.correlate(used).scalar_subquery()
    return exists().where(_alike(used, table, keys), is_newest)


def _alike(one: Any, other: Any, keys: Iterable[str]) -> ColumnElement[bool]:
    return and_(*(one.c[name] == other.c[name] for name in keys))
