"""The results of tasks: how a task stands, and how every training ended that was started for it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from enum import Enum
from typing import Any

from orchestrator.wire.stored import VERSION, check_version, checked, restore
from orchestrator.wire.task import Lane, Place


class TaskState(str, Enum):
    """The state of a task, or of one of its attempts."""

    PENDING = "pending"  # nothing started yet
    STARTING = "starting"  # an attempt is recorded, AWS has not begun it (or refuses, for now)
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def terminal(self) -> bool:
        """The state is an ending: nothing comes after it."""
        return self in _TERMINAL

    @property
    def rank(self) -> int:
        """The state's place in the order that an attempt goes through; it never goes back."""
        return _RANK[self]


_TERMINAL = frozenset({TaskState.DONE, TaskState.FAILED, TaskState.CANCELLED})
_RANK = {
    TaskState.PENDING: 0,
    TaskState.STARTING: 1,
    TaskState.RUNNING: 2,
    TaskState.DONE: 3,
    TaskState.FAILED: 3,
    TaskState.CANCELLED: 3,
}


@dataclass(frozen=True)
class Attempt:
    """Training n of a task, as recorded before it is started.

    It holds all that is needed to find the training again, to stop it and to bill it: no plan, no manifest.
    """

    task: int
    number: int
    place: int
    """The index of its place among the task's places, from 0."""
    lane: Lane
    training: str
    request_hash: str
    max_runtime_s: int
    recorded_at: float
    rate: float
    """The most dollars that one of its instances costs in an hour."""
    site: str = ""
    """Its place's site; or, where the place has none, the one of its lane's sites that was asked, such as a zone."""
    instances: int = 1
    output: str = ""
    """The S3 prefix of its template: where a platform that forgets its trainings has written how this one ended."""
    submission: int = 1
    """The submission whose launcher recorded it."""
    others: tuple[Place, ...] = ()
    """Places that its request asks for too, in this order, if its own has no machines."""
    max_wait_s: int = 0
    """Seconds that it may run and wait together, where that is less than its task's limits say; else 0."""
    allowance_s: int | None = None
    """Its place's: seconds that its instances may be paid for beyond `max_runtime_s`."""

    def is_at(self, place: Place) -> bool:
        """Return whether it was made at this place, in whichever of the place's sites."""
        return self.lane == place.lane and place.site in ("", self.site)

    def to_json(self) -> dict[str, Any]:
        body = asdict(self) | {"lane": str(self.lane), "version": VERSION}
        del body["others"]
        if not self.max_wait_s:
            del body["max_wait_s"]
        if self.allowance_s is None:
            del body["allowance_s"]
        return body | {"others": [place.to_json() for place in self.others]} if self.others else body

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Attempt:
        """Return a stored attempt. NewerVersion if a newer `sweep` has written it."""
        check_version(body, "attempt")
        others = tuple(Place.from_json(place) for place in body.get("others", ()))
        return replace(restore(cls, {**body, "others": ()}, lane=Lane.parse), others=others)


class Cause(str, Enum):
    """Why an attempt ended as it did. The launcher chooses its next step by it."""

    NONE = ""
    TASK = "task"  # the task's own doing: counts against its retries
    TIMEOUT = "timeout"  # it used up its time
    CAPACITY = "capacity"  # AWS has no machine there: try elsewhere
    INTERRUPTED = "interrupted"  # reclaimed, or a fault of the service: not the task's own doing
    STOPPED = "stopped"  # somebody asked for it


_OFTEN_EMPTY = frozenset(
    {
        "note",
        "waits_for",
        "silent_since",
        "not_finite",
        "requested_at",
        "waited_s",
        "freed_at",
        "interruptions",
        "lost_at",
        "moved_usd",
        "site",
    }
)
"""Fields of an outcome that are stored only where they say something."""


