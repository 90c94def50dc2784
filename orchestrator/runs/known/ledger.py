"""The database's memory of runs: a cache of the control bucket, rebuilt by `sync`. It decides nothing."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select, update

from orchestrator.db.engine import reading, writing
from orchestrator.db.tables import arrays, results, runs
from orchestrator.db.upsert import insert_missing, upsert
from orchestrator.runs.written.anchor import Anchor
from orchestrator.wire.names import RunKeys, canonical
from orchestrator.wire.ranges import Ranges
from orchestrator.wire.result import Result, TaskState

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlalchemy import Engine

    from orchestrator.runs.cloud import Account
    from orchestrator.runs.written.submission import Array, Submission

_HAS_ENDED = results.c.state.in_([state.value for state in TaskState if state.terminal])


@dataclass(frozen=True)
class Sent:
    """An array and the Batch job it became, if this database has seen that."""

    array: Array
    job: str | None


@dataclass(frozen=True)
class Known:
    """A task's result as last seen, and how the task stands: a retried task is pending again, whatever it left."""

    etag: str
    result: Result
    state: TaskState


class Ledger:
    """What the database knows of runs, their arrays and their results."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def remember(self, anchor: Anchor, account: Account) -> None:
        """Note a run, unless it is noted already."""
        with writing(self.engine) as connection:
            insert_missing(connection, runs, [row(anchor, account)])

    def anchor(self, name: str) -> Anchor | None:
        """Return the run of this name, or None if this database has not seen it."""
        with reading(self.engine) as connection:
            document = connection.scalar(select(runs.c.document).where(runs.c.name == name))
        return Anchor.from_json(json.loads(document)) if document else None

    def of_workload(self, workload: str) -> Iterator[Anchor]:
        """Return the runs of sweeps of this name, newest first."""
        query = select(runs.c.document).where(runs.c.workload == workload).order_by(runs.c.created_at.desc())
        with reading(self.engine) as connection:
            documents = list(connection.scalars(query))
        return (Anchor.from_json(json.loads(document)) for document in documents)

    def names(self) -> list[str]:
        """Return the names of all runs, newest first."""
        with reading(self.engine) as connection:
            return list(connection.scalars(select(runs.c.name).order_by(runs.c.created_at.desc(), runs.c.name)))

    def cancelled(self, run: str) -> bool:
        with reading(self.engine) as connection:
            return bool(connection.scalar(select(runs.c.cancelled).where(runs.c.name == run)))

    def mark_cancelled(self, run: str, cancelled: bool) -> None:
        if self.cancelled(run) == cancelled:
            return
        with writing(self.engine) as connection:
            connection.execute(update(runs).where(runs.c.name == run).values(cancelled=cancelled))

    def expect(self, run: str, submission: Submission) -> None:
        """Note a submission's arrays; tasks that left a result in an earlier one are pending again."""
        if any(number == submission.number for number, _ in self._jobs(run)):
            return
        rows = [
            {
                "run": run,
                "submission": array.submission,
                "number": array.number,
                "name": array.name,
                "tasks": str(array.tasks),
                "size": len(array.tasks),
                "job_id": None,
            }
            for array in submission.arrays(run)
        ]
        with writing(self.engine) as connection:
            insert_missing(connection, arrays, rows)
            for first, stop in submission.tasks.spans:
                earlier = (results.c.run == run) & results.c.task.between(first, stop - 1)
                connection.execute(
                    update(results)
                    .where(earlier & (results.c.submission < submission.number))
                    .values(state=TaskState.PENDING.value)
                )

    def arrays(self, run: str, made: Iterable[Submission]) -> list[Sent]:
        """Return every array of these submissions, with its job if it is known to have become one."""
        jobs = self._jobs(run)
        return [
            Sent(array, jobs.get((array.submission, array.number)))
            for submission in made
            for array in submission.arrays(run)
        ]

    def unsent(self, run: str, submission: Submission) -> list[Array]:
        """Return the arrays that are not known to have become a job."""
        return [sent.array for sent in self.arrays(run, [submission]) if sent.job is None]

    def _jobs(self, run: str) -> dict[tuple[int, int], str | None]:
        """Return the job of each array, by its submission and number."""
        query = select(arrays.c.submission, arrays.c.number, arrays.c.job_id).where(arrays.c.run == run)
        with reading(self.engine) as connection:
            return {(row.submission, row.number): row.job_id for row in connection.execute(query)}

    def record(self, array: Array, job: str) -> None:
        """Note the job of an array. The first one stays: a second is harmless, but is not what we watch."""
        mine = (arrays.c.run == array.run) & (arrays.c.submission == array.submission)
        with writing(self.engine) as connection:
            connection.execute(
                update(arrays)
                .where(mine & (arrays.c.number == array.number) & arrays.c.job_id.is_(None))
                .values(job_id=job)
            )

    def etags(self, run: str) -> dict[str, str]:
        """Return the ETag of every result that is known already, by its key."""
        keys = RunKeys(run)
        query = select(results.c.task, results.c.etag).where(results.c.run == run)
        with reading(self.engine) as connection:
            return {keys.result(row.task): row.etag for row in connection.execute(query)}

    def save(self, run: str, known: Iterable[Known]) -> None:
        rows = [_row(run, one) for one in known]
        if rows:
            with writing(self.engine) as connection:
                upsert(connection, results, rows)

    def counts(self, run: str) -> dict[tuple[str, TaskState], int]:
        """Count the tasks that left a result, by Region and state."""
        query = (
            select(results.c.region, results.c.state, func.count())
            .where(results.c.run == run)
            .group_by(results.c.region, results.c.state)
        )
        with reading(self.engine) as connection:
            return {(region, TaskState(state)): count for region, state, count in connection.execute(query)}

    def usd(self, run: str) -> float:
        with reading(self.engine) as connection:
            return connection.scalar(select(func.sum(results.c.usd)).where(results.c.run == run)) or 0.0

    def seen(self, run: str, first: int, stop: int) -> int:
        """Return how many of these tasks have left a result that still counts."""
        query = select(func.count()).where(
            (results.c.run == run)
            & results.c.task.between(first, stop - 1)
            & (results.c.state != TaskState.PENDING.value)
        )
        with reading(self.engine) as connection:
            return connection.scalar(query) or 0

    def placeless(self, run: str, first: int, stop: int) -> dict[TaskState, int]:
        """Count those of these tasks that left a result without having been anywhere, by state."""
        mine = (results.c.run == run) & results.c.task.between(first, stop - 1)
        placeless = (results.c.region == "") & (results.c.state != TaskState.PENDING.value)
        query = select(results.c.state, func.count()).where(mine & placeless)
        with reading(self.engine) as connection:
            return {TaskState(state): count for state, count in connection.execute(query.group_by(results.c.state))}

    def ended(self, run: str, tasks: Ranges) -> int:
        """Return how many of these tasks have ended."""
        with reading(self.engine) as connection:
            return sum(
                connection.scalar(
                    select(func.count()).where(
                        (results.c.run == run) & results.c.task.between(first, stop - 1) & _HAS_ENDED
                    )
                )
                or 0
                for first, stop in tasks.spans
            )

    def known(self, run: str, tasks: Ranges | None = None, state: TaskState | None = None) -> Iterator[Known]:
        """Yield every task that left a result, or those in one state, in the order of their numbers."""
        query = select(results.c.etag, results.c.state, results.c.document).where(results.c.run == run)
        if state:
            query = query.where(results.c.state == state.value)
        query = query.order_by(results.c.task)
        with reading(self.engine) as connection:
            for etag, state, document in connection.execute(query):
                result = Result.from_json(json.loads(document))
                if tasks is None or result.task in tasks:
                    yield Known(etag, result, TaskState(state))

    def unfinished(self, run: str, tasks: Ranges) -> Ranges:
        """Return those of these tasks that have not ended."""
        ended: set[int] = set()
        with reading(self.engine) as connection:
            for first, stop in _windows(tasks):
                nearby = (results.c.run == run) & results.c.task.between(first, stop - 1)
                ended.update(connection.scalars(select(results.c.task).where(nearby & _HAS_ENDED)))
        return Ranges.of(task for task in tasks if task not in ended)


