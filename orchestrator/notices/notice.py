"""Notices: what has happened, said once for people and once for programs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from orchestrator.wire.names import digest
from orchestrator.wire.stored import VERSION

FINISHED, FAILED, PROMOTED, REFUSED = "finished", "failed", "promoted", "refused"
BUDGET, STUCK, ALARM, TEST = "budget", "stuck", "alarm", "test"
KINDS = (FINISHED, FAILED, PROMOTED, REFUSED, BUDGET, STUCK, ALARM)
"""The kinds that one may be told of, or not. A test is always told."""


@dataclass(frozen=True)
class Notice:
    """One event. Whoever gets two with one id has been told twice of the same."""

    kind: str
    event: tuple[str, ...]
    """The words that tell this event from all others, such as the run's name and its submission."""
    text: str
    """One line for people."""
    at: float
    """When it happened, in seconds since the epoch."""
    workload: str = ""
    run: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    """What programs may want to know of it."""

    @property
    def id(self) -> str:
        """One name for whoever tells of this event."""
        return f"{self.kind}-{digest([self.kind, *self.event], 20)}"

    def payload(self) -> dict[str, Any]:
        """Return what is sent: `text` is what Slack and its like show, the rest is for programs."""
        return {
            "text": self.text,
            "version": VERSION,
            "id": self.id,
            "kind": self.kind,
            "workload": self.workload,
            "run": self.run,
            "at": self.at,
            "facts": self.facts,
        }
