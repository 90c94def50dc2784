"""The plan: which ranges of tasks go to which places. Small, immutable, named by its content's hash."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import asdict, dataclass
from functools import cached_property
from math import fsum
from pathlib import Path
from typing import Any

from orchestrator.spec.sweep import Sweep
from orchestrator.wire.names import digest
from orchestrator.wire.task import Lane, Limits, Place, Task


@dataclass(frozen=True)
class Dataset:
    name: str
    bytes: int


@dataclass(frozen=True)
class Share:
    """Tasks first..first+count-1, of one cohort, sent to one ranked list of places."""

    first: int
    count: int
    dataset: int
    places: tuple[Place, ...]
    hours: float
    """Of one task at its first place."""
    usd: float
    """Expected, of one task at its first place."""
    limits: Limits
    why: str = ""
    finish: float | None = None
    """Hours after the start by when its last task ends, if nothing is refused or fails."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"places": [place.to_json() for place in self.places]}

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Share:
        return cls(
            first=body["first"],
            count=body["count"],
            dataset=body["dataset"],
            places=tuple(Place.from_json(place) for place in body["places"]),
            hours=body["hours"],
            usd=body["usd"],
            limits=Limits.from_json(body["limits"]),
            why=body.get("why", ""),
            finish=body.get("finish"),
        )


@dataclass(frozen=True)
class Copy:
    """A dataset to be brought to another Region before its tasks there begin."""

    dataset: int
    from_region: str
    to_region: str
    from_uri: str
    to_uri: str
    """Names no bucket: each Region's own is filled in by who makes the copy. See copied_uri."""
    usd: float
    hours: float


def copied_uri(dataset: str) -> str:
    """Where a copy lies, in whatever bucket the Region has."""
    return f"s3://{{bucket}}/datasets/{dataset}/"


