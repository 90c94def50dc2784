"""Rows on their way into a table: gathered beside it, checked as a whole, then merged in one stroke."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Column, Integer, MetaData, Table, and_, case, exists, false, func, insert, or_, select, true

from orchestrator.db import upsert

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement, Connection


@dataclass(frozen=True)
class Counts:
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


class Stage:
    """A temporary copy of a table's columns, and the line that each row came from. Gone with the transaction."""

    def __init__(self, connection: Connection, table: Table, number: int = 0) -> None:
        self._connection = connection
        self._target = table
        self._table = Table(
            f"stage_{number}",
            MetaData(),
            Column("line", Integer, nullable=False),
            *(Column(column.name, column.type) for column in table.columns),
            prefixes=["TEMPORARY"],
        )
        self._keys = [column.name for column in table.primary_key]

    def __enter__(self) -> Stage:
        self._table.create(self._connection)
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:  # after an error the whole transaction goes
            self._table.drop(self._connection)

    def add(self, rows: list[dict[str, Any]]) -> None:
        if rows:
            self._connection.execute(insert(self._table), rows)

    def twins(self) -> tuple[int, int] | None:
        """The lines of the first two rows with one key."""
        keys = [self._table.c[name] for name in self._keys]
        first, again = func.min(self._table.c.line), func.max(self._table.c.line)
        found = self._connection.execute(
            select(first, again).group_by(*keys).having(func.count() > 1).order_by(first).limit(1)
        ).first()
        return (found[0], found[1]) if found else None

    def orphan(self, column: str, parents: Column[Any]) -> tuple[int, str] | None:
        """The first row that refers to nothing, by line and by what it refers to."""
        value = self._table.c[column]
        found = self._connection.execute(
            select(self._table.c.line, value)
            .where(~exists().where(parents == value))
            .order_by(self._table.c.line)
            .limit(1)
        ).first()
        return (found[0], found[1]) if found else None

    def first(self, condition: ColumnElement[bool]) -> Any:
        """The first row for which this holds."""
        return self._connection.execute(
            select(self._table).where(condition).order_by(self._table.c.line).limit(1)
        ).first()

    @property
    def c(self) -> Any:
        return self._table.c

    def merge(self, given: Sequence[str], along: Sequence[str] = ()) -> Counts:
        """Insert what is new, and update where the given columns differ: these, and others along with them."""
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
