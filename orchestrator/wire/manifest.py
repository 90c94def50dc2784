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
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from orchestrator.wire.task import Task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from orchestrator.wire.task import Scalar

RECORD = 16
"""Bytes in one index record: 15 digits and a newline."""


_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode


class BadLine(ValueError):
    """A manifest line that is neither ours nor the classic two columns."""


@dataclass(frozen=True)
class ClassicLine:
    """A line of a classic JOBARRAY: a Region and the data there, and what further columns say."""

    region: str
    s3_uri: str
    point: dict[str, Scalar] = field(default_factory=dict)
    """Parameters of this line's tasks, beside those of the space."""
    instance_type: str = ""
    """The type that they run on; empty where it may be any."""
    image: str = ""
    """The image that they run in, as the file has it; empty where it is the sweep's."""


def parse(text: str) -> Task | ClassicLine:
    """Return what a line of a manifest says. Raise BadLine when it is neither a task nor the classic two columns."""
    columns = text.rstrip("\r\n").split(",", 2)
    region = columns[0].strip()
    s3_uri = columns[1].strip() if len(columns) > 1 else ""
    if not region or not s3_uri.startswith("s3://"):
        raise BadLine(f"expected region,s3_uri[,json], got {text[:80]!r}")
    if len(columns) == 2:
        return ClassicLine(region, s3_uri)
    return _task(columns[2])


def _task(column: str) -> Task:
    """Return the task that a third column holds. Raise BadLine, in words, when it holds none."""
    not_a_task = "the third column is not a task: "
    try:
        body = json.loads(column)
    except (ValueError, RecursionError) as error:
        raise BadLine(f"{not_a_task}{column[:40]!r} is no JSON") from error
    if not isinstance(body, dict):
        raise BadLine(f"{not_a_task}{column[:40]!r} is no JSON object")
    try:
        return Task.from_json(body)
    except KeyError as error:
        raise BadLine(f"{not_a_task}it has no {error}") from error
    except (ValueError, TypeError, AttributeError) as error:
        raise BadLine(f"{not_a_task}one of its values is not what sweep writes there") from error


def write(tasks: Iterable[Task]) -> Iterator[tuple[bytes, bytes]]:
    """Yield a line and its index record for each task; then an empty line with the record of the end."""
    offset, shared = 0, None
    for task in tasks:
        if shared is None or not shared.holds_for(task):
            shared = _Shared.of(task)
        text = shared.line(task)
        yield text, _record(offset)
        offset += len(text)
    yield b"", _record(offset)


@dataclass(frozen=True)
class _Shared:
    """The text that neighbouring lines have in common: most of a line, and most of the time that writing one takes.

    A line is `before`, then what only its own task has, then `after`.
    """

    task: Task
    before: str
    after: str

    @classmethod
    def of(cls, task: Task) -> _Shared:
        place = task.places[0]
        body = task.to_json()
        rest = _encode({name: value for name, value in body.items() if name not in ("number", "key", "point")})
        return cls(task, f"{_column(place.lane.region)},{_column(place.s3_uri)},", rest.removeprefix("{"))

    def holds_for(self, task: Task) -> bool:
        """Return whether this task's line has the same text in common.

        The tasks of a plan's share hold the very same objects as places and limits, so identity is enough.
        """
        mine = self.task
        return (
            task.places is mine.places
            and task.limits is mine.limits
            and task.dataset == mine.dataset
            and task.after == mine.after
            and task.image == mine.image
        )

    def line(self, task: Task) -> bytes:
        own = f'{{"number":{task.number},"key":{_encode(task.key)},"point":{_encode(task.point)},'
        return f"{self.before}{own}{self.after}\n".encode("ascii")


def read_line(index: int, read_index: Callable[[int, int], bytes], read_manifest: Callable[[int, int], bytes]) -> str:
    """Return line `index`, by one ranged read of the index and one of the manifest.

    Both readers are given the first byte wanted and the one after the last. Raise IndexError when the manifest has no
    such line.
    """
    records = read_index(index * RECORD, (index + 2) * RECORD)
    if len(records) < 2 * RECORD:
        raise IndexError(f"the manifest has no line {index}")
    return read_manifest(int(records[:RECORD]), int(records[RECORD:])).decode("ascii")


def _record(offset: int) -> bytes:
    return b"%015d\n" % offset


def _column(text: str) -> str:
    """Return the text with every character percent-encoded that would break a line or a column, or is not ASCII."""
    if text.isascii() and text.isprintable() and "," not in text and "%" not in text:
        return text
    return "".join(c if c.isascii() and c.isprintable() and c not in ",%" else _percent(c) for c in text)


def _percent(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))
