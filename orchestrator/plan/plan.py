"""The plan: which ranges of tasks go to which places. Small, immutable, named by its content's hash."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchestrator.plan.copy import Copy
from orchestrator.plan.dataset import Dataset, lines_of
from orchestrator.plan.facts import LanePrice, Lot, QuotaFact
from orchestrator.wire.names import digest
from orchestrator.wire.ranges import Ranges
from orchestrator.wire.stored import VERSION, check_version, checked, damage_named, restore
from orchestrator.wire.task import WITH_IMAGE, Limits, Place, Task

if TYPE_CHECKING:
    from orchestrator.spec.sweep import Sweep
    from orchestrator.wire.manifest import ClassicLine
    from orchestrator.wire.task import Scalar


@dataclass(frozen=True)
class Share:
    """Tasks first..first+count-1, of one cohort, sent to one ranked list of places."""

    first: int
    count: int
    dataset: int
    places: tuple[Place, ...]
    hours: float
    """Hours that one task takes at its first place, on average."""
    usd: float
    """Dollars that one task is expected to cost at its first place."""
    limits: Limits
    why: str = ""
    finish: float | None = None
    """Hours from the start until its last task ends, if nothing is refused or fails, and longer ones start first."""
    longest: float | None = None
    """Hours that its longest task takes at its first place. Deadlines and envelopes go by them."""

    @property
    def instances(self) -> int:
        """The instances of one task at its first place."""
        return self.places[0].instances

    @property
    def tasks(self) -> Ranges:
        return Ranges(((self.first, self.first + self.count),))

    def cut(self, first: int, stop: int) -> Share:
        """Return the share with the tasks first..stop-1 alone."""
        return replace(self, first=first, count=stop - first)

    def to_json(self) -> dict[str, Any]:
        written = {"places": [place.to_json() for place in self.places], "limits": self.limits.to_json()}
        return asdict(self) | written

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Share:
        """Return a stored share. Fields that an older writer did not know keep their defaults."""
        places = tuple(Place.from_json(place) for place in body["places"])
        return restore(cls, body, places=lambda _: places, limits=Limits.from_json)


@dataclass(frozen=True)
class Plan:
    """All that was decided for a sweep: its shares of tasks with their places, its copies, and the facts behind it."""

    sweep: Sweep
    market: str
    """Hash of the Market that the plan was made from."""
    datasets: tuple[Dataset, ...]
    shares: tuple[Share, ...]
    """All tasks, in their order and without gaps."""
    notes: tuple[str, ...] = ()
    copies: tuple[Copy, ...] = ()
    lots: tuple[Lot, ...] = ()
    """Every lane that a task may come to run on, as its first choice or as a fallback."""
    quotas: tuple[QuotaFact, ...] = ()
    """Every quota that was known. Plans of older make know those of the lanes that were on offer."""
    bound: float = 0.0
    """Dollars. It is proven that no plan for this sweep and market costs less."""
    in_any_order: bool | None = None
    """True if all tasks end within the deadline or horizon in whatever order those of a lane start: this is proven.
    False if they do so longest first, as they are sent to Batch, which promises no order. None in plans of older make.
    """
    prices: tuple[LanePrice, ...] = ()
    """Every lane that was on offer. Plans of older make know none."""
    learned: dict[str, Any] | None = None
    """What finished tasks said of runtimes, as LearnedHours writes it; None if they said nothing."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return the sweep of a plan that was read without it: what shows how a run stands needs none of it.

            Damaged if it cannot be understood.
            """
            if name != "sweep" or "_body" not in self.__dict__:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            with damage_named(f"the sweep of plan {self.id}"):
                self.__dict__["sweep"] = _read_sweep(self._body)
            return self.__dict__["sweep"]

    @cached_property
    def tasks(self) -> int:
        """The number of tasks."""
        return sum(share.count for share in self.shares)

    @property
    def usd(self) -> float:
        """Dollars that all tasks and copies together are expected to cost."""
        return fsum([*(share.usd * share.count for share in self.shares), *(copy.usd for copy in self.copies)])

    @property
    def gap(self) -> float:
        """The part by which the plan is dearer than its bound: 0.001 is a tenth of a percent."""
        return max(self.usd / self.bound - 1, 0.0) if self.bound > 0 else 0.0

    @property
    def worst_usd(self) -> float:
        """The most that the plan can cost: its envelopes; or every try until its timeout, with all that may be billed
        besides, where that is dearest."""
        tasks = fsum(share.count * _worst_usd(share) for share in self.shares)
        return tasks + fsum(copy.usd for copy in self.copies)

    @property
    def finish(self) -> float:
        """Hours from the start until the last task ends, if nothing is refused or fails."""
        return max((share.finish or share.hours for share in self.shares), default=0.0)

    @property
    def hours(self) -> float:
        """Machine hours: a training of four instances counts four times."""
        return fsum(share.hours * share.count * share.instances for share in self.shares)

    @property
    def regions(self) -> tuple[str, ...]:
        """Every Region that a task may come to run in, as its first choice or as a fallback."""
        return tuple(sorted({region for _, region in self.sites}))

    @property
    def sites(self) -> tuple[tuple[str, str], ...]:
        """Every (platform, Region) that a task may come to run in, as its first choice or as a fallback."""
        lanes = {place.lane for share in self.shares for place in share.places}
        return tuple(sorted({(lane.platform, lane.region) for lane in lanes}))

    @property
    def classic_lines(self) -> list[ClassicLine]:
        """The lines of the classic JOBARRAY that the plan was made from."""
        return lines_of((self.datasets[share.dataset], share.places) for share in self.shares)

    @property
    def source_folder(self) -> Path | None:
        """The folder of the training's code, as far as this machine has it; None if a training has no code of ours."""
        return self.sweep.source_folder

    @cached_property
    def id(self) -> str:
        """The hash of the plan's content, which is also its name. How the content is written down is no part of it."""
        return digest({name: value for name, value in self._body.items() if name != "version"})

    def point(self, number: int) -> dict[str, Scalar]:
        """Return the parameters of task `number`: its line's, if it has one, and those of the space."""
        of_line = self.datasets[self.share(number).dataset].point
        return {**of_line, **self.sweep.points.point(number % len(self.sweep.points))}

    def task(self, number: int, *, code: str, after: int = 0) -> Task:
        """Return task `number`. `code` is the digest of the packed sources, `after` the task's attempts so far."""
        share = self.share(number)
        point, image = self.point(number), self.datasets[share.dataset].image
        named = {"image": image} if image else {}
        return Task(
            number=number,
            key=digest({"work": self._work(share.dataset, code), "point": point, **named}),
            dataset=self.datasets[share.dataset].name,
            point=point,
            places=share.places,
            limits=share.limits,
            after=after,
            image=image,
        )

    @property
    def images(self) -> tuple[str, ...]:
        """The images that lines of a classic JOBARRAY ask for, beside that of the sweep."""
        return tuple(sorted({dataset.image for dataset in self.datasets if dataset.image}))

    def _work(self, dataset: int, code: str) -> str:
        if (dataset, code) not in self._works:
            from orchestrator.plan.work import digest_work

            self._works[dataset, code] = digest_work(self.sweep, self.datasets[dataset].name, code)
        return self._works[dataset, code]

    @cached_property
    def _works(self) -> dict[tuple[int, str], str]:
        return {}

    def share(self, number: int) -> Share:
        """Return the share that task `number` belongs to. IndexError if the plan has no such task."""
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
            "version": WITH_IMAGE if self.images else VERSION,
            "sweep": self.sweep.model_dump(mode="json"),
            "market": self.market,
            "datasets": [dataset.to_json() for dataset in self.datasets],
            "shares": [share.to_json() for share in self.shares],
            "notes": list(self.notes),
            "copies": [asdict(copy) for copy in self.copies],
            "lots": [lot.to_json() for lot in self.lots],
            "quotas": [fact.to_json() for fact in self.quotas],
            "bound": self.bound,
            "in_any_order": self.in_any_order,
            "prices": [price.to_json() for price in self.prices],
            "learned": self.learned,
        }

    @classmethod
    def from_json(cls, body: dict[str, Any], folder: Path = Path(), *, sweep_later: bool = False) -> Plan:
        """Return a stored plan. NewerVersion if a newer `sweep` has written it.

        Keys that are not known here are ignored, but stay in the plan's content and id. With `sweep_later`, its sweep
        is understood when it is first asked for.
        """
        check_version(body, "plan", newest=WITH_IMAGE)
        sweep: Any = None if sweep_later else _read_sweep(body, folder)
        plan = cls(
            sweep=sweep,
            market=body["market"],
            datasets=tuple(restore(Dataset, dataset) for dataset in body["datasets"]),
            shares=tuple(Share.from_json(share) for share in body["shares"]),
            notes=tuple(body.get("notes", ())),
            copies=tuple(restore(Copy, copy) for copy in body.get("copies", ())),
            lots=tuple(Lot.from_json(lot) for lot in body.get("lots", ())),
            quotas=tuple(QuotaFact.from_json(fact) for fact in body.get("quotas", ())),
            bound=body.get("bound", 0.0),
            in_any_order=body.get("in_any_order"),
            prices=tuple(LanePrice.from_json(price) for price in body.get("prices", ())),
            learned=body.get("learned"),
        )
        plan.__dict__["_body"] = body
        if sweep_later:
            del plan.__dict__["sweep"]
        checked(plan)
        _check_shares(plan)
        return plan