def row(anchor: Anchor, account: Account) -> dict[str, Any]:
    """Return the row of the table `runs` that notes this run."""
    return {
        "name": anchor.name,
        "plan_id": anchor.plan.id,
        "workload": anchor.plan.sweep.name,
        "bucket": account.bucket,
        "region": account.region,
        "created_at": anchor.created_at,
        "tasks": anchor.plan.tasks,
        "document": canonical(anchor.to_json()),
        "cancelled": False,
    }


GAP = 1_000
"""Numbers between two ranges that are read along rather than asked around."""


def _windows(tasks: Ranges) -> list[tuple[int, int]]:
    """Return few ranges that hold all: an array's tasks may lie far apart, and a retry's are many and scattered."""
    windows: list[tuple[int, int]] = []
    for first, stop in sorted(tasks.spans):
        if windows and first - windows[-1][1] <= GAP:
            windows[-1] = (windows[-1][0], stop)
        else:
            windows.append((first, stop))
    return windows


def _row(run: str, known: Known) -> dict[str, Any]:
    result = known.result
    last = result.outcomes[-1] if result.outcomes else None
    return {
        "run": run,
        "task": result.task,
        "etag": known.etag,
        "submission": result.submission,
        "state": known.state.value,
        "attempt": result.attempt,
        "platform": last.lane.platform if last else "",
        "region": last.lane.region if last else "",
        "instance_type": last.lane.instance_type if last else "",
        "purchase": last.lane.purchase.value if last else "",
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
    }
