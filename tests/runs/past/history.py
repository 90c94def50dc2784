"""A ledger with attempts on lanes, hour by hour."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

from orchestrator.plan.dataset import Dataset
from orchestrator.plan.plan import Plan, Share
from orchestrator.runs.cloud import Account
from orchestrator.runs.known.rows import Known
from orchestrator.runs.written.anchor import Anchor
from orchestrator.wire.result import Cause, Outcome, Result, TaskState
from orchestrator.wire.task import Lane, Limits, Place, Purchase
from tests.fixtures.sweeps import make_sweep

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.runs.known.ledger import Ledger

SPOT = Lane("sagemaker", "us-east-1", "ml.g5.xlarge", Purchase.SPOT)
ELSEWHERE = Lane("sagemaker", "eu-west-1", "ml.g5.xlarge", Purchase.SPOT)
NOW = 1_000_000 * 3600.0
HOUR = 3600.0
ACCOUNT = Account("us-east-1", "control", "data-{region}", "sweep", "sweep", "role", "me", 30.0)


def trained(hours_ago: float, lane: Lane = SPOT, number: int = 1, **changes: Any) -> Outcome:
    """Return a training that was asked for so long ago, began after three minutes, and trained for half an hour."""
    asked = NOW - hours_ago * HOUR
    body: dict[str, Any] = {
        "seconds": 1800.0,
        "requested_at": asked,
        "started_at": asked + 180,
        "ended_at": asked + 1980,
        "usd": 0.2,
    }
    return Outcome(number, lane, "t", TaskState.DONE, **body | changes)


def refused(hours_ago: float, lane: Lane = SPOT, number: int = 1, after_s: float = 1.0) -> Outcome:
    """Return an attempt that its lane had no machines for."""
    asked = NOW - hours_ago * HOUR
    return Outcome(number, lane, "t", TaskState.FAILED, Cause.CAPACITY, requested_at=asked, ended_at=asked + after_s)


@dataclass
class Past:
    """A ledger, and tasks that have ended in it."""

    ledger: Ledger
    _numbers: Iterator[int] = field(default_factory=count)

    def ended(self, *tasks: list[Outcome], workload: str = "nightly") -> None:
        """Note a run whose tasks had these attempts."""
        name = f"run-{next(self._numbers)}"
        sweep = make_sweep(name=workload, space={"seed": list(range(len(tasks)))}, runtime=1.0)
        share = Share(0, len(tasks), 0, (Place(SPOT, "s3://data/a/", 1.0),), 1.0, 1.0, Limits(3600))
        plan = Plan(sweep, "market", (Dataset("alps@1", 10**9),), (share,))
        self.ledger.remember(Anchor(name, plan, "code", "me", 1.0), ACCOUNT)
        results = (
            Result(task, "key", outcomes[-1].state, outcomes=tuple(outcomes)) for task, outcomes in enumerate(tasks)
        )
        self.ledger.save(name, (Known(f'"{one.task}"', one, one.state) for one in results))
