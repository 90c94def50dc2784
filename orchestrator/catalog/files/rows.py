"""A catalog file, or what a feed read, as rows of its table: every cell is understood, or an error names the first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.catalog.files.formats import Batch, batches
from orchestrator.catalog.files.kinds import FILE_NAME, Columns, Field, Kind
from orchestrator.catalog.files.lanes import first_lane_problem
from orchestrator.errors import CatalogError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from orchestrator.catalog.platforms import Platforms

Rows = list[dict[str, Any]]


class CatalogRows:
    """Rows of a kind, from a file or from a feed, read as rows of the kind's table."""

    def __init__(self, kind: Kind, batches: Iterable[Batch], where: str, source: str) -> None:
        """Take where the rows stand, as errors name it, and the source of those that name none."""
        self.kind = kind
        self._batches = batches
        self.where = where
        self._source = source
        self.given: tuple[str, ...] = ()
        """The columns that were given. They are known once the rows are read."""

    @classmethod
    def of_file(cls, file: Path, kind: Kind) -> CatalogRows:
        """Return the rows of a file. It is opened when they are read."""
        return cls(kind, batches(file), str(file), file.name)

    @classmethod
    def of_feed(cls, kind: Kind, rows: Mapping[int, Mapping[str, object]], source: str, where: str) -> CatalogRows:
        """Return rows that were told by somebody, all with the same columns, as those of a file.

        Errors name the number by which each is given, as they name the line of a file.
        """
        first = next(iter(rows.values()), {field.name: None for field in kind.fields})
        columns: dict[str, Sequence[object]] = {name: [row[name] for row in rows.values()] for name in first}
        return cls(kind, [Batch(columns, list(rows))], where, source)

    def rows(self, platforms: Platforms) -> Iterator[Rows]:
        """Yield the rows, some thousands at a time. Each has, beside its columns, the `line` that it stands in.

        `platforms` say which lanes there are.

        Raise CatalogError for the first thing that cannot be understood.
        """
        for batch in self._batches:
            self.given = self._given(batch)
            columns = {field.name: self._values(field, batch) for field in self.kind.fields}
            self._refuse_inconsistent(columns, batch.lines)
            self._refuse_unknown_lanes(columns, batch.lines, platforms)
            yield _rows(self.kind.to_table(columns) | {"line": batch.lines})

    def error(self, problem: str, *, line: int, column: str = "", hint: str = "") -> CatalogError:
        """Return an error that names the place, the line, and the column if one is to blame."""
        where = f"{self.where}:{line}:{column}" if column else f"{self.where}:{line}"
        return CatalogError(problem, where=where, hint=hint)

    def _refuse_inconsistent(self, columns: Columns, lines: Sequence[int]) -> None:
        if self.kind.row_problem is None:
            return
        for row, line in zip(_rows(columns), lines, strict=True):
            if found := self.kind.row_problem(row):
                raise self.error(found.problem, line=line, column=found.column, hint=found.hint)

    def _refuse_unknown_lanes(self, columns: Columns, lines: Sequence[int], platforms: Platforms) -> None:
        if first := first_lane_problem(columns, platforms):
            number, found = first
            raise self.error(found.problem, line=lines[number], column=found.column, hint=found.hint)

    def _given(self, batch: Batch) -> tuple[str, ...]:
        known = [field.name for field in self.kind.fields]
        for name in batch.columns:
            if name not in known:
                raise CatalogError(
                    f"{self.kind.name} have no column {name!r}", where=self.where, hint=did_you_mean(name, known)
                )
        for field in self.kind.fields:
            if field.required and field.name not in batch.columns:
                raise CatalogError(f"column {field.name!r} is missing", where=self.where)
        return tuple(batch.columns)

    def _values(self, field: Field, batch: Batch) -> Sequence[Any]:
        """Return a column's values. Every distinct cell is parsed once: a million prices name few Regions."""
        column = batch.columns.get(field.name)
        if column is None:
            return [self._default(field)] * len(batch.lines)
        try:
            values = {cell: self._value(field, cell) for cell in set(column)}
        except ValueError:
            raise self._first_error(field, batch) from None
        return [values[cell] for cell in column]

    def _first_error(self, field: Field, batch: Batch) -> CatalogError:
        for line, cell in zip(batch.lines, batch.columns[field.name], strict=True):
            try:
                self._value(field, cell)
            except ValueError as error:
                return self.error(str(error), line=line, column=field.name)
        raise AssertionError("a cell that was wrong no longer is")

    def _value(self, field: Field, cell: Any) -> Any:
        if not _is_empty(cell):
            return field.parse(cell)
        if field.required:
            raise ValueError("is empty")
        return self._default(field)

    def _default(self, field: Field) -> object:
        return self._source if field.default is FILE_NAME else field.default


def _rows(columns: Columns) -> Rows:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _is_empty(cell: Any) -> bool:
    is_nan = cell != cell
    is_blank = isinstance(cell, str) and not cell.strip()
    return cell is None or is_nan or is_blank
