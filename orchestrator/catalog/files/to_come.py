"""What was observed at a time to come: a clock was wrong. It stays in the catalog, is not believed, and is told."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import and_, delete, exists, select

from orchestrator.catalog.wording import few
from orchestrator.db.tables import interruptions, prices, quotas

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from sqlalchemy import ColumnElement, Connection, FromClause, Row, Table

    from orchestrator.catalog.files.incoming import IncomingRows

CLOCKS_DIFFER = timedelta(minutes=15)
"""What was observed later than this from now was observed by a wrong clock. AWS refuses a clock that is further off."""


class ToCome(NamedTuple):
    """An observation of a time to come."""

    observed_at: datetime
    what: str
    source: str


def believed(table: FromClause, now: datetime) -> ColumnElement[bool]:
    """Return the condition for an observation to be made by now, as far as clocks agree."""
    return table.c.observed_at <= now + CLOCKS_DIFFER


def list_to_come(connection: Connection, now: datetime, instance_types: Sequence[str] | None = None) -> list[ToCome]:
    """Return what was observed at times to come: quotas, and prices and interruption rates, of these types or all."""
    found: list[ToCome] = []
    for table, names in (
        (prices, ("platform", "region", "instance_type", "purchase")),
        (interruptions, ("platform", "region", "instance_type")),
        (quotas, ("platform", "region", "quota")),
    ):
        early = select(table).where(~believed(table, now))
        if table is not quotas and instance_types is not None:
            early = early.where(table.c.instance_type.in_(instance_types))
        found += (_to_come(row, names) for row in connection.execute(early))
    return sorted(found, reverse=True)


def tell_to_come(found: Sequence[ToCome]) -> str:
    """Return in one line what is not believed, where it came from, and what to do."""
    names = few((f"{one.what} of {one.observed_at:%Y-%m-%d %H:%M} UTC in {one.source}" for one in found), 2)
    return f"not used, for it is dated later than now: {names}; load it again with the right observed_at"


def tell_rows_to_come(where: str, incoming: IncomingRows, now: datetime) -> tuple[str, ...]:
    """Return a line that says which row of a file is the first that is not believed yet; none if all are."""
    later = incoming.c.observed_at > now + CLOCKS_DIFFER
    first = incoming.first_where(later)
    if first is None:
        return ()
    more = incoming.count(later) - 1
    others = f", nor {more:,} more" if more else ""
    moment = f"{first.observed_at:%Y-%m-%d %H:%M} UTC"
    return (f"{where}:{first.line}:observed_at: {moment} is later than now: it is not used until then{others}",)


def remove_mended(connection: Connection, table: Table, incoming: IncomingRows, now: datetime) -> int:
    """Remove what a source had dated to come, and now dates otherwise. Return how many rows that was."""
    keys = [column.name for column in table.primary_key if column.name != "observed_at"]
    alike = and_(*(incoming.c[name] == table.c[name] for name in (*keys, "source")))
    told_anew, still_so = exists().where(alike), exists().where(alike, incoming.c.observed_at == table.c.observed_at)
    gone = delete(table).where(~believed(table, now), told_anew, ~still_so)
    return int(connection.execute(gone).rowcount)


def _to_come(row: Row[tuple[object, ...]], names: Iterable[str]) -> ToCome:
    facts = row._mapping
    return ToCome(facts["observed_at"], "/".join(facts[name] for name in names), facts["source"])
