"""Takes in what a feed read of a Region: all of it or nothing. What has not changed adds no row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import and_, delete, exists, func, select

from orchestrator.catalog.files.beside import is_spot_alone, refuse_duplicates
from orchestrator.catalog.files.incoming import Counts, IncomingRows
from orchestrator.catalog.files.kinds import KINDS
from orchestrator.catalog.files.rows import CatalogRows
from orchestrator.catalog.files.to_come import believed
from orchestrator.db import tables, upsert
from orchestrator.db.engine import writing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from sqlalchemy import ColumnElement, Connection, Engine, Table

    from orchestrator.catalog.platforms import Platforms


@dataclass(frozen=True)
class Observed:
    """Facts of one Region, as a feed read them."""

    feed: str
    kind: str
    """The kind of catalog file that has such rows."""
    region: str
    at: datetime
    rows: Sequence[Mapping[str, object]]


class Taken(NamedTuple):
    """What became of the rows that a feed told."""

    counts: Counts
    alone: int
    """Spot prices that were left out: there is no price on demand beside them."""
    to_come: int
    """Observations that the feed had made at times to come, by a wrong clock. They are removed."""


def observe(engine: Engine, platforms: Platforms, observed: Observed) -> Taken:
    """Add what differs from the newest facts, and note that the feed's facts of this Region hold now.

    Raise CatalogError for a row that no file could have; then nothing is changed.
    """
    kind = KINDS[observed.kind]
    given = CatalogRows.of_feed(
        kind, dict(enumerate(observed.rows, 1)), observed.feed, f"{observed.feed} {observed.region}"
    )
    with writing(engine) as connection, IncomingRows(connection, kind.table) as incoming:
        for rows in given.rows(platforms):
            incoming.add(rows)
        refuse_duplicates(given, incoming)
        to_come = _remove_to_come(connection, observed, kind.table) if "observed_at" in kind.table.c else 0
        alone = incoming.leave_out(is_spot_alone(incoming)) if kind.table is tables.prices else 0
        known = incoming.leave_out(_is_known(kind.table, incoming, observed.at)) if "observed_at" in kind.table.c else 0
        merged = incoming.merge(kind.given(given.given), along=["source"] if "source" in kind.table.c else [])
        if kind.of_now:
            merged += Counts(removed=_remove_gone(connection, observed, kind.table, incoming))
        _note(connection, observed)
    return Taken(merged + Counts(unchanged=known), alone, to_come)


def _is_known(table: Table, incoming: IncomingRows, now: datetime) -> ColumnElement[bool]:
    """Return the condition for a row to say what the newest one of its key says that is not of a time to come."""
    key = [column.name for column in table.primary_key if column.name != "observed_at"]
    facts = [column.name for column in table.columns if column.name not in {*key, "observed_at", "source"}]
    other = table.alias()
    same_key = and_(*(other.c[name] == incoming.c[name] for name in key))
    newest = select(func.max(other.c.observed_at)).where(same_key, believed(other, now))
    same = [table.c[name].is_not_distinct_from(incoming.c[name]) for name in (*key, *facts)]
    return exists().where(and_(*same, table.c.observed_at == newest.scalar_subquery()))


def _remove_to_come(connection: Connection, observed: Observed, table: Table) -> int:
    """Remove what the feed has observed in this Region later than now: it would hide all that is told until then."""
    its_own = and_(table.c.source == observed.feed, table.c.region == observed.region)
    gone = delete(table).where(its_own, ~believed(table, observed.at))
    return int(connection.execute(gone).rowcount)


def _remove_gone(connection: Connection, observed: Observed, table: Table, incoming: IncomingRows) -> int:
    """Remove what the feed told of this Region before, and tells no longer. Return how much that was."""
    still_there = exists().where(and_(*(table.c[key.name] == incoming.c[key.name] for key in table.primary_key)))
    gone = delete(table).where(table.c.source == observed.feed, table.c.region == observed.region, ~still_there)
    return int(connection.execute(gone).rowcount)


def _note(connection: Connection, observed: Observed) -> None:
    row = {"feed": observed.feed, "region": observed.region, "refreshed_at": observed.at}
    upsert.upsert(connection, tables.refreshes, [row])
