"""The state of a run: how many tasks are in which state, and what they have cost."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.runs.views.accrued import Meter
from orchestrator.wire.result import TaskState

if TYPE_CHECKING:
    from orchestrator.runs.anchor import Anchor
    from orchestrator.runs.ledger import Ledger


@dataclass(frozen=True)
class Status:
    run: str
    created_at: float
    tasks: int
    counts: dict[TaskState, int]
    """Every state, adding up to `tasks`."""
    regions: dict[str, dict[TaskState, int]]
    """Counts by Region: the one that a task is in, or is planned to go to."""
    usd: float
    """Dollars billed. What still runs is billed when it has ended."""
    cancelled: bool
    running_usd: float = 0.0
    """About what the running trainings have cost so far, by the clock. Not in `usd`."""

    @property
    def finished(self) -> bool:
        return sum(count for state, count in self.counts.items() if state.terminal) == self.tasks

    @property
    def state(self) -> str:
        counts = self.counts
        if not self.finished:
            return "pending" if counts[TaskState.PENDING] == self.tasks else "running"
        if counts[TaskState.DONE] == self.tasks:
            return "done"
        if counts[TaskState.CANCELLED] and not counts[TaskState.FAILED]:
            return "cancelled"
        return "partly_failed" if counts[TaskState.DONE] else "failed"


@dataclass(frozen=True)
class RunRow:
    name: str
    created_at: float
    tasks: int
    state: str
    usd: float


def run_status(anchor: Anchor, ledger: Ledger, now: float) -> Status:
    """Return how a run stands, from the database and the time alone."""
    plan = anchor.plan
    counts = dict.fromkeys(TaskState, 0)
    regions: dict[str, dict[TaskState, int]] = {}
    started = 0
    for (region, state), count in ledger.counts(anchor.name).items():
        if state is not TaskState.PENDING:
            counts[state] += count
            started += count
            if region:
                _tally(regions, region)[state] += count
    counts[TaskState.PENDING] = plan.tasks - started
    for region, count in _waiting(anchor, ledger).items():
        _tally(regions, region)[TaskState.PENDING] += count
    return Status(
        run=anchor.name,
        created_at=anchor.created_at,
        tasks=plan.tasks,
        counts=counts,
        regions=dict(sorted(regions.items())),
        usd=ledger.usd(anchor.name),
        cancelled=ledger.cancelled(anchor.name),
        running_usd=Meter(plan, now).usd(ledger.known(anchor.name, state=TaskState.RUNNING)),
    )


def _waiting(anchor: Anchor, ledger: Ledger) -> Counter[str]:
    waiting: Counter[str] = Counter()
    for share in anchor.plan.shares:
        left = share.count - ledger.seen(anchor.name, share.first, share.first + share.count)
        if left:
            waiting[share.places[0].lane.region] += left
    return waiting


def _tally(regions: dict[str, dict[TaskState, int]], region: str) -> dict[TaskState, int]:
    return regions.setdefault(region, dict.fromkeys(TaskState, 0))
