"""The database's memory of runs: a cache of the control bucket, rebuilt by `sync`. It decides nothing."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, func, select, update

from orchestrator.db.engine import reading, writing
from orchestrator.db.tables import arrays, results, runs, submissions
from orchestrator.db.upsert import insert_missing
from orchestrator.errors import Damaged
from orchestrator.runs.known.progress import Progress
from orchestrator.runs.known.results import Results
from orchestrator.runs.written.anchor import Anchor
from orchestrator.runs.written.submission import Submission
from orchestrator.wire.measured import Measured
from orchestrator.wire.names import canonical
from orchestrator.wire.result import TaskState
from orchestrator.wire.stored import damage_named

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import ColumnElement

    from orchestrator.runs.cloud import Account
    from orchestrator.runs.written.submission import Array

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Sent:
    """An array and the Batch job it became, if this database has seen that."""

    array: Array
    job: str | None


_ANCHORED = func.coalesce(runs.c.anchored, False)
_DOCUMENT = select(runs.c.document)


class Ledger(Results):
    """What the database knows of runs, of their arrays, and of the results of their tasks.

    A run is noted before it is made. Only once its `run.json` was seen in the bucket, it is a run: `anchored`.
    """

    def remember(self, anchor: Anchor, account: Account) -> None:
        """Note that this run is in the bucket. Whatever was noted under its name before, and is another one, goes."""
        with reading(self.engine) as connection:
            noted = select(runs.c.document, runs.c.bucket).where(runs.c.name == anchor.name, _ANCHORED)
            if connection.execute(noted).one_or_none() == (_document(anchor), account.bucket):
                return
        with writing(self.engine) as connection:
            named = runs.c.name == anchor.name
            connection.execute(delete(runs).where(named & (runs.c.document != _document(anchor))))
            insert_missing(connection, runs, [row(anchor, account)])
            connection.execute(update(runs).where(named).values(anchored=True, bucket=account.bucket))

    def forget(self, anchor: Anchor) -> None:
        """Take this note back, with what it holds, unless it has become a run."""
        this = (runs.c.name == anchor.name) & (runs.c.document == _document(anchor)) & ~_ANCHORED
        with writing(self.engine) as connection:
            connection.execute(delete(runs).where(this))

    def anchor(self, name: str) -> Anchor | None:
        """Return the run of this name, or None if this database has not seen it in the bucket."""
        return self._anchor((runs.c.name == name) & _ANCHORED)

    def note(self, name: str) -> Anchor | None:
        """Return the run that was noted under this name and not seen in the bucket, or None."""
        return self._anchor((runs.c.name == name) & ~_ANCHORED)

    def bucket(self, name: str) -> str:
        """Return the bucket in which the run of this name was seen; nothing if it was not."""
        with reading(self.engine) as connection:
            return connection.scalar(select(runs.c.bucket).where(runs.c.name == name, _ANCHORED)) or ""

    def _anchor(self, wanted: ColumnElement[bool]) -> Anchor | None:
        with reading(self.engine) as connection:
            document = connection.scalar(_DOCUMENT.where(wanted))
        if document is None:
            return None
        with damage_named("a run in the database"):
            return Anchor.from_json(json.loads(document), sweep_later=True)

    def names(self, *, anchored: bool = True) -> list[str]:
        """Return the names of all runs, newest first; or of what was noted and never seen in the bucket."""
        wanted = _ANCHORED if anchored else ~_ANCHORED
        query = select(runs.c.name).where(wanted).order_by(runs.c.created_at.desc(), runs.c.name)
        with reading(self.engine) as connection:
            return list(connection.scalars(query))

    def cancelled(self, run: str) -> bool:
        with reading(self.engine) as connection:
            return bool(connection.scalar(select(runs.c.cancelled).where(runs.c.name == run)))

    def mark_cancelled(self, run: str, cancelled: bool) -> None:
        if self.cancelled(run) == cancelled:
            return
        with writing(self.engine) as connection:
            connection.execute(update(runs).where(runs.c.name == run).values(cancelled=cancelled))

    def paused(self, run: str) -> str:
        """Return in words why the newest submission is paused; nothing if it is not."""
        newest = select(func.max(submissions.c.number)).where(submissions.c.run == run)
        with reading(self.engine) as connection:
            number = connection.scalar(newest)
        return self.progress(run).paused.get(str(number), "")

    def progress(self, run: str) -> Progress:
        """Return how far the bucket has been read. A note that cannot be understood is none: all is read anew."""
        with reading(self.engine) as connection:
            seen = connection.scalar(select(runs.c.seen).where(runs.c.name == run))
        if not seen:
            return Progress()
        try:
            with damage_named(f"run {run} in the database"):
                return Progress.from_json(json.loads(seen))
        except Damaged as error:
            log.warning("%s: the bucket is read anew", error)
            return Progress()

    def save_progress(self, run: str, progress: Progress) -> None:
        with writing(self.engine) as connection:
            seen = json.dumps(progress.to_json())
            connection.execute(update(runs).where(runs.c.name == run).values(seen=seen))

    def measured(self, run: str) -> Measured:
        """Return the metrics that are kept with the run; none if they cannot be understood."""
        with reading(self.engine) as connection:
            kept = connection.scalar(select(runs.c.measured).where(runs.c.name == run))
        if not kept:
            return Measured()
        try:
            with damage_named(f"metrics of run {run} in the database"):
                return Measured.from_json(json.loads(kept))
        except Damaged as error:
            log.warning("%s: they are left out", error)
            return Measured()

    def save_measured(self, run: str, measured: Measured) -> None:
        with writing(self.engine) as connection:
            kept = json.dumps(measured.to_json())
            connection.execute(update(runs).where(runs.c.name == run).values(measured=kept))

    def submissions(self, run: str) -> list[Submission]:
        """Return the submissions that are known, in order. One that cannot be understood is not known."""
        query = select(submissions.c.document).where(submissions.c.run == run).order_by(submissions.c.number)
        with reading(self.engine) as connection:
            documents = list(connection.scalars(query))
        known = []
        for document in documents:
            try:
                with damage_named(f"a submission of run {run} in the database"):
                    known.append(Submission.from_json(json.loads(document)))
            except Damaged as error:
                log.warning("%s: it is read anew", error)
        return known

    def is_looked_at(self, run: str) -> bool:
        """Return whether anything is known of the run but its plan: it was submitted from here, or looked at."""
        with reading(self.engine) as connection:
            return connection.scalar(select(submissions.c.number).where(submissions.c.run == run).limit(1)) is not None

    def expect(self, run: str, submission: Submission) -> None:
        """Note a submission and its arrays; tasks that left a result in an earlier one are pending again."""
        document = canonical(submission.to_json())
        noted = (submissions.c.run == run) & (submissions.c.number == submission.number)
        with reading(self.engine) as connection:
            if connection.scalar(select(submissions.c.document).where(noted)) == document:
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
        silent = self.silent(run)
        left = silent.minus(submission.tasks)
        with writing(self.engine) as connection:
            connection.execute(delete(submissions).where(noted))  # what lies in the bucket is the truth
            insert_missing(connection, submissions, [{"run": run, "number": submission.number, "document": document}])
            insert_missing(connection, arrays, rows)
            if left != silent:
                connection.execute(update(runs).where(runs.c.name == run).values(silent=str(left)))
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
        "document": _document(anchor),
        "cancelled": False,
        "anchored": False,
    }


def _document(anchor: Anchor) -> str:
    return canonical(anchor.to_json())