@dataclass(frozen=True)
class Outcome:
    """The end of one attempt, or how it stands until then, as far as the platform can say now."""

    number: int
    """The attempt's number."""
    lane: Lane
    training: str
    """The training's name."""
    state: TaskState
    cause: Cause = Cause.NONE
    reason: str = ""
    """One line for people: why it ended so."""
    seconds: float = 0.0
    """Seconds that the training ran."""
    billable_s: float = 0.0
    """Seconds that each of its instances is billed for."""
    usd: float = 0.0
    """Dollars that were really paid for all its instances together, as far as the platform can say now."""
    instances: int = 1
    started_at: float | None = None
    """Seconds since the epoch; None while no instance has begun."""
    ended_at: float | None = None
    """Seconds since the epoch; None while it has not ended."""
    metrics: dict[str, float] = field(default_factory=dict)
    """The last value of each metric."""
    artifact: str = ""
    """The S3 address of what it has left behind; empty while there is nothing."""
    ended_for: str = ""
    """Why its launcher has asked for its end, such as a silent log; empty unless it has."""
    note: str = ""
    """One line for people: what it runs on that was not asked for; empty while there is nothing."""

    waits_for: str = ""
    """One line for people: what has kept it from beginning for longer than its patience, or its end from being told;
    empty while nothing has."""
    silent_since: float | None = None
    """Since when its log has had no new line, where that is long; None while it writes, or nobody can tell."""
    not_finite: tuple[str, ...] = ()
    """Metrics of which it has written NaN or infinity last: they are left out of `metrics`."""
    requested_at: float | None = None
    """When the platform was asked for it, in seconds since the epoch; None where nobody has noted that."""
    waited_s: float = 0.0
    """Seconds of its wait before it began in which the platform said that it has no machines for it."""
    freed_at: float | None = None
    """When its slot was free again, in seconds since the epoch; None until then, or if that is when it ended."""
    interruptions: int = 0
    """Times that the platform took its machines away and gave it others, without ending it."""
    lost_at: float | None = None
    """When its machines were taken away, if it waits for others, or nobody can read how they ended; else None. In
    seconds since the epoch."""
    moved_usd: float = 0.0
    """Dollars for bringing its checkpoint to where the task went on. They are in no other sum of the attempt."""
    site: str = ""
    """The part of its lane that it was asked of, or runs in, such as a zone; empty where the lane has no parts."""

    @property
    def has_machines(self) -> bool:
        """It runs right now: it has begun, has not ended, and does not wait for machines in place of lost ones."""
        return self.state is TaskState.RUNNING and self.lost_at is None

    def following(self, before: Outcome | None) -> Outcome:
        """Return the outcome with what was known before: a training that its launcher had stopped has failed.

        A platform that does not say when it was asked for it leaves that to its launcher's note.
        """
        if before is None:
            return self
        now = self if self.requested_at is not None else replace(self, requested_at=before.requested_at)
        now = replace(now, moved_usd=max(now.moved_usd, before.moved_usd), site=now.site or before.site)
        if before.state.terminal and not self.not_finite:
            # A platform does not say all that the training has reported: whoever saw its end has read that.
            now = replace(now, metrics={**before.metrics, **self.metrics}, not_finite=before.not_finite)
        if not before.ended_for:
            return now
        if self.cause is not Cause.STOPPED:
            return replace(now, ended_for=before.ended_for)
        why = before.ended_for
        return replace(now, state=TaskState.FAILED, cause=Cause.TASK, reason=why, ended_for=why)

    def to_json(self) -> dict[str, Any]:
        body = asdict(self) | {"lane": str(self.lane), "state": self.state.value, "cause": self.cause.value}
        return {name: value for name, value in body.items() if name not in _OFTEN_EMPTY or value}

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Outcome:
        not_finite = tuple(map(str, body.get("not_finite", ())))
        found = restore(cls, {**body, "not_finite": ()}, lane=Lane.parse, state=TaskState, cause=Cause)
        return replace(found, not_finite=not_finite)


@dataclass(frozen=True)
class Result:
    """The one object that a task leaves in the control bucket.

    Newer attempts and later states replace older ones.
    """

    task: int
    key: str
    state: TaskState
    reason: str = ""
    outcomes: tuple[Outcome, ...] = ()
    """The outcomes of all attempts that are known, in the order of their numbers."""
    submission: int = 1
    """The submission whose launcher left this; after a retry, what an earlier submission left no longer counts."""
    curves: dict[str, str] = field(default_factory=dict)
    """Learning curves by metric, as `wire.curve` encodes them. One curve runs through all attempts, for each goes on
    from the checkpoint of the one before."""

    @property
    def attempt(self) -> int:
        """The number of the newest attempt; 0 when there is none."""
        return self.outcomes[-1].number if self.outcomes else 0

    @property
    def proven(self) -> int:
        """The number of the newest attempt that is known to have ended; 0 when there is none."""
        return max((outcome.number for outcome in self.outcomes if outcome.state.terminal), default=0)

    @property
    def usd(self) -> float:
        """Dollars that all attempts cost together, and bringing checkpoints from one to the next."""
        return sum(outcome.usd + outcome.moved_usd for outcome in self.outcomes)

    @property
    def metrics(self) -> dict[str, float]:
        """The last values of the newest attempt's metrics."""
        return self.outcomes[-1].metrics if self.outcomes else {}

    @property
    def order(self) -> tuple[int, int, int]:
        """The result's place among the results of its task; a result replaces another only if this is not smaller."""
        return (self.submission, self.attempt, self.state.rank)

    def to_json(self) -> dict[str, Any]:
        return {
            "version": VERSION,
            "task": self.task,
            "key": self.key,
            "state": self.state.value,
            "reason": self.reason,
            "outcomes": [outcome.to_json() for outcome in self.outcomes],
            "submission": self.submission,
            **({"curves": self.curves} if self.curves else {}),
        }

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Result:
        """Return a stored result. NewerVersion if a newer `sweep` has written it."""
        check_version(body, "result")
        result = cls(
            task=body["task"],
            key=body["key"],
            state=TaskState(body["state"]),
            reason=body.get("reason", ""),
            outcomes=tuple(Outcome.from_json(outcome) for outcome in body["outcomes"]),
            submission=body.get("submission", 1),
            curves=body.get("curves", {}),
        )
        return checked(result)
