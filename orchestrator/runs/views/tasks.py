"""The rows of a run: where each task ran, what it cost, what it measured."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from orchestrator.runs.past.attempts import waits_of
from orchestrator.runs.views.accrued import Accrued, Meter
from orchestrator.wire.beside.markers import PAUSED
from orchestrator.wire.beside.measured import KeptCurve, KeptMetric
from orchestrator.wire.curve import Curves, decode
from orchestrator.wire.result import TaskState

if TYPE_CHECKING:
    import re
    from collections.abc import Container, Iterable, Mapping

    from orchestrator.runs.known.rows import Known
    from orchestrator.runs.views.logs import LogsRead
    from orchestrator.runs.written.anchor import Anchor
    from orchestrator.spec.sweep import Objective
    from orchestrator.wire.beside.measured import Measured
    from orchestrator.wire.curve import Curve
    from orchestrator.wire.ranges import Ranges
    from orchestrator.wire.task import Scalar


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
    artifact: str = ""
    """The S3 URI of what its last training left behind, such as its model; empty if there is nothing."""
    score: float | None = None
    """The value of the sweep's objective by which it is ranked; None if it is not done, or has no such value."""
    curves: dict[str, Curve] = field(default_factory=dict)
    """Metric → points (step, value), where they were asked for."""
    note: str = ""
    """What its last training runs on that was not asked for, in one line; empty where all is as it should be."""
    estimated: bool = False
    """It runs: of its last training, `seconds` and `usd` are up to now, by the clock and the plan's prices."""
    instances: int = 1
    """The instances of its last training; of one that has not begun, those that are planned."""
    not_finite: tuple[str, ...] = ()
    """Metrics of which its last training has written NaN or infinity last: they are left out of `metrics`."""
    billable_s: float = 0.0
    """Seconds of instances that were billed, all attempts together: two instances for a minute are 120."""
    waited_s: float = 0.0
    """Seconds in which the platform had no machines for it, all attempts together. They are not billed. How long
    machines take to boot once they are given is no part of it."""
    site: str = ""
    """The part of the lane that its last training was asked of, or runs in, such as a zone; empty if it has none."""

    unread: str = ""
    """The Region and the reason, where its logs were to be read and could not; else empty."""

    @property
    def held_back(self) -> bool:
        """It was not begun, for its run was paused; `reason` says why."""
        return self.state is TaskState.CANCELLED and self.reason.startswith(PAUSED)


def task_rows(anchor: Anchor, known: Iterable[Known], tasks: Ranges, now: float) -> list[TaskRow]:
    """Return a row for each task, whether it has begun or not."""
    seen = {one.result.task: one for one in known}
    meter = Meter(anchor.plan, now)
    return [_row(anchor, number, seen.get(number), meter) for number in tasks]


def with_curves(rows: list[TaskRow], known: Iterable[Known], kept: Measured) -> list[TaskRow]:
    """Return the rows with the curves that are stored. Those that a row has from a log just read go before."""
    wanted = {row.task for row in rows}
    found = {one.result.task: one.result.curves for one in known if one.result.task in wanted}
    return [_with_stored(row, {**found.get(row.task, {}), **kept.of(row.task, row.attempt)}) for row in rows]


def _with_stored(row: TaskRow, stored: Mapping[str, str]) -> TaskRow:
    more = {name: decode(text) for name, text in stored.items() if name not in row.curves}
    return replace(row, curves=row.curves | more)


def ranked(rows: list[TaskRow], objective: Objective | None) -> list[TaskRow]:
    """Return the rows best first. Tasks without a score come after them, and last those whose score is NaN or infinite.

    Among these, the order is that of their numbers.
    """
    if objective is None:
        return rows
    return sorted(rows, key=lambda row: (*_rank(row, objective), row.task))


def _rank(row: TaskRow, objective: Objective) -> tuple[int, float]:
    """Return where a task stands among others by its score, the smaller the better."""
    if row.score is None:
        return (2 if objective.metric in row.not_finite else 1, 0.0)
    return (0, -row.score if objective.maximize else row.score)


def measured(rows: list[TaskRow], found: Mapping[int, Curves], objective: Objective | None) -> list[TaskRow]:
    """Return the rows with what was found in the logs of their trainings, best first."""
    return ranked([_measured(row, found[row.task], objective) if row.task in found else row for row in rows], objective)


