"""One renderer for every list: an aligned table for people, JSON and CSV for programs."""

from __future__ import annotations

import csv
import os
import sys
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Generic, TypeVar

from orchestrator.cli.values import jsonable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rich.table import Table

Row = TypeVar("Row")

STATE_COLOURS = {"done": "green", "failed": "red", "partly_failed": "red", "running": "cyan", "cancelled": "yellow"}
_COLOURS = {"red": 31, "green": 32, "yellow": 33, "blue": 34, "magenta": 35, "cyan": 36}


class ReaderGone(Exception):
    """Whoever read our output has closed it, as `head` does: there is nobody left to write to."""


@dataclass(frozen=True)
class Column(Generic[Row]):
    key: str
    """Its name in CSV."""
    value: Callable[[Row], Any]
    text: Callable[[Any], str] = str
    title: str = ""
    right: bool = False
    spare: bool = False
    """Left out where a terminal has no room for it."""
    about: Callable[[Row], bool] = lambda _: False
    """Whether a row's value is an estimate: people read `~12m`."""

    @property
    def heading(self) -> str:
        return self.title or self.key.replace("_", " ")

    def cell(self, row: Row) -> str:
        value = self.value(row)
        if value is None:
            return ""
        return ("~" if self.about(row) else "") + " ".join(self.text(value).split())


def is_terminal(stream: IO[str]) -> bool:
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def paint(text: str, colour: str, stream: IO[str]) -> str:
    """Coloured on a terminal, unless NO_COLOR asks for none."""
    if not is_terminal(stream) or os.environ.get("NO_COLOR"):
        return text
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m"


def write(text: str, stream: IO[str] | None = None) -> None:
    """All that the commands print goes through here, to stdout unless another is named."""
    stream = stream or sys.stdout
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError as error:
        raise ReaderGone from error


def line(text: str = "") -> None:
    """One line of data."""
    write(text + "\n")


def say(text: str) -> None:
    """One line for the person watching: never data."""
    write(text + "\n", sys.stderr)


def as_json(value: object) -> None:
    import json

    line(json.dumps(jsonable(value), indent=2, ensure_ascii=False))


def as_json_line(value: object) -> None:
    """One value of a stream, complete on its line."""
    import json

    line(json.dumps(jsonable(value), ensure_ascii=False))


def as_csv(rows: Iterable[Row], columns: Sequence[Column[Row]]) -> None:
    lines = _Lines()
    writer = csv.writer(lines)
    writer.writerow([column.key for column in columns])
    writer.writerows([_csv_cell(column.value(row)) for column in columns] for row in rows)
    write("".join(lines))


def _csv_cell(value: object) -> Any:
    """NUL, which a log may hold, is nothing that CSV can say."""
    plain = jsonable(value)
    return plain.replace("\0", "\N{REPLACEMENT CHARACTER}") if isinstance(plain, str) else plain


class _Lines(list[str]):
    """CSV rows, ended as Unix does. The writer ends them with \\r\\n, or else it would not quote a \\r in a value."""

    def write(self, row: str) -> None:
        self.append(row.removesuffix("\r\n") + "\n")


def as_table(rows: Sequence[Row], columns: Sequence[Column[Row]], stream: IO[str] | None = None) -> None:
    stream = stream or sys.stdout
    write(_fitted(rows, columns, stream) if is_terminal(stream) else _plain(rows, columns), stream)


def rich_table(rows: Sequence[Row], columns: Sequence[Column[Row]]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(Text(column.heading), justify="right" if column.right else "left", overflow="fold")
    for row in rows:
        cells = [column.cell(row) for column in columns]
        table.add_row(*(Text(cell, style=STATE_COLOURS.get(cell, "")) for cell in cells))
    return table


def _fitted(rows: Sequence[Row], columns: Sequence[Column[Row]], stream: IO[str]) -> str:
    """Within the terminal's width: without spare columns, the last first, and then wrapped."""
    from rich.console import Console

    console = Console(file=stream)
    table, left_out = rich_table(rows, columns), list[str]()
    for spare in reversed([column for column in columns if column.spare]):
        if console.measure(table).minimum < console.width:
            break
        columns = [column for column in columns if column is not spare]
        table = rich_table(rows, columns)
        left_out.insert(0, spare.heading)
    with console.capture() as capture:
        console.print(table)
        if left_out:
            console.print(f"no room for: {', '.join(left_out)}", style="dim", highlight=False)
    return capture.get()


def _plain(rows: Sequence[Row], columns: Sequence[Column[Row]]) -> str:
    """Aligned, with no frame and no colour: made for grep and awk."""
    headings = [column.heading.upper().replace(" ", "_") for column in columns]
    lines = [headings, *([column.cell(row) or "-" for column in columns] for row in rows)]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    return "".join(
        "  ".join(
            cell.rjust(width) if column.right else cell.ljust(width)
            for cell, width, column in zip(line, widths, columns, strict=True)
        ).rstrip()
        + "\n"
        for line in lines
    )
