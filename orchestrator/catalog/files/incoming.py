"""Rows on their way into a table: gathered beside it, checked as a whole, then merged in one statement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    Column,
    Integer,
    MetaData,
    Table,
    and_,
    case,
    delete,
    exists,
    false,
    func,
    insert,
    or_,
    select,
    true,
)

from orchestrator.db import upsert

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement, Connection


@dataclass(frozen=True)
class Counts:
    """Counts what became of the rows of one table."""

    inserted: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.inserted + other.inserted,
            self.updated + other.updated,
            self.unchanged + other.unchanged,
            self.removed + other.removed,
        )


class IncomingRows:
    """A temporary table with another table's columns, and the line of the file that each row came from.

    Use it in a `with` block: the table is dropped at the block's end, or with its transaction.
    """

    def __init__(self, connection: Connection, table: Table, number: int = 0) -> None:
        self._connection = connection
        self._target = table
        self._table = Table(
            f"incoming_{number}",
            MetaData(),
            Column("line", Integer, nullable=False),
            *(Column(column.name, column.type) for column in table.columns),
            prefixes=["TEMPORARY"],
        )
        self._keys = [column.name for column in table.primary_key]

    def __enter__(self) -> IncomingRows:
        self._table.create(self._connection)
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:  # after an error the whole transaction goes
            self._table.drop(self._connection)

    def add(self, rows: list[dict[str, Any]]) -> None:
        """Gather rows, each with the table's columns and its `line`."""
        if rows:
            self._connection.execute(insert(self._table), rows)

    def first_duplicate(self) -> tuple[int, int] | None:
        """Return the lines of the first two rows with one key; None if every key comes once."""
        keys = [self._table.c[name] for name in self._keys]
        earliest, latest = func.min(self._table.c.line), func.max(self._table.c.line)
        found = self._connection.execute(
            select(earliest, latest).group_by(*keys).having(func.count() > 1).order_by(earliest).limit(1)
        ).first()
        return (found[0], found[1]) if found else None

    def first_orphan(self, column: str, parents: Column[Any]) -> tuple[int, str] | None:
        """Return the line and the value of the first row whose column names no parent; None if all do."""
        value = self._table.c[column]
        found = self._connection.execute(
            select(self._table.c.line, value)
            .where(~exists().where(parents == value))
            .order_by(self._table.c.line)
            .limit(1)
        ).first()
        return (found[0], found[1]) if found else None

    def first_where(self, condition: ColumnElement[bool]) -> Any:
        """Return the first row for which the condition holds, or None."""
        return self._connection.execute(
            select(self._table).where(condition).order_by(self._table.c.line).limit(1)
        ).first()

    def count(self, condition: ColumnElement[bool]) -> int:
        """Return for how many rows the condition holds."""
        counted = select(func.count()).select_from(self._table).where(condition)
        return self._connection.scalars(counted).one()

    def leave_out(self, condition: ColumnElement[bool]) -> int:
        """Forget the rows for which the condition holds, and return how many there were."""
        return int(self._connection.execute(delete(self._table).where(condition)).rowcount)

    @property
    def c(self) -> Any:
        """The columns of the rows, for conditions on them."""
        return self._table.c

    def merge(self, given: Sequence[str], along: Sequence[str] = ()) -> Counts:
        """Insert the rows that are new, update those whose `given` columns differ, and return how many of each.

        An update writes the `given` columns, and those of `along` with them.
        """
        facts = [name for name in given if name not in self._keys]
        same_key = and_(*(self._target.c[name] == self._table.c[name] for name in self._keys))
        differs = or_(false(), *(self._target.c[name].is_distinct_from(self._table.c[name]) for name in facts))
        matched = select(func.count(), func.coalesce(func.sum(case((differs, 1), else_=0)), 0))
        known, updated = self._connection.execute(matched.select_from(self._table.join(self._target, same_key))).one()
        total = self._connection.scalars(select(func.count()).select_from(self._table)).one()
        if known < total or updated:
            self._write(facts, [*facts, *along])
        return Counts(inserted=total - known, updated=updated, unchanged=known - updated)

    def _write(self, facts: Sequence[str], updated: Sequence[str]) -> None:
        names = [column.name for column in self._target.columns]
        rows = select(*(self._table.c[name] for name in names)).where(true())  # SQLite needs a WHERE before ON CONFLICT
        statement = upsert.insert(self._connection, self._target).from_select(names, rows)
        if not facts:
            self._connection.execute(statement.on_conflict_do_nothing(index_elements=self._keys))
            return
        new = statement.excluded
        self._connection.execute(
            statement.on_conflict_do_update(
                index_elements=self._keys,
                set_={name: new[name] for name in updated},
                where=or_(*(self._target.c[name].is_distinct_from(new[name]) for name in facts)),
            )
        )
