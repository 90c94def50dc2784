"""What a new plan of tasks that have not been started would move and save, and whether that is worth it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.plan.slots import LotKey
from orchestrator.runs.written.planned import pieces

if TYPE_CHECKING:
    from orchestrator.runs.sending.unstarted import Unstarted
    from orchestrator.runs.written.planned import Planned

WORTH = 0.05
"""The part of what the tasks cost where they are that a move must save at the least; or of their time, for a sweep that
wants to be fast."""


@dataclass(frozen=True)
class Move:
    """Tasks that go from one lot to another, or to other data in the same Region."""

    origin: LotKey
    target: LotKey
    tasks: int


@dataclass(frozen=True)
class Proposal:
    """Another plan for the tasks of a run that have not been started."""

    unstarted: Unstarted
    planned: Planned
    """What would be sent. Its tasks are those that move; with a budget, all, for their envelopes are dealt out anew."""
    stay_usd: float
    """Dollars that the tasks cost where they are, at today's prices."""
    usd: float
    """Dollars that they cost by the new plan, new copies of data included."""
    stay_hours: float
    """Hours until the last of them ends where they are."""
    hours: float
    """Hours until the last of them ends by the new plan."""
    left_hours: float | None
    """Hours until their deadline; None without one."""
    lost: int
    """Tasks whose places can be had no more."""
    fastest: bool
    """The sweep wants its tasks to end soon, whatever that costs within its budget."""

    @property
    def saves(self) -> float:
        return self.stay_usd - self.usd

    @property
    def copies_usd(self) -> float:
        return sum(copy.usd for copy in self.planned.copies)

    @property
    def least(self) -> float:
        """The dollars that a move must save to be worth it."""
        return WORTH * self.stay_usd

    @property
    def moves(self) -> list[Move]:
        """What goes where, the most tasks first."""
        counted: Counter[tuple[LotKey, LotKey]] = Counter()
        for share in self.planned.shares:
            for before in pieces(self.unstarted.plan.shares, share.tasks):
                old, new = before.places[0], share.places[0]
                if (LotKey.of(old), old.instances, old.s3_uri) != (LotKey.of(new), new.instances, new.s3_uri):
                    counted[LotKey.of(old), LotKey.of(new)] += before.count
        return [Move(old, new, count) for (old, new), count in sorted(counted.items(), key=lambda one: (-one[1], one))]

    @property
    def why(self) -> str:
        """Say why the tasks should move; nothing if they should stay."""
        if not self.moves:
            return ""
        if self.lost:
            return f"{self.lost:,} of them wait for a place that is not to be had any more"
        if self.left_hours is not None and self.stay_hours > self.left_hours >= self.hours:
            late = self.stay_hours - self.left_hours
            return f"where they are, the last would end {late:.1f} h after the deadline"
        if self.fastest:
            return "they end sooner" if self.hours < (1 - WORTH) * self.stay_hours else ""
        return "it is cheaper" if self.saves > 0 and self.saves >= self.least else ""
