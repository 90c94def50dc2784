"""The JOBARRAY: one line a task, and an index of where each line begins.

A line is `region,s3_uri,{json}`. The first two columns are the classic JOBARRAY's, so that

    while IFS=, read -r region s3_uri task; do ...; done

still works in a shell; the JSON is what counts. Commas, line breaks and percent signs are percent-encoded in the
columns and cannot occur raw in the JSON's ASCII, so no value can break a line.

The index has one fixed-width record a line, and one for the end of the file: a child finds its own line with
two ranged reads, however long the manifest is.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.wire.task import Task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

RECORD = 16
"""Bytes in one index record: 15 digits and a newline."""


class BadLine(ValueError):
    """A manifest line that is neither ours nor the classic two columns."""


@dataclass(frozen=True)
class ClassicLine:
    """A line of a two-column JOBARRAY: a Region and the data there."""

    region: str
    s3_uri: str


def line(task: Task) -> bytes:
    place = task.places[0]
    body = json.dumps(task.to_json(), separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return f"{place.lane.region},{_column(place.s3_uri)},{body}\n".encode("ascii")


def parse(text: str) -> Task | ClassicLine:
    columns = text.rstrip("\r\n").split(",", 2)
    if len(columns) < 2 or not columns[1].startswith("s3://"):
        raise BadLine(f"expected region,s3_uri[,json], got {text[:80]!r}")
    if len(columns) == 2:
        return ClassicLine(columns[0].strip(), columns[1].strip())
    try:
        return Task.from_json(json.loads(columns[2]))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadLine(f"the third column is not a task: {error!r}") from error


def write(tasks: Iterable[Task]) -> Iterator[tuple[bytes, bytes]]:
    """A line and its index record for each task; then an empty line with the record of the end."""
    offset = 0
    for task in tasks:
        text = line(task)
        yield text, _record(offset)
        offset += len(text)
    yield b"", _record(offset)


def read_line(index: int, read_index: Callable[[int, int], bytes], read_manifest: Callable[[int, int], bytes]) -> str:
    """Line `index`, by two ranged reads: each is given the first byte and the one after the last."""
    records = read_index(index * RECORD, (index + 2) * RECORD)
    if len(records) < 2 * RECORD:
        raise IndexError(f"the manifest has no line {index}")
    return read_manifest(int(records[:RECORD]), int(records[RECORD:])).decode("ascii")


def _record(offset: int) -> bytes:
    return b"%015d\n" % offset


def _column(text: str) -> str:
    """The characters that would break a line or a column, percent-encoded; all others as they are, if ASCII."""
    if text.isascii() and text.isprintable() and "," not in text and "%" not in text:
        return text
    return "".join(c if c.isascii() and c.isprintable() and c not in ",%" else _percent(c) for c in text)


def _percent(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))
