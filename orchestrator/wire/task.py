"""One training, and where it may run."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from enum import Enum
from itertools import takewhile
from typing import Any

from orchestrator.wire.stored import VERSION, check_version, checked, restore

Scalar = str | int | float | bool

WITH_IMAGE = 2
"""The version of a task with an image of its own: older launchers would train it in another one."""
KEPT_BACK_S = 180
"""Seconds that are kept back for each attempt besides its own time, where its platform does not say how many: machines
are billed from before its clock starts until after it was stopped. The planner adds them to each envelope, and the
launcher lets no attempt run into them."""
SHORTEST_S = 60
"""Seconds of a training that is just worth starting: no envelope is for fewer, and no launcher starts one for fewer."""


class Purchase(str, Enum):  # a docstring would stand in the schema of the sweep file
    SPOT = "spot"
    ON_DEMAND = "on_demand"
    COMMITTED = "committed"  # paid already, by a training plan or a reservation


@dataclass(frozen=True, order=True)
class Lane:
    """What can be bought. A lane is only a key: its prices and its slots are facts about it."""

    platform: str
    region: str
    instance_type: str
    purchase: Purchase

    def __str__(self) -> str:
        return f"{self.platform}/{self.region}/{self.instance_type}/{self.purchase.value}"

    @classmethod
    def parse(cls, text: str) -> Lane:
        """Return the lane that `str` has written. Raise ValueError when the text is no lane."""
        platform, region, rest = text.split("/", 2)
        instance_type, purchase = rest.rsplit("/", 1)  # only the type, which is the platform's own word, may have a /
        return cls(platform, region, instance_type, Purchase(purchase))


@dataclass(frozen=True, order=True)
class Quota:
    """What a platform counts in a Region, in units: instances of a type, vCPUs of a family, GPUs of a cluster.

    A lane is what has a price; a quota is what there is only so much of. A place may use several quotas.
    """

    platform: str
    region: str
    name: str
    """The platform's own name for it, such as `ml.g5.xlarge/spot`, `*/spot` or `L-3819A6DF`."""

    def __str__(self) -> str:
        return f"{self.name} in {self.region}"


@dataclass(frozen=True)
class Expected:
    """What a task is expected to take at a place. Who chooses where it goes on counts with it; no limit rests on it."""

    hours: float
    """Hours of the longest task of its kind there, if it goes through at once."""
    usd_per_hour: float
    """Dollars of an hour of the training."""
    interruptions_per_hour: float = 0.0

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Expected:
        return restore(cls, body)


@dataclass(frozen=True)
class Place:
    """A lane with the data's address in its Region: where a task can really run, and on how many instances."""

    lane: Lane
    s3_uri: str
    rate: float
    """The most dollars that one instance costs in an hour. It is 0 where the hours are paid already."""
    site: str = ""
    """The part of the lane: a zone, a cluster, a reservation, a training plan's ARN. Only the platform reads it."""
    instances: int = 1
    joined: bool = False
    """One request asks for it and for the place before it: whichever has machines first is taken."""
    expected: Expected | None = None
    """What the task is expected to take there, where the launcher is to weigh places against each other."""
    leave_usd_per_gb: float | None = None
    """Dollars for a GB of checkpoints that is brought from there to another Region of the task: the dearest of them
    counts. None where none are kept, or nobody knows."""
    allowance_s: int | None = None
    """Seconds that an instance may be paid for there beyond the training's longest run: its platform ends it then,
    whatever hangs. None where the platform does not say, or an older plan."""

    @property
    def hourly_usd(self) -> float:
        """The most dollars that an hour of a training costs there."""
        return self.rate * self.instances

    @property
    def kept_back_s(self) -> int:
        """The seconds that are kept back for an attempt there, besides its own time."""
        return KEPT_BACK_S if self.allowance_s is None else self.allowance_s

    def to_json(self) -> dict[str, Any]:
        body: dict[str, Any] = {"lane": str(self.lane), "s3_uri": self.s3_uri, "rate": self.rate}
        if self.site:
            body["site"] = self.site
        body["instances"] = self.instances
        if self.expected:
            body["expected"] = asdict(self.expected)
        if self.leave_usd_per_gb is not None:
            body["leave_usd_per_gb"] = self.leave_usd_per_gb
        if self.allowance_s is not None:
            body["allowance_s"] = self.allowance_s
        return body | {"joined": True} if self.joined else body

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Place:
        expected = Expected.from_json(body["expected"]) if "expected" in body else None
        return replace(restore(cls, {**body, "expected": None}, lane=Lane.parse), expected=expected)


@dataclass(frozen=True)
class Limits:
    """What one task may use up over its whole life."""

    max_runtime_s: int
    max_wait_s: int = 0
    """Seconds that a spot training may run and wait together; 0 means no longer than it may run."""
    retries: int = 0
    """Attempts after the first that may fail through the task's own doing."""
    patience_s: int = 1800
    """Seconds for which one place may refuse capacity before the next is tried."""
    envelope: float | None = None
    """Dollars that all attempts together may cost, or None for no promise."""
    stall_s: int = 0
    """Seconds of silence in its log after which a training is ended; 0 means never."""
    end_on_nan: str = ""
    """The metric whose value, if it is no finite number, ends a training; empty means none."""
    saved_every_s: int = 0
    """Seconds between two checkpoints, where the launcher is to keep a deadline by them; else 0."""
    end_by: float | None = None
    """The deadline, in seconds since the epoch; None where the launcher is to keep none."""

    def to_json(self) -> dict[str, Any]:
        optional = ("stall_s", "end_on_nan", "saved_every_s", "end_by")
        unsaid = [name for name in optional if not getattr(self, name)]
        return {name: value for name, value in asdict(self).items() if name not in unsaid}

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Limits:
        return restore(cls, body)


@dataclass(frozen=True)
class Task:
    """One training: a dataset and a point of the space, addressed by a number."""

    number: int
    key: str
    dataset: str
    point: dict[str, Scalar]
    places: tuple[Place, ...]
    limits: Limits
    after: int = 0
    """The number of the last attempt of earlier submissions; this submission counts on from there."""
    image: str = ""
    """The image that its line of a manifest asks for, as it is written there; empty where all tasks have one."""

    def together(self, place: Place) -> tuple[Place, ...]:
        """Return the places that one request asks for: this one, and those after it that are joined to it."""
        after = self.places[self.places.index(place) + 1 :] if place in self.places else ()
        return (place, *takewhile(lambda other: other.joined, after))

    def to_json(self) -> dict[str, Any]:
        written = {"places": [place.to_json() for place in self.places], "limits": self.limits.to_json()}
        body = asdict(self) | written | {"version": WITH_IMAGE if self.image else VERSION}
        return {name: value for name, value in body.items() if name != "image" or value}

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Task:
        """Return the task that a manifest's JSON describes. NewerVersion if a newer `sweep` has written it."""
        check_version(body, "manifest line", newest=WITH_IMAGE)
        task = cls(
            number=body["number"],
            key=body["key"],
            dataset=body["dataset"],
            point=body["point"],
            places=tuple(Place.from_json(place) for place in body["places"]),
            limits=Limits.from_json(body["limits"]),
            after=body.get("after", 0),
            image=body.get("image", ""),
        )
        if not task.places:
            raise ValueError("a task without a place")
        return checked(task)
