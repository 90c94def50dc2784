"""The newest checkpoint of a task: in which Region it lies, and what bringing it to another one takes. Pure numbers."""

from __future__ import annotations

from dataclasses import dataclass

USUAL_USD_PER_GB = 0.15
"""Dollars for a GB between Regions where the plan has told no price: no Region asks for more."""
COPY_GB_PER_HOUR = 1000.0
"""A prior: GB that parts of objects, eight at a time, move in an hour between Regions."""


@dataclass(frozen=True)
class Saved:
    """The newest checkpoint of a task that is whole."""

    region: str
    gb: float
    usd_per_gb: float
    """Dollars for a GB of it in another Region."""
    paid_to: str = ""
    """The Region where bringing it is paid already, if there is one."""

    def usd_to(self, region: str) -> float:
        """Return the dollars that are still to be paid to have it in a Region."""
        return 0.0 if region in (self.region, self.paid_to) else self.gb * self.usd_per_gb

    def hours_to(self, region: str) -> float:
        """Return the hours until it is in a Region."""
        return 0.0 if region == self.region else self.gb / COPY_GB_PER_HOUR


@dataclass(frozen=True)
class Ahead:
    """What is known of where a task may go on, beside what was tried."""

    saved: Saved | None = None
    """Its newest checkpoint, if one of its places is in another Region; None where nothing needs to be brought."""
    moves_to: int | None = None
    """The number of the place that it was decided to move to; None while it was not."""
    sites: tuple[str, ...] = ()
    """The sites of the place that was tried last, such as zones; empty if it has none."""
    closed: frozenset[str] = frozenset()
    """Regions to which its checkpoint cannot be brought."""

    def usd_to(self, region: str) -> float:
        """Return the dollars that are to be paid before it goes on in a Region."""
        return self.saved.usd_to(region) if self.saved else 0.0


NOTHING_AHEAD = Ahead()
