"""Makes the database's rows of results and of news, and reads them back."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from orchestrator.wire.names import training_name
from orchestrator.wire.result import Outcome, Result, TaskState
from orchestrator.wire.task import Lane

if TYPE_CHECKING:
    from orchestrator.wire.beside.news import News

READ_ONLY = ("reason", "metrics", "document", "read_etag")
"""Columns of which only a result itself tells: news leave them as they are."""


@dataclass(frozen=True)
class Known:
    """A task's result as last seen, and how the task stands: a retried task is pending again, whatever it left."""

    etag: str
    result: Result
    state: TaskState

    @property
    def is_moving(self) -> bool:
        """It goes on, and nothing trains: its last training has ended, and its checkpoint is brought to the next."""
        outcomes = self.result.outcomes
        return self.state is TaskState.RUNNING and bool(outcomes) and outcomes[-1].state.terminal

    @property
    def lost_at(self) -> float | None:
        """When its training lost its machines, if it waits for others; else None."""
        outcomes = self.result.outcomes
        if self.state is not TaskState.RUNNING or not outcomes or outcomes[-1].state.terminal:
            return None
        return outcomes[-1].lost_at


def row_of_result(run: str, known: Known) -> dict[str, Any]:
    """Return the row of a result that was read."""
    result = known.result
    last = result.outcomes[-1] if result.outcomes else None
    return {
        "run": run,
        "task": result.task,
        "etag": known.etag,
        "submission": result.submission,
        "state": known.state.value,
        "attempt": result.attempt,
        **_lane_columns(last.lane if last else None),
        "instances": last.instances if last else 0,
        "training": last.training if last else "",
        "seconds": sum(outcome.seconds for outcome in result.outcomes),
        "billable_s": sum(outcome.billable_s for outcome in result.outcomes),
        "usd": result.usd,
        "reason": result.reason,
        "metrics": json.dumps(result.metrics),
        "started_at": last.started_at if last else None,
        "ended_at": last.ended_at if last else None,
        "updated_at": time.time(),
        "document": json.dumps(result.to_json()),
        "read_etag": known.etag,
        "proven": result.proven,
    }


def row_of_news(run: str, news: News, state: TaskState) -> dict[str, Any]:
    """Return the row of a result of which only news have come, and how its task stands."""
    return {
        "run": run,
        "task": news.task,
        "etag": news.etag,
        "submission": news.submission,
        "state": state.value,
        "attempt": news.attempt,
        **_lane_columns(news.lane),
        "instances": news.instances,
        "training": training_name(run, news.task, news.attempt) if news.attempt else "",
        "seconds": news.seconds,
        "billable_s": news.billable_s,
        "usd": news.usd,
        "reason": "",
        "metrics": "{}",
        "started_at": news.started_at,
        "ended_at": news.ended_at,
        "updated_at": time.time(),
        "document": "",
        "read_etag": "",
        "proven": news.proven,
    }


def known_of_row(row: Any) -> Known:
    """Return what a row says: the result that was read, or what news have told of it since.

    Raise ValueError, or what `Result.from_json` raises, for a row that cannot be understood.
    """
    read = Result.from_json(json.loads(row.document)) if row.document else None
    if read is not None and read.task != row.task:
        raise ValueError(f"it says that it is the result of task {read.task}")
    state = TaskState(row.state)
    if read is not None and row.read_etag == row.etag:
        return Known(row.etag, read, state)
    told = Result(row.task, read.key if read else "", state, outcomes=_told_outcomes(row), submission=row.submission)
    return Known(row.etag, replace(told, curves=read.curves) if read else told, state)


def _told_outcomes(row: Any) -> tuple[Outcome, ...]:
    """Return the newest attempt as news tell of it, with what all attempts took, and the last that has ended."""
    if not row.attempt:
        return ()
    lane = Lane.parse("/".join((row.platform, row.region, row.instance_type, row.purchase)))
    ended = row.proven == row.attempt
    state = TaskState(row.state)
    last = Outcome(
        number=row.attempt,
        lane=lane,
        training=row.training,
        state=state if state.terminal == ended else TaskState.FAILED if ended else TaskState.RUNNING,
        seconds=row.seconds,
        billable_s=row.billable_s,
        usd=row.usd,
        instances=row.instances,
        started_at=row.started_at,
        ended_at=row.ended_at if ended else None,
        lost_at=None if ended else row.ended_at,
        metrics=json.loads(row.metrics),
    )
    if ended or not row.proven:
        return (last,)
    before = Outcome(row.proven, lane, training_name(row.run, row.task, row.proven), TaskState.FAILED)
    return (before, last)


def _lane_columns(lane: Lane | None) -> dict[str, str]:
    return {
        "platform": lane.platform if lane else "",
        "region": lane.region if lane else "",
        "instance_type": lane.instance_type if lane else "",
        "purchase": lane.purchase.value if lane else "",
    }
