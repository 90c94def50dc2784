"""The facts that a plan was made by: what lanes cost, which quotas they count under, and how much of these was free."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from orchestrator.wire.stored import checked, restore
from orchestrator.wire.task import Lane, Quota


@dataclass(frozen=True)
class Lot:
    """A lane as it was when the plan was made: what it cost, and what the plan uses of it."""

    lane: Lane
    usd_per_hour: float
    uses: dict[str, int]
    """The units of each quota, by its name, that one instance holds."""
    site: str = ""
    """The training plan that a committed lane belongs to; empty for any other lane."""
    used: int | None = None
    """The most instances that this plan has there at once, if all tasks run at their first choice. It is None where no
    quota was known."""

    @property
    def quotas(self) -> dict[Quota, int]:
        """The units of each quota that one instance holds."""
        return {Quota(self.lane.platform, self.lane.region, name): units for name, units in self.uses.items()}

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"lane": str(self.lane)}

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Lot:
        """Return a stored lot. Fields that an older writer did not know keep their defaults."""
        return restore(cls, body, lane=Lane.parse)


@dataclass(frozen=True)
class QuotaFact:
    """A quota as it was when the plan was made."""

    quota: Quota
    units: int
    """The whole quota."""
    held: int = 0
    """Units of it that other runs held."""

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self.quota), "units": self.units, "held": self.held}

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> QuotaFact:
        return checked(cls(restore(Quota, body), body["units"], body["held"]))


@dataclass(frozen=True)
class LanePrice:
    """What a lane cost when the plan was made, whether the plan uses it or not."""

    lane: Lane
    site: str
    listed: float
    """$ of an hour of one instance, as the catalog had it."""
    usd_per_hour: float
    """$ that an hour was expected to cost: of spot, by what our own tasks had paid as well."""
    interruptions_per_hour: float | None = None
    refused: float = 0.0
    """The chance that it refuses machines when it is asked, as learned."""

    @property
    def discount(self) -> float:
        """The part of the catalog's price that is expected to be paid; 1 where that price is 0."""
        return self.usd_per_hour / self.listed if self.listed else 1.0

    def to_json(self) -> list[Any]:
        body = [str(self.lane), self.site, self.listed, self.usd_per_hour, self.interruptions_per_hour]
        return [*body, self.refused] if self.refused else body

    @classmethod
    def from_json(cls, body: list[Any]) -> LanePrice:
        lane, site, listed, usd_per_hour, interruptions_per_hour = body[:5]
        return checked(cls(Lane.parse(lane), site, listed, usd_per_hour, interruptions_per_hour, *body[5:6]))
