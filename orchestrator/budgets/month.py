"""One month of one budget, as the control bucket holds it: an envelope for each run. It is moved by compare-and-set."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from math import fsum
from typing import Any

from orchestrator.wire.stored import VERSION, check_version, checked, restore


@dataclass(frozen=True)
class Envelope:
    """The dollars that a run holds, and, once it has ended, those that it really cost."""

    usd: float
    """The most that it may cost."""
    held_at: float
    paid: float | None = None
    """What it cost; None while it may still cost more."""

    @property
    def counted(self) -> float:
        """The dollars that nobody else may have."""
        return self.usd if self.paid is None else self.paid


@dataclass(frozen=True)
class Month:
    """The envelopes of the runs of one month."""

    envelopes: dict[str, Envelope] = field(default_factory=dict)
    limit: float = 0.0
    """The budget, as the newest run knew it: for those who look."""

    @property
    def paid(self) -> float:
        """Dollars that runs which have ended cost."""
        return fsum(one.paid or 0.0 for one in self.envelopes.values())

    @property
    def held(self) -> float:
        """Dollars that runs which have not ended may cost at most."""
        return fsum(one.usd for one in self.envelopes.values() if one.paid is None)

    @property
    def counted(self) -> float:
        return self.paid + self.held

    @property
    def open(self) -> dict[str, Envelope]:
        """The envelopes of runs that may still cost more."""
        return {run: one for run, one in self.envelopes.items() if one.paid is None}

    def to_json(self) -> dict[str, Any]:
        return {"version": VERSION} | asdict(self)

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Month:
        """Return a stored month. NewerVersion if a newer `sweep` has written it."""
        check_version(body, "budget")
        envelopes = {str(run): restore(Envelope, one) for run, one in body["envelopes"].items()}
        return checked(cls(envelopes, body.get("limit", 0.0)))