def with_read(rows: list[TaskRow], logs: LogsRead, names: Container[str], objective: Objective | None) -> list[TaskRow]:
    """Return the rows with what was just read in the logs of their trainings, or why it was not, best first.

    Their curves begin with those of the metrics of these names: a picture shows the first few.
    """
    read = []
    for row in measured(rows, logs.found, objective):
        curves = logs.found[row.task].encoded() if row.task in logs.found else {}
        in_order = sorted(curves, key=lambda name: name not in names)
        drawn = {name: decode(curves[name]) for name in in_order}
        read.append(replace(row, curves=drawn, unread=logs.unread.get(row.task, "")))
    return read


def with_kept(rows: list[TaskRow], kept: Measured, objective: Objective | None) -> list[TaskRow]:
    """Return the rows with the metrics that were read from logs before and are kept with the run, best first."""
    if not kept.metrics:
        return ranked(rows, objective)
    found = {row.task: Curves(kept.of(row.task, row.attempt)) for row in rows}
    return measured(rows, {task: curves for task, curves in found.items() if curves.last}, objective)


def to_keep(
    rows: list[TaskRow], found: Mapping[int, Curves], regexes: Mapping[str, re.Pattern[str]]
) -> dict[str, KeptMetric]:
    """Return what is kept of what was found: these metrics, of tasks that have ended."""
    ended = {row.task: row.attempt for row in rows if row.state.terminal and row.task in found}
    curves = {task: found[task].encoded() for task in ended}
    return {
        name: KeptMetric(
            regex.pattern,
            {task: KeptCurve(ended[task], curves[task][name]) for task in ended if name in curves[task]},
        )
        for name, regex in regexes.items()
    }


def _measured(row: TaskRow, curves: Curves, objective: Objective | None) -> TaskRow:
    metrics = {name: value for name, value in row.metrics.items() if name not in curves.diverged} | curves.last
    diverged = curves.diverged.union(name for name in row.not_finite if name not in curves.last)
    row = replace(row, not_finite=tuple(sorted(diverged)))
    if objective is None or row.state is not TaskState.DONE:
        return replace(row, metrics=metrics)
    score = _score(objective, metrics, curves.encoded())
    before = None if objective.metric in curves.diverged else row.score
    return replace(row, metrics=metrics, score=before if score is None else score)


def _score(objective: Objective, metrics: Mapping[str, float], curves: Mapping[str, str]) -> float | None:
    """Return the value of the objective that counts; None if there is none."""
    values = [value for _, value in decode(curves.get(objective.metric, ""))] if objective.of == "best" else []
    if not values:
        return metrics.get(objective.metric)
    return max(values) if objective.maximize else min(values)


def _reason(known: Known | None) -> str:
    """Return why a task stands as it does; of one that starts, or whose end cannot be told, what it waits for."""
    if known is None:
        return ""
    last = known.result.outcomes[-1] if known.result.outcomes else None
    return known.result.reason or (last.waits_for if last and not known.state.terminal else "")


def _row(anchor: Anchor, number: int, known: Known | None, meter: Meter) -> TaskRow:
    task = anchor.plan.task(number, code=anchor.code)
    outcome = known.result.outcomes[-1] if known and known.result.outcomes else None
    lane = outcome.lane if outcome else task.places[0].lane
    running = meter.accrued(known) if known else None
    more = running or Accrued()
    objective, metrics = anchor.plan.sweep.objective, outcome.metrics if outcome else {}
    score = None
    if known and known.state is TaskState.DONE and objective:
        score = _score(objective, metrics, known.result.curves)
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
        metrics=metrics,
        reason=_reason(known),
        artifact=outcome.artifact if outcome else "",
        score=score,
        note=outcome.note if outcome else "",
        estimated=running is not None,
        not_finite=outcome.not_finite if outcome else (),
        instances=outcome.instances if outcome else task.places[0].instances,
        waited_s=waits_of(known.result.outcomes) if known else 0.0,
        site=outcome.site if outcome else "",
        billable_s=sum(one.billable_s * one.instances for one in known.result.outcomes) if known else 0.0,
    )
