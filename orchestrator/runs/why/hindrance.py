"""What holds a run up, as it is told."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Hindrance:
    """One thing that holds tasks up, or has ended them."""

    tasks: int
    what: str
    hint: str
    examples: str
    """Some of these tasks."""
