"""What holds a run up, as it is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orchestrator.wire.ranges import Ranges

MOST = 5
"""The most that is told of one kind: the largest."""


@dataclass(frozen=True)
class Hindrance:
    """One thing that holds tasks up, or has ended them."""

    tasks: int
    what: str
    hint: str
    examples: str
    """Some of these tasks."""


def in_minutes(seconds: float) -> str:
    """Return a duration as it is told: in seconds, minutes or hours."""
    whole = max(round(seconds), 0)
    if whole < 120:
        return f"{whole} s"
    return f"{whole // 60} min" if whole < 7200 else f"{whole / 3600:.1f} h"


def few(tasks: Ranges) -> str:
    """Return these tasks, or the first of many, as --task takes them."""
    text = str(tasks)
    return text if len(text) <= 40 else f"{text[:40].rpartition(',')[0] or text[:40]}, ..."
