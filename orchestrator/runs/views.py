"""What a run looks like from outside: counts, rows, money. Declared types, so `--json` has a shape."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from orchestrator.runs.accrued import Accrued, Meter
from orchestrator.wire.curve import decode
from orchestrator.wire.result import TaskState

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.runs.anchor import Anchor
    from orchestrator.runs.ledger import Known, Ledger
    from orchestrator.spec.sweep import Objective
    from orchestrator.wire.curve import Curve
    from orchestrator.wire.ranges import Ranges
    from orchestrator.wire.task import Lane, Scalar


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


@dataclass(frozen=True)
class TaskRow:
    task: int
    dataset: str
    point: dict[str, Scalar]
    state: TaskState
    attempt: int
    platform: str
    region: str
    instance_type: str
    purchase: str
    training: str
    seconds: float
    usd: float
    metrics: dict[str, float]
    reason: str
    curves: dict[str, Curve] = field(default_factory=dict)
    """Metric → points (step, value), where they were asked for."""
    estimated: bool = False
    """It runs: of its last training, `seconds` and `usd` are up to now, by the clock and the plan's prices."""


@dataclass(frozen=True)
class CostRow:
    platform: str
    region: str
    instance_type: str
    purchase: str
    tasks: int
    hours: float
    """Billable hours of instances: a training of two instances for an hour is two."""
    usd: float


@dataclass(frozen=True)
class LogLine:
    task: int
    stream: str
    text: str


def status(anchor: Anchor, ledger: Ledger, now: float) -> Status:
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


def rows(anchor: Anchor, known: Iterable[Known], tasks: Ranges, now: float) -> list[TaskRow]:
    """Return a row for each task, whether it has begun or not."""
    seen = {one.result.task: one for one in known}
    meter = Meter(anchor.plan, now)
    return [_row(anchor, number, seen.get(number), meter) for number in tasks]


def with_curves(rows: list[TaskRow], known: Iterable[Known]) -> list[TaskRow]:
    wanted = {row.task for row in rows}
    found = {one.result.task: one.result.curves for one in known if one.result.task in wanted}
    return [replace(row, curves={name: decode(text) for name, text in found.get(row.task, {}).items()}) for row in rows]


def ranked(rows: list[TaskRow], objective: Objective | None) -> list[TaskRow]:
    """Return the rows best first. Tasks without the metric come last, in the order of their numbers."""
    if objective is None:
        return rows
    metric, sign = objective.metric, -1 if objective.maximize else 1

    def key(row: TaskRow) -> tuple[bool, float, int]:
        value = row.metrics.get(metric) if row.state is TaskState.DONE else None
        return (value is None, sign * (value or 0.0), row.task)

    return sorted(rows, key=key)


def cost(known: Iterable[Known]) -> list[CostRow]:
    """Return what every attempt was billed, by lane."""
    hours: defaultdict[Lane, float] = defaultdict(float)
    usd: defaultdict[Lane, float] = defaultdict(float)
    tasks: defaultdict[Lane, set[int]] = defaultdict(set)
    for one in known:
        for outcome in one.result.outcomes:
            hours[outcome.lane] += outcome.billable_s * outcome.instances / 3600
            usd[outcome.lane] += outcome.usd
            tasks[outcome.lane].add(one.result.task)
    return [
        CostRow(
            platform=lane.platform,
            region=lane.region,
            instance_type=lane.instance_type,
            purchase=lane.purchase.value,
            tasks=len(tasks[lane]),
            hours=hours[lane],
            usd=usd[lane],
        )
        for lane in sorted(tasks)
    ]


def _row(anchor: Anchor, number: int, known: Known | None, meter: Meter) -> TaskRow:
    task = anchor.plan.task(number, code=anchor.code)
    outcome = known.result.outcomes[-1] if known and known.result.outcomes else None
    lane = outcome.lane if outcome else task.places[0].lane
    running = meter.accrued(known) if known else None
    more = running or Accrued()
    return TaskRow(
        task=number,
        dataset=task.dataset,
        point=task.point,
        state=known.state if known else TaskState.PENDING,
        attempt=outcome.number if outcome else 0,
        platform=lane.platform,
        region=lane.region,
        instance_type=lane.instance_type,
        purchase=lane.purchase.value,
        training=outcome.training if outcome else "",
        seconds=sum(one.seconds for one in known.result.outcomes) + more.seconds if known else 0.0,
        usd=known.result.usd + more.usd if known else 0.0,
        metrics=outcome.metrics if outcome else {},
        reason=known.result.reason if known else "",
        estimated=running is not None,
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
