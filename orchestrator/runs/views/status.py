"""The state of a run: how many tasks are in which state, and what they have cost."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from orchestrator.runs.views.accrued import Meter
from orchestrator.runs.views.outlook import Seen, expect
from orchestrator.runs.written.plan_now import planned_now
from orchestrator.wire.result import TaskState

if TYPE_CHECKING:
    from orchestrator.runs.known.ledger import Ledger
    from orchestrator.runs.views.outlook import Outlook
    from orchestrator.runs.written.anchor import Anchor


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
    outlook: Outlook | None = None
    """What is expected of it; None once it has ended."""
    paused: str = ""
    """Why no more of its tasks are begun; empty if they are."""
    moving: int = 0
    """Running tasks whose checkpoint is brought to where they go on: nothing trains meanwhile."""
    waiting: int = 0
    """Running tasks whose machines were taken away, and that wait for others."""
    limit: dict[str, int] = field(default_factory=dict)
    """Instances that it may hold at once, by Region or lane, or in all under the empty name; empty if unlimited."""

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
        if self.paused:
            return "paused"
        if counts[TaskState.CANCELLED] and not counts[TaskState.FAILED]:
            return "cancelled"
        return "partly_failed" if counts[TaskState.DONE] else "failed"


@dataclass(frozen=True)
class RunRow:
    name: str
    created_at: float
    tasks: int
    state: str
    usd: float | None
    """Dollars billed; None of a run at which nobody here has ever looked."""


def run_status(anchor: Anchor, ledger: Ledger, now: float) -> Status:
    """Return how a run stands, from the database and the time alone."""
    anchor = planned_now(anchor, ledger.submissions(anchor.name))
    plan = anchor.plan
    counts = dict.fromkeys(TaskState, 0)
    regions: dict[str, dict[TaskState, int]] = {}
    placeless = 0
    for (region, state), count in ledger.counts(anchor.name).items():
        if state is not TaskState.PENDING:
            counts[state] += count
            if region:
                _tally(regions, region)[state] += count
            else:
                placeless += count
    if placeless:
        _count_where_planned(regions, anchor, ledger)
    waiting = _waiting(anchor, ledger)
    counts[TaskState.PENDING] = sum(waiting.values())
    for index, count in waiting.items():
        _tally(regions, plan.shares[index].places[0].lane.region)[TaskState.PENDING] += count
    status = Status(
        run=anchor.name,
        created_at=anchor.created_at,
        tasks=plan.tasks,
        counts=counts,
        regions=dict(sorted(regions.items())),
        usd=ledger.usd(anchor.name),
        cancelled=ledger.cancelled(anchor.name),
    )
    if not status.cancelled and counts[TaskState.DONE] + counts[TaskState.FAILED] < plan.tasks:
        status = replace(status, paused=ledger.paused(anchor.name))  # else nothing was left that it stops
    limit = ledger.progress(anchor.name).limit
    if status.finished:
        return replace(status, limit=limit if counts[TaskState.DONE] < plan.tasks else {})  # a retry would meet it
    meter = Meter(plan, now)
    begun = [one for state in (TaskState.STARTING, TaskState.RUNNING) for one in ledger.known(anchor.name, state=state)]
    outlook = expect(plan, Seen(status.usd, begun, waiting, limit), meter)
    return replace(
        status,
        running_usd=meter.usd(begun),
        outlook=outlook,
        limit=limit,
        moving=sum(one.is_moving for one in begun),
        waiting=sum(one.lost_at is not None for one in begun),
    )


def _count_where_planned(regions: dict[str, dict[TaskState, int]], anchor: Anchor, ledger: Ledger) -> None:
    """Count tasks that ended without having been anywhere, such as those cancelled before, in their planned Regions."""
    for share in anchor.plan.shares:
        for state, count in ledger.placeless(anchor.name, share.first, share.first + share.count).items():
            _tally(regions, share.places[0].lane.region)[state] += count


def _waiting(anchor: Anchor, ledger: Ledger) -> dict[int, int]:
    """Return how many tasks of each share, by its place in the plan, have not begun."""
    waiting = {}
    for index, share in enumerate(anchor.plan.shares):
        left = share.count - ledger.seen(anchor.name, share.first, share.first + share.count)
        if left:
            waiting[index] = left
    return waiting


def _tally(regions: dict[str, dict[TaskState, int]], region: str) -> dict[TaskState, int]:
    """Return the counts of a Region, which begin at none."""
    return regions.setdefault(region, dict.fromkeys(TaskState, 0))
