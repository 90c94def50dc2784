"""Words for many names and numbers, as errors and reports use them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sized


def few(names: Iterable[str], limit: int = 5) -> str:
    """Return at most so many of the names, and how many more there are."""
    every = list(names)
    if len(every) <= limit + 1:
        return ", ".join(every)
    return f"{', '.join(every[:limit])} and {len(every) - limit:,} more"


def counted(things: Sized, noun: str) -> str:
    """Return how many things there are, such as `1 lane` or `2 lanes`."""
    ending = "" if len(things) == 1 else "s"
    return f"{len(things):,} {noun}{ending}"
