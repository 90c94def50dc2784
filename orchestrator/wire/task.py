"""One training, and where it may run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any

Scalar = str | int | float | bool


class Purchase(str, Enum):
    SPOT = "spot"
    ON_DEMAND = "on_demand"
    COMMITTED = "committed"


@dataclass(frozen=True, order=True)
class Lane:
    """What can be bought. Only a key: prices and slots are facts about it."""

    platform: str
    region: str
    instance_type: str
    purchase: Purchase

    def __str__(self) -> str:
        return f"{self.platform}/{self.region}/{self.instance_type}/{self.purchase.value}"

    @classmethod
    def parse(cls, text: str) -> Lane:
        platform, region, instance_type, purchase = text.split("/")
        return cls(platform, region, instance_type, Purchase(purchase))


@dataclass(frozen=True)
class Place:
    """A lane with the replica there: where a task can really run."""

    lane: Lane
    s3_uri: str
    rate: float
    """On-demand $ for one instance and hour: what SageMaker multiplies billable time with, spot or not. 0 under a
    training plan, whose hours are paid already."""
    plan_arn: str = ""
    """Of the training plan that a committed lane's instances belong to."""

    def to_json(self) -> dict[str, Any]:
        body = {"lane": str(self.lane), "s3_uri": self.s3_uri, "rate": self.rate}
        return body | {"plan_arn": self.plan_arn} if self.plan_arn else body

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Place:
        return cls(Lane.parse(body["lane"]), body["s3_uri"], body["rate"], body.get("plan_arn", ""))


@dataclass(frozen=True)
class Limits:
    """What one task may use up over its life."""

    max_runtime_s: int
    max_wait_s: int = 0
    """Spot only: running and waiting together, 0 for as long as it runs."""
    retries: int = 0
    """Attempts beyond the first that may fail through the task's own doing."""
    patience_s: int = 1800
    """How long one place may refuse capacity before the next is tried."""
    envelope: float | None = None
    """Dollars over all attempts, or None for no promise."""

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Limits:
        return cls(**{k: v for k, v in body.items() if k in cls.__dataclass_fields__})


@dataclass(frozen=True)
class Task:
    """dataset × point, addressed by its number."""

    number: int
    key: str
    dataset: str
    point: dict[str, Scalar]
    places: tuple[Place, ...]
    limits: Limits
    instances: int = 1
    after: int = 0
    """Attempts up to this number belong to earlier submissions; ours count on from here."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"places": [place.to_json() for place in self.places]}

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Task:
        """Fields a newer writer added are ignored."""
        return cls(
            number=body["number"],
            key=body["key"],
            dataset=body["dataset"],
            point=body["point"],
            places=tuple(Place.from_json(place) for place in body["places"]),
            limits=Limits.from_json(body["limits"]),
            instances=body.get("instances", 1),
            after=body.get("after", 0),
        )