@dataclass(frozen=True)
class Lot:
    """A lane as it was when the plan was made: what it cost, and how much of it there was."""

    lane: Lane
    usd_per_hour: float
    slots: int | None
    """Instances at once, the whole quota; None where no quota was known."""
    held: int = 0
    """Of these slots, by other runs."""
    arn: str | None = None
    """The training plan that a committed lane belongs to."""
    used: int | None = None
    """Instances that this plan has there at once, at most, if all tasks run at their first choice, where a total of
    several lanes leaves it fewer than its own slots; else None."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"lane": str(self.lane)}

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Lot:
        """What an older writer did not know yet stays as it is unless said."""
        known = {name: body[name] for name in cls.__dataclass_fields__ if name in body}
        return cls(**known | {"lane": Lane.parse(body["lane"])})


@dataclass(frozen=True)
class Plan:
    sweep: Sweep
    market: str
    """Hash of the Market it was made from."""
    datasets: tuple[Dataset, ...]
    shares: tuple[Share, ...]
    """In the order of their tasks, without gaps."""
    notes: tuple[str, ...] = ()
    copies: tuple[Copy, ...] = ()
    lots: tuple[Lot, ...] = ()
    """Every lane a task may come to run on, first choice or fallback."""
    bound: float = 0.0
    """No plan for this sweep and market costs less: proven."""

    @cached_property
    def tasks(self) -> int:
        """How many."""
        return sum(share.count for share in self.shares)

    @property
    def usd(self) -> float:
        """Expected, all tasks and copies together."""
        return fsum([*(share.usd * share.count for share in self.shares), *(copy.usd for copy in self.copies)])

    @property
    def gap(self) -> float:
        """How much dearer than the bound it is: 0.001 is a tenth of a percent."""
        return max(self.usd / self.bound - 1, 0.0) if self.bound > 0 else 0.0

    @property
    def worst_usd(self) -> float:
        """What it can cost at most: the envelopes, or every attempt until its timeout at its dearest place."""
        most = fsum(share.count * _most(share, self.sweep.train.instances) for share in self.shares)
        return most + fsum(copy.usd for copy in self.copies)

    @property
    def finish(self) -> float:
        """Hours after the start by when the last task ends, if nothing is refused or fails."""
        return max((share.finish or share.hours for share in self.shares), default=0.0)

    @property
    def hours(self) -> float:
        """Of machine time: a training of four instances counts four times."""
        return fsum(share.hours * share.count for share in self.shares) * self.sweep.train.instances

    @property
    def regions(self) -> tuple[str, ...]:
        """Every Region a task may come to run in, first choice or fallback."""
        return tuple(sorted({region for _, region in self.sites}))

    @property
    def sites(self) -> tuple[tuple[str, str], ...]:
        """(platform, Region) of every place, first choice or fallback."""
        lanes = {place.lane for share in self.shares for place in share.places}
        return tuple(sorted({(lane.platform, lane.region) for lane in lanes}))

    @cached_property
    def id(self) -> str:
        return digest(self._body)

    def task(self, number: int, *, code: str, after: int = 0) -> Task:
        """Task `number`. `code` is the digest of the packed sources, `after` its attempts in earlier submissions."""
        share = self.share(number)
        point = self.sweep.points.point(number % len(self.sweep.points))
        return Task(
            number=number,
            key=digest({"work": self._work(share.dataset, code), "point": point}),
            dataset=self.datasets[share.dataset].name,
            point=point,
            places=share.places,
            limits=share.limits,
            instances=self.sweep.train.instances,
            after=after,
        )

    def _work(self, dataset: int, code: str) -> str:
        """Digest of what a task trains with, but for its point: data, code and image, not how it runs."""
        if (dataset, code) not in self._works:
            train = self.sweep.train
            image = train.image or (train.framework and train.framework.model_dump())
            self._works[dataset, code] = digest(
                [self.datasets[dataset].name, code, train.entry_point, train.hyperparameters, image]
            )
        return self._works[dataset, code]

    @cached_property
    def _works(self) -> dict[tuple[int, str], str]:
        return {}

    def share(self, number: int) -> Share:
        """The share that task `number` belongs to."""
        if not 0 <= number < self.tasks:
            raise IndexError(f"task {number} of {self.tasks}")
        return self.shares[bisect_right(self._firsts, number) - 1]

    @cached_property
    def _firsts(self) -> list[int]:
        return [share.first for share in self.shares]

    def to_json(self) -> dict[str, Any]:
        return self._body

    @cached_property
    def _body(self) -> dict[str, Any]:
        return {
            "sweep": self.sweep.model_dump(mode="json"),
            "market": self.market,
            "datasets": [asdict(dataset) for dataset in self.datasets],
            "shares": [share.to_json() for share in self.shares],
            "notes": list(self.notes),
            "copies": [asdict(copy) for copy in self.copies],
            "lots": [lot.to_json() for lot in self.lots],
            "bound": self.bound,
        }

    @classmethod
    def from_json(cls, body: dict[str, Any], folder: Path = Path()) -> Plan:
        """What a newer writer added is not understood, but stays part of the plan's content and of its id."""
        sweep = Sweep.model_validate(body["sweep"], extra="ignore")
        plan = cls(
            sweep=sweep.model_copy(update={"folder": folder}),
            market=body["market"],
            datasets=tuple(Dataset(dataset["name"], dataset["bytes"]) for dataset in body["datasets"]),
            shares=tuple(Share.from_json(share) for share in body["shares"]),
            notes=tuple(body.get("notes", ())),
            copies=tuple(_copy(copy) for copy in body.get("copies", ())),
            lots=tuple(Lot.from_json(lot) for lot in body.get("lots", ())),
            bound=body.get("bound", 0.0),
        )
        plan.__dict__["_body"] = body
        return plan


def _copy(body: dict[str, Any]) -> Copy:
    return Copy(**{name: body[name] for name in Copy.__dataclass_fields__})


def _most(share: Share, instances: int) -> float:
    limits = share.limits
    if limits.envelope is not None:
        return limits.envelope
    rate = max(place.rate for place in share.places) * instances
    return rate * limits.max_runtime_s / 3600 * (1 + limits.retries)
