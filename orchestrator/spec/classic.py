"""Reads a classic JOBARRAY as input: two columns, a Region and the data there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator import files
from orchestrator.errors import SpecError
from orchestrator.wire.manifest import BadLine, ClassicLine, parse
from orchestrator.wire.task import Task

if TYPE_CHECKING:
    from pathlib import Path


def read_classic(path: Path) -> list[ClassicLine]:
    """Return the lines of a file that are not empty.

    Raise SpecError if the file has none, or holds a line that is not classic. A manifest of our own is not classic:
    it already says what each task is.
    """
    try:
        lines = files.read(path).decode().replace("\r\n", "\n").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(f"cannot be read: {getattr(error, 'strerror', None) or error}", where=str(path)) from error
    found = []
    for number, text in enumerate(lines, start=1):
        if text.strip():
            found.append(_line(text, f"{path}:{number}"))
    if not found:
        raise SpecError("there are no lines in it", where=str(path), hint="write region,s3_uri lines")
    return found


def _line(text: str, where: str) -> ClassicLine:
    try:
        line = parse(text)
    except BadLine as error:
        raise SpecError(str(error), where=where) from error
    if isinstance(line, Task):
        raise SpecError("this line holds a task of another run", where=where, hint="`sweep retry` runs tasks again")
    return line
