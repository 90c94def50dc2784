"""Writes down what the database is to know of runs. Loaded where something is written: most commands only look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, func, update

from orchestrator.db.engine import writing
from orchestrator.db.history_tables import attempts
from orchestrator.db.tables import arrays, results, runs, submissions
from orchestrator.db.upsert import insert_missing, upsert
from orchestrator.runs.known.rows import READ_ONLY
from orchestrator.wire.names import canonical
from orchestrator.wire.ranges import Ranges
from orchestrator.wire.result import TaskState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Engine

    from orchestrator.runs.cloud import Account
    from orchestrator.runs.written.anchor import Anchor
    from orchestrator.runs.written.submission import Array, Submission

_ANCHORED = func.coalesce(runs.c.anchored, False)


class Noting:
    """Writes rows of runs, each time in one transaction."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def put_run(self, anchor: Anchor, account: Account) -> None:
        """Note that this run is in the bucket. Another run of its name goes, with all that was noted of it."""
        named = runs.c.name == anchor.name
        with writing(self._engine) as connection:
            connection.execute(delete(runs).where(named & (runs.c.document != document_of(anchor))))
            insert_missing(connection, runs, [row_of_run(anchor, account)])
            connection.execute(update(runs).where(named).values(anchored=True, bucket=account.bucket))

    def take_back_run(self, anchor: Anchor) -> None:
        """Take this note back, with what it holds, unless it has become a run."""
        this = (runs.c.name == anchor.name) & (runs.c.document == document_of(anchor)) & ~_ANCHORED
        with writing(self._engine) as connection:
            connection.execute(delete(runs).where(this))

    def change_run(self, run: str, **values: Any) -> None:
        """Give columns of a run these values."""
        with writing(self._engine) as connection:
            connection.execute(update(runs).where(runs.c.name == run).values(**values))

    def put_submission(self, run: str, submission: Submission, silent: Ranges) -> None:
        """Note a submission and its arrays, instead of what was noted of it before.

        Its tasks are pending again if they left a result in an earlier one, but for those that were done by an attempt
        of which it did not know. Of the run, only `silent` stay cancelled.
        """
        noted = (submissions.c.run == run) & (submissions.c.number == submission.number)
        document = canonical(submission.to_json())
        with writing(self._engine) as connection:
            connection.execute(delete(submissions).where(noted))
            insert_missing(connection, submissions, [{"run": run, "number": submission.number, "document": document}])
            insert_missing(connection, arrays, [_row_of_array(array) for array in submission.arrays(run)])
            connection.execute(update(runs).where(runs.c.name == run).values(silent=str(silent)))
            known = Ranges.union(tasks for _, tasks in submission.after)
            for before, tasks in ((0, submission.tasks.minus(known)), *submission.after):
                counts = (results.c.state == TaskState.DONE.value) & (results.c.attempt > before)
                for first, stop in tasks.spans:
                    earlier = (results.c.run == run) & results.c.task.between(first, stop - 1)
                    connection.execute(
                        update(results)
                        .where(earlier & (results.c.submission < submission.number) & ~counts)
                        .values(state=TaskState.PENDING.value)
                    )

    def put_job(self, array: Array, job: str) -> None:
        """Note the job of an array, unless one is noted."""
        mine = (arrays.c.run == array.run) & (arrays.c.submission == array.submission)
        with writing(self._engine) as connection:
            connection.execute(
                update(arrays)
                .where(mine & (arrays.c.number == array.number) & arrays.c.job_id.is_(None))
                .values(job_id=job)
            )

    def put_results(self, rows: Sequence[dict[str, Any]], of_attempts: Sequence[dict[str, Any]]) -> None:
        """Write rows of results that were read, and of all attempts that they tell of."""
        with writing(self._engine) as connection:
            upsert(connection, results, rows)
            upsert(connection, attempts, of_attempts)

    def put_news(self, rows: Sequence[dict[str, Any]]) -> None:
        """Write rows of news. Where a result was read before, what only a result tells stays as it is."""
        with writing(self._engine) as connection:
            upsert(connection, results, rows, keep=READ_ONLY)

    def end_waiting(self, run: str, silent: Ranges, waiting: Ranges) -> None:
        """Note that a cancel has ended these tasks: some left nothing, the others had been pending."""
        with writing(self._engine) as connection:
            connection.execute(update(runs).where(runs.c.name == run).values(silent=str(silent)))
            for first, stop in waiting.spans:
                here = (results.c.run == run) & results.c.task.between(first, stop - 1)
                connection.execute(update(results).where(here).values(state=TaskState.CANCELLED.value))


def row_of_run(anchor: Anchor, account: Account) -> dict[str, Any]:
    """Return the row of the table `runs` that notes this run."""
    return {
        "name": anchor.name,
        "plan_id": anchor.plan.id,
        "workload": anchor.plan.sweep.name,
        "bucket": account.bucket,
        "region": account.region,
        "created_at": anchor.created_at,
        "tasks": anchor.plan.tasks,
        "document": document_of(anchor),
        "cancelled": False,
        "anchored": False,
    }


def document_of(anchor: Anchor) -> str:
    """Return a run as its row holds it."""
    return canonical(anchor.to_json())


def _row_of_array(array: Array) -> dict[str, Any]:
    return {
        "run": array.run,
        "submission": array.submission,
        "number": array.number,
        "name": array.name,
        "tasks": str(array.tasks),
        "size": len(array.tasks),
        "job_id": None,
    }
