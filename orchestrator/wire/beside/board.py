"""The board of a Region: which trainings of a run have ended there lately, as one of its launchers has listed them.

It is a hint, never proof. Whoever finds a training on it still asks the Region itself. So no board, two writers of it,
or one that is out of date do no harm: they only cost time.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from orchestrator.wire.stored import VERSION, check_version, restore

KEPT_MS = 300_000
"""Milliseconds for which a name stays on the board: every launcher has read it many times by then."""


@dataclass(frozen=True)
class Board:
    """What the holder of a board has written down last."""

    holder: str = ""
    """The training whose launcher writes the board; empty once that launcher has gone."""
    listed_to: int = 0
    """A moment before the last listing began: milliseconds since the epoch, by S3's own clock. 0 if there was none."""
    ended: dict[str, int] = field(default_factory=dict)
    """Names of trainings that have ended, each with the moment when it came onto the board."""

    def with_ended(self, names: frozenset[str], moment: int) -> dict[str, int]:
        """Return the names that are to stand on the board at a moment, once these were listed."""
        recent = {name: since for name, since in self.ended.items() if since > moment - KEPT_MS}
        return {**dict.fromkeys(sorted(names), moment), **recent}

    @property
    def newest(self) -> int:
        """The number of names that came onto the board last, all at one moment."""
        last = max(self.ended.values(), default=0)
        return sum(moment == last for moment in self.ended.values())

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"version": VERSION}

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Board:
        """Return a stored board. NewerVersion if a newer `sweep` has written it."""
        check_version(body, "board")
        return restore(cls, body)
