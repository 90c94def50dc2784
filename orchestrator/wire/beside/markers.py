"""What may still be started of a run: the markers of cancel and pause, its limit, and the fence: whose each task is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from orchestrator.wire.ranges import Ranges
from orchestrator.wire.stored import VERSION, check_version, checked, restore

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.wire.task import Lane


@dataclass(frozen=True)
class CancelMarker:
    """Submissions 1..through are to stop. A retry after a cancel is a later submission, and may run."""

    through: int = 0
    ended: int = 0
    """Nothing runs any more of submissions 1..ended: their tasks that have left no ending are cancelled."""

    def to_json(self) -> dict[str, Any]:
        body: dict[str, Any] = {"version": VERSION, "through": self.through}
        return body | {"ended": self.ended} if self.ended else body

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> CancelMarker:
        """Return a stored marker. NewerVersion if a newer `sweep` has written it."""
        check_version(body, "cancel marker")
        return checked(cls(body["through"], body.get("ended", 0)))


PAUSED = "paused: "
"""Begins the reason of a pause, and that of each task which it has ended before it began."""


@dataclass(frozen=True)
class PauseMarker:
    """Names submissions of which no task is begun any more. What has begun goes on, and so does a later submission."""

    reasons: dict[int, str] = field(default_factory=dict)
    """Why, in words, by the number of the submission."""

    def paused(self, submission: int, reason: str) -> PauseMarker:
        """Return the marker once this submission is paused. The first reason stays."""
        return PauseMarker(dict(sorted({submission: reason, **self.reasons}.items())))

    def to_json(self) -> dict[str, Any]:
        return {"version": VERSION, "reasons": {str(number): reason for number, reason in self.reasons.items()}}

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> PauseMarker:
        """Return a stored marker. NewerVersion if a newer `sweep` has written it."""
        check_version(body, "pause marker")
        reasons = {_number(number): reason for number, reason in body["reasons"].items()}
        if not all(type(reason) is str for reason in reasons.values()):
            raise ValueError("a reason is no text")
        return cls(reasons)


@dataclass(frozen=True)
class Limit:
    """Says how many instances a run may hold at once, beside the slots of its plan. What has begun goes on."""

    slots: dict[str, int] = field(default_factory=dict)
    """Instances by what is limited: a Region, a lane, or everything, whose name is empty. Empty where nothing is."""
    counted: bool = True
    """What ran when the limit was set is written down. Until then, nothing begins."""
    set_at: float = 0.0

    def to_json(self) -> dict[str, Any]:
        return {"version": VERSION, "slots": self.slots, "counted": self.counted, "set_at": self.set_at}

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Limit:
        """Return a stored limit. NewerVersion if a newer `sweep` has written it."""
        check_version(body, "limit")
        return restore(cls, body)

    def allows(self, held: Iterable[tuple[Lane, int]]) -> bool:
        """Return whether so many instances of these lanes may be held at once."""
        taken = list(held)
        return all(
            sum(instances for lane, instances in taken if covers(what, lane)) <= slots
            for what, slots in self.slots.items()
        )


def covers(what: str, lane: Lane) -> bool:
    """Return whether a limit of this name counts a lane: its own, its Region's, or that of everything."""
    return what in ("", lane.region, str(lane))


@dataclass(frozen=True)
class Canary:
    """A task that goes ahead of its lane."""

    task: int
    until: float
    """When it must have ended, in seconds since the epoch. Then its launcher has died, and another task goes ahead."""
    submission: int = 1
    """The submission in which it goes ahead. What an earlier one has left of the task is not its end."""

    def to_json(self) -> dict[str, Any]:
        return {"version": VERSION, "task": self.task, "until": self.until, "submission": self.submission}

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Canary:
        """Return a stored canary. NewerVersion if a newer `sweep` has written it."""
        check_version(body, "canary")
        return restore(cls, body)


@dataclass(frozen=True)
class Fence:
    """Says which submission each task belongs to: the newest that names it.

    Older submissions may record no more attempts of it. What they have recorded, its owner takes over.
    """

    owners: tuple[tuple[int, Ranges], ...] = ()
    """Submissions after the first, in order, with the tasks that belong to them. All others belong to the first."""

    def owner(self, task: int) -> int:
        """Return the number of the submission that a task belongs to."""
        return next((submission for submission, tasks in reversed(self.owners) if task in tasks), 1)

    def moved(self, submission: int, tasks: Ranges) -> Fence:
        """Return the fence once these tasks belong to this submission, unless a newer one has them already."""
        owners = dict(self.owners)
        owners[submission] = Ranges.union([owners.get(submission, Ranges()), tasks])
        return Fence(tuple(sorted(owners.items())))

    def to_json(self) -> dict[str, Any]:
        return {"version": VERSION, "owners": {str(submission): str(tasks) for submission, tasks in self.owners}}

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Fence:
        """Return a stored fence. NewerVersion if a newer `sweep` has written it."""
        check_version(body, "fence")
        owners = ((_number(submission), Ranges.parse(tasks)) for submission, tasks in body["owners"].items())
        return cls(tuple(sorted(owners)))


def _number(key: str) -> int:
    """Return the number of a submission that a key says. ValueError if it says none."""
    number = int(key)
    if number < 1 or str(number) != key:
        raise ValueError(f"{key[:40]!r} numbers no submission")
    return number
