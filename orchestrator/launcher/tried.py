"""An attempt that has ended, and how: what every choice of the next one is made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orchestrator.wire.result import Attempt, Outcome


@dataclass(frozen=True)
class Tried:
    """An attempt of this submission, and how it ended."""

    attempt: Attempt
    outcome: Outcome
