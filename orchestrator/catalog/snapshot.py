"""Writes what a plan is made from into one SQLite file: as it is now, or as it was known at some moment.

Of prices, quotas and interruption rates the file has the newest observations alone: a plan needs no others. What was
learned from runs comes along; what live runs hold does too, unless the moment is past.
"""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, false, func, insert, select

from orchestrator.catalog.files.to_come import believed
from orchestrator.db import tables
from orchestrator.db.engine import engine as open_engine
from orchestrator.db.engine import reading, writing
from orchestrator.db.history_tables import attempts, learned_marks
from orchestrator.db.migrate import ready

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sqlalchemy import Connection, Engine, Select, Table

_BATCH_ROWS = 10_000


def write_snapshot(source: Engine, path: Path, as_of: datetime | None) -> int:
    """Write the file, which must not be there yet, and return the number of rows in it.

    `as_of` is the moment whose facts are wanted; None for today's.
    """
    target = ready(open_engine(f"sqlite:///{path}"))
    count = 0
    with reading(source) as connection, writing(target) as copy:
        for table in tables.metadata.sorted_tables:
            for rows in _batches(connection, _wanted(table, as_of)):
                copy.execute(insert(table), rows)
                count += len(rows)
    target.dispose()
    return count


def _wanted(table: Table, as_of: datetime | None) -> Select[Any]:
    """Return the query of those rows of a table that the snapshot has."""
    every = select(table)
    if "observed_at" in table.columns:
        return every.where(_is_newest(table, as_of))
    if as_of is None:
        return every
    moment = as_of.timestamp()
    if table is tables.runs:
        return every.where(table.c.created_at <= moment)
    if table is learned_marks:
        return every.where(table.c.said_at <= as_of)
    if table in (tables.results, attempts):
        then = select(tables.runs.c.name).where(tables.runs.c.created_at <= moment)
        return every.where(table.c.ended_at <= moment, table.c.run.in_(then))
    if any(key.column.table is tables.runs for key in table.foreign_keys):
        return every.where(false())  # what runs hold or do now is not what they held or did then
    return every


def _is_newest(table: Table, as_of: datetime | None) -> Any:
    """Return the condition for a row to be the newest observation of its key, among those until the moment."""
    other = table.alias()
    key = [column.name for column in table.primary_key if column.name != "observed_at"]
    newest = select(func.max(other.c.observed_at)).where(and_(*(other.c[name] == table.c[name] for name in key)))
    known = believed(other, datetime.now(timezone.utc)) if as_of is None else other.c.observed_at <= as_of
    newest = newest.where(known)
    return table.c.observed_at == newest.correlate(table).scalar_subquery()


def _batches(connection: Connection, query: Select[Any]) -> Iterator[list[dict[str, Any]]]:
    for rows in connection.execute(query).mappings().partitions(_BATCH_ROWS):
        yield [dict(row) for row in rows]
