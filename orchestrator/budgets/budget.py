"""Budgets: whose dollars of which month a run draws on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timezone

from orchestrator.wire.names import budget_key

WORKLOAD, OWNER = "workload", "owner"


@dataclass(frozen=True)
class Budget:
    """The dollars that all runs of a workload, or of an owner, may cost which are submitted in one month."""

    kind: str
    """Says whose: workload or owner."""
    name: str
    month: str
    """Written 2026-11, in UTC."""
    usd: float

    @property
    def key(self) -> str:
        return budget_key(self.kind, self.name, self.month)

    @property
    def words(self) -> str:
        return f"the budget of {self.kind} {self.name} for {self.month}"

    @property
    def resumes(self) -> str:
        """The day on which the next month's budget begins."""
        year, month = map(int, self.month.split("-"))
        return str(date(year + month // 12, month % 12 + 1, 1))


@dataclass(frozen=True)
class Draw:
    """What a run may cost at most, and the budgets that this comes from."""

    run: str
    usd: float
    budgets: tuple[Budget, ...]


def month_of(moment: float) -> str:
    """Return the month, in UTC, of a moment in seconds since the epoch."""
    return datetime.fromtimestamp(moment, timezone.utc).strftime("%Y-%m")
