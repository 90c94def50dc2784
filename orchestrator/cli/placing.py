"""Says of an error about a key of the sweep, such as `platforms.eks.queue`, on which line of its file that stands."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from orchestrator.errors import SweepError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def placing(file: Path) -> Iterator[None]:
    """Give the errors of what is done with a sweep file their line. A plan's file has no lines of its own."""
    try:
        yield
    except SweepError as error:
        if file.suffix != ".json":
            from orchestrator.api import find_place

            error.where = find_place(error.where, file)
        raise
