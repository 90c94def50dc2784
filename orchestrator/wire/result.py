"""How a task stands, and every training started for it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import Any

from orchestrator.wire.task import Lane


class TaskState(str, Enum):
    PENDING = "pending"  # nothing started yet
    STARTING = "starting"  # an attempt is recorded, AWS has not begun it (or refuses, for now)
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def terminal(self) -> bool:
        return self in _TERMINAL

    @property
    def rank(self) -> int:
        """Within one attempt, states only move up."""
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
    """Training n of a task, as recorded before it is started: all that is needed to start it again or to find it."""

    task: int
    number: int
    place: int
    """Which of the task's places, from 0."""
    lane: Lane
    training: str
    request_hash: str
    max_runtime_s: int
    recorded_at: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"lane": str(self.lane)}

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Attempt:
        known = {k: v for k, v in body.items() if k in cls.__dataclass_fields__}
        return cls(**known | {"lane": Lane.parse(body["lane"])})


class Cause(str, Enum):
    """Why an attempt ended as it did: this decides what comes next."""

    NONE = ""
    TASK = "task"  # its own doing: counts against its retries
    TIMEOUT = "timeout"  # it used up its time
    CAPACITY = "capacity"  # AWS has no machine there: try elsewhere
    INTERRUPTED = "interrupted"  # reclaimed, or a fault of the service: not its own doing
    STOPPED = "stopped"  # somebody asked for it


@dataclass(frozen=True)
class Outcome:
    """What one attempt came to, as far as the platform can say now."""

    number: int
    lane: Lane
    training: str
    state: TaskState
    cause: Cause = Cause.NONE
    reason: str = ""
    seconds: float = 0.0
    billable_s: float = 0.0
    usd: float = 0.0
    started_at: float | None = None
    ended_at: float | None = None
    metrics: dict[str, float] = field(default_factory=dict)
    artifact: str = ""

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"lane": str(self.lane), "state": self.state.value, "cause": self.cause.value}

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Outcome:
        known = {k: v for k, v in body.items() if k in cls.__dataclass_fields__}
        return cls(
            **known
            | {"lane": Lane.parse(body["lane"]), "state": TaskState(body["state"]), "cause": Cause(body["cause"])}
        )


@dataclass(frozen=True)
class Result:
    """The one object a task leaves in the control bucket; newer attempts and later states replace older ones."""

    task: int
    key: str
    state: TaskState
    reason: str = ""
    outcomes: tuple[Outcome, ...] = ()
    submission: int = 1
    """The one whose launcher left this: after a retry, what an earlier submission left no longer counts."""
    curves: dict[str, str] = field(default_factory=dict)
    """By metric, as `wire.curve` encodes them. Of all attempts, for one goes on from the other's checkpoint."""

    @property
    def attempt(self) -> int:
        return self.outcomes[-1].number if self.outcomes else 0

    @property
    def usd(self) -> float:
        return sum(outcome.usd for outcome in self.outcomes)

    @property
    def metrics(self) -> dict[str, float]:
        return self.outcomes[-1].metrics if self.outcomes else {}

    @property
    def order(self) -> tuple[int, int, int]:
        """A result replaces another only if this is not smaller."""
        return (self.submission, self.attempt, self.state.rank)

    def to_json(self) -> dict[str, Any]:
        return {
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
        return cls(
            task=body["task"],
            key=body["key"],
            state=TaskState(body["state"]),
            reason=body.get("reason", ""),
            outcomes=tuple(Outcome.from_json(outcome) for outcome in body["outcomes"]),
            submission=body.get("submission", 1),
            curves=body.get("curves", {}),
        )
