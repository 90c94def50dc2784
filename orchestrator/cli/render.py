"""Prints every list: as an aligned table for people, as JSON or CSV for programs."""

from __future__ import annotations

import csv
import os
import re
import sys
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Generic, TypeVar

from orchestrator.cli.jsonable import jsonable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rich.table import Table

Row = TypeVar("Row")

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Control characters but tabs and line breaks, and those that turn the direction of a line."""
STATE_COLOURS = {
    "done": "green",
    "failed": "red",
    "partly_failed": "red",
    "running": "cyan",
    "cancelled": "yellow",
    "paused": "yellow",
}
_COLOURS = {"red": 31, "green": 32, "yellow": 33, "blue": 34, "magenta": 35, "cyan": 36}


class ReaderGone(Exception):
    """The program that read our output has closed it, as `head` does: there is nobody left to write to."""


@dataclass(frozen=True)
class Column(Generic[Row]):
    """One column of a list: which value of a row it shows, and how."""

    key: str
    """The column's name in CSV."""
    value: Callable[[Row], Any]
    """Takes the value from a row."""
    text: Callable[[Any], str] = str
    """Says how a value reads in a table."""
    title: str = ""
    """The column's heading in a table, if it is not its key."""
    right: bool = False
    """True if the column is aligned to the right."""
    optional: bool = False
    """True if the column is left out where a terminal has no room for it."""
    if_varied: bool = False
    """True if a table leaves the column out where all rows have one value."""
    is_estimate: Callable[[Row], bool] = lambda _: False
    """Says if a row's value is an estimate: people then read `~12m`."""

    @property
    def heading(self) -> str:
        """The heading in a table."""
        return self.title or self.key.replace("_", " ")

    def cell(self, row: Row) -> str:
        """Return what a table shows for this row: one line, empty if there is no value."""
        value = self.value(row)
        if value is None:
            return ""
        text = printable(" ".join(self.text(value).split()))
        return f"~{text}" if self.is_estimate(row) else text

    def is_shown(self, rows: Sequence[Row]) -> bool:
        """Return True if a table of these rows has the column."""
        return not self.if_varied or len({self.value(row) for row in rows}) > 1


def is_terminal(stream: IO[str]) -> bool:
    """Return True if a person sees what is written there, on a terminal that can move its cursor."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def paint(text: str, colour: str, stream: IO[str]) -> str:
    """Return the text in a colour if the stream is a terminal, unless NO_COLOR is set."""
    if not is_terminal(stream) or os.environ.get("NO_COLOR"):
        return text
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m"


def printable(text: str) -> str:
    """Return a text whose control characters are spelt: written as they are, they might rule the terminal."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def write(text: str, stream: IO[str] | None = None) -> None:
    """Write to a stream, by default stdout. All that the commands print goes through here.

    Raise ReaderGone if nobody reads it any more.
    """
    stream = stream or sys.stdout
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError as error:
        raise ReaderGone from error


def line(text: str = "") -> None:
    """Print one line of data."""
    write(text + "\n")


def say(text: str) -> None:
    """Print one line for the person who watches, on stderr: it is never data."""
    write(text + "\n", sys.stderr)


def as_json(value: object) -> None:
    """Print a value of declared types as JSON."""
    import json

    line(json.dumps(jsonable(value), indent=2, ensure_ascii=False))


def as_json_line(value: object) -> None:
    """Print one value of a stream as JSON, complete on its line."""
    import json

    line(json.dumps(jsonable(value), ensure_ascii=False))


def as_csv(rows: Iterable[Row], columns: Sequence[Column[Row]]) -> None:
    """Print rows as CSV, with a line of the columns' keys first."""
    lines = _CsvLines()
    writer = csv.writer(lines)
    writer.writerow([column.key for column in columns])
    writer.writerows([_csv_cell(column.value(row)) for column in columns] for row in rows)
    write("".join(lines))


def _csv_cell(value: object) -> Any:
    """Return a value as CSV can say it. NUL, which a log may hold, is nothing that it can."""
    plain = jsonable(value)
    return plain.replace("\0", "\N{REPLACEMENT CHARACTER}") if isinstance(plain, str) else plain


class _CsvLines(list[str]):
    """CSV rows, ended as Unix does. The writer ends them with \\r\\n, or else it would not quote a \\r in a value."""

    def write(self, row: str) -> None:
        self.append(row.removesuffix("\r\n") + "\n")


def as_table(rows: Sequence[Row], columns: Sequence[Column[Row]], stream: IO[str] | None = None) -> None:
    """Print rows as a table: on a terminal in colour and as wide as that, elsewhere made for grep and awk."""
    stream = stream or sys.stdout
    columns = [column for column in columns if column.is_shown(rows)]
    table = _fitted_table(rows, columns, stream) if is_terminal(stream) else _plain_table(rows, columns)
    write(table, stream)


def rich_table(rows: Sequence[Row], columns: Sequence[Column[Row]]) -> Table:
    """Return rows as a table in colour, for rich to print."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(Text(column.heading), justify="right" if column.right else "left", overflow="fold")
    for row in rows:
        cells = [column.cell(row) for column in columns]
        table.add_row(*(Text(cell, style=STATE_COLOURS.get(cell, "")) for cell in cells))
    return table


def _fitted_table(rows: Sequence[Row], columns: Sequence[Column[Row]], stream: IO[str]) -> str:
    """Return a table that fits the terminal: optional columns are left out from the last on, then lines are wrapped."""
    from rich.console import Console

    console = Console(file=stream)
    table, left_out = rich_table(rows, columns), list[str]()
    for dropped in reversed([column for column in columns if column.optional]):
        if console.measure(table).minimum < console.width:
            break
        columns = [column for column in columns if column is not dropped]
        table = rich_table(rows, columns)
        left_out.insert(0, dropped.heading)
    with console.capture() as capture:
        console.print(table)
        if left_out:
            console.print(f"no room for: {', '.join(left_out)}", style="dim", highlight=False)
    return capture.get()


def _plain_table(rows: Sequence[Row], columns: Sequence[Column[Row]]) -> str:
    """Return an aligned table with no frame and no colour: made for grep and awk."""
    headings = [column.heading.upper().replace(" ", "_") for column in columns]
    lines = [headings, *([column.cell(row) or "-" for column in columns] for row in rows)]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    return "".join(f"{_aligned(cells, widths, columns)}\n" for cells in lines)


def _aligned(cells: Sequence[str], widths: Sequence[int], columns: Sequence[Column[Row]]) -> str:
    padded = [
        cell.rjust(width) if column.right else cell.ljust(width)
        for cell, width, column in zip(cells, widths, columns, strict=True)
    ]
    return "  ".join(padded).rstrip()
