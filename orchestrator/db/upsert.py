"""Writes rows into a table that may hold them already.

SQLite and PostgreSQL spell this alike, but SQLAlchemy has a statement for each of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection, Table


def insert_missing(connection: Connection, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    """Insert the rows whose key is not there. The others stay as they are."""
    if rows:
        connection.execute(insert(connection, table).on_conflict_do_nothing(index_elements=_keys(table)), rows)


def upsert(connection: Connection, table: Table, rows: Sequence[dict[str, Any]], keep: Sequence[str] = ()) -> None:
    """Insert the rows whose key is not there, and replace the others, but for the columns to `keep` as they are."""
    if not rows:
        return
    statement = insert(connection, table)
    columns = [column.name for column in table.columns if not column.primary_key and column.name not in keep]
    facts = {name: statement.excluded[name] for name in columns}
    connection.execute(statement.on_conflict_do_update(index_elements=_keys(table), set_=facts), rows)


def insert(connection: Connection, table: Table) -> Any:
    """Return an INSERT statement that knows ON CONFLICT."""
    if connection.dialect.name == "sqlite":
        from sqlalchemy.dialects import sqlite

        return sqlite.insert(table)
    from sqlalchemy.dialects import postgresql  # loading it takes a moment, so only who has it does

    return postgresql.insert(table)


def _keys(table: Table) -> list[str]:
    return [column.name for column in table.primary_key]