def _read_sweep(body: dict[str, Any], folder: Path = Path()) -> Sweep:
    from orchestrator.spec.sweep import Sweep

    return Sweep.model_validate(body["sweep"], extra="ignore").model_copy(update={"folder": folder})


def _check_shares(plan: Plan) -> None:
    """Raise ValueError unless the shares are tasks without gaps, each with a dataset and places."""
    expected = 0
    for share in plan.shares:
        if share.first != expected or share.count < 1 or share.hours <= 0:
            raise ValueError(f"the share from task {share.first} cannot be the one from task {expected}")
        if share.dataset >= len(plan.datasets) or not share.places:
            raise ValueError(f"the share from task {share.first} has no dataset or no place")
        if any(place.instances < 1 for place in share.places) or share.limits.max_runtime_s < 1:
            raise ValueError(f"the share from task {share.first} has a place without instances, or no time")
        expected += share.count
    if not expected:
        raise ValueError("a plan without tasks")
    if any(copy.dataset >= len(plan.datasets) for copy in plan.copies):
        raise ValueError("a copy of no dataset")


def _worst_usd(share: Share) -> float:
    """Return the most that one task of the share can cost."""
    limits = share.limits
    if limits.envelope is not None:
        return limits.envelope
    dearest = max(place.hourly_usd * (limits.max_runtime_s + place.kept_back_s) for place in share.places)
    return dearest / 3600 * (1 + limits.retries)
