"""CSV and Parquet files as batches of columns: a million rows pass through in little memory."""

from __future__ import annotations

import csv
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from orchestrator.errors import CatalogError
from orchestrator.files import check_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

SUFFIXES = (".csv", ".parquet")
_BATCH_ROWS = 20_000


@dataclass(frozen=True)
class Batch:
    """Some rows of a file, column by column."""

    columns: dict[str, Sequence[Any]]
    lines: Sequence[int]
    """The place of each row in the file: the line of a CSV file, the row of a Parquet file."""


def batches(file: Path) -> Iterator[Batch]:
    """Yield the file in batches: at least one, even if the file has no rows.

    Raise CatalogError if the file cannot be read, or is not what its name says.
    """
    with _errors_explained(file):
        check_file(file)
        yield from _parquet(file) if file.suffix == ".parquet" else _csv(file)


def _csv(file: Path) -> Iterator[Batch]:
    with file.open(encoding="utf-8-sig", newline="") as stream:
        reader = csv.reader(stream, strict=True)
        names = [name.strip() for name in next(reader, [])]
        if not any(names):
            raise CatalogError("the file is empty; its first line must name its columns", where=str(file))
        _refuse_repeated_columns(file, names)
        rows = _rows(file, reader, len(names))
        while True:
            chunk = list(islice(rows, _BATCH_ROWS))
            cells = list(zip(*(row for _, row in chunk), strict=True)) or [()] * len(names)
            yield Batch(dict(zip(names, cells, strict=True)), [line for line, _ in chunk])
            if len(chunk) < _BATCH_ROWS:
                return


def _rows(file: Path, reader: Any, width: int) -> Iterator[tuple[int, list[str]]]:
    line = reader.line_num + 1
    for row in reader:
        if len(row) not in (0, width):
            raise CatalogError(f"{len(row)} values where the first line names {width}", where=f"{file}:{line}")
        if row:
            yield line, row
        line = reader.line_num + 1


def _parquet(file: Path) -> Iterator[Batch]:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ModuleNotFoundError as error:
        raise CatalogError(
            "Parquet files need pyarrow", where=str(file), hint="pip install 'sweep-orchestrator[parquet]'"
        ) from error
    try:
        with ParquetFile(file) as table:
            names: list[str] = table.schema_arrow.names
            _refuse_repeated_columns(file, names)
            if table.metadata.num_rows == 0:
                yield Batch(dict.fromkeys(names, ()), ())
            row = 1
            for batch in table.iter_batches(_BATCH_ROWS):
                cells = ([_flat(cell) for cell in batch.column(name).to_pylist()] for name in names)
                yield Batch(dict(zip(names, cells, strict=True)), range(row, row + batch.num_rows))
                row += batch.num_rows
    except ArrowException as error:
        raise CatalogError(f"not a Parquet file: {str(error).splitlines()[0]}", where=str(file)) from error


def _flat(cell: Any) -> Any:
    """Return a cell in the form that a CSV file would give it: tags may be a list here."""
    if isinstance(cell, list):
        return ";".join(map(str, cell))
    return str(cell) if isinstance(cell, dict) else cell


def _refuse_repeated_columns(file: Path, names: list[str]) -> None:
    for index, name in enumerate(names):
        if name in names[:index]:
            raise CatalogError(f"two columns are called {name!r}", where=str(file))


@contextmanager
def _errors_explained(file: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise CatalogError("no such file", where=str(file)) from error
    except UnicodeDecodeError as error:
        raise CatalogError("the file is not UTF-8 text", where=str(file)) from error
    except csv.Error as error:
        raise CatalogError(f"not CSV: {error}", where=str(file)) from error
    except OSError as error:
        raise CatalogError(f"cannot be read: {error.strerror or error}", where=str(file)) from error
