"""The database's memory of runs: a cache of the control bucket, rebuilt by `sync`. It decides nothing."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.errors import Damaged
from orchestrator.runs.known.progress import Progress
from orchestrator.runs.known.results import Results
from orchestrator.runs.written.anchor import Anchor
from orchestrator.runs.written.submission import Submission
from orchestrator.wire.beside.measured import Measured
from orchestrator.wire.names import canonical
from orchestrator.wire.stored import damage_named

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.runs.cloud import Account
    from orchestrator.runs.written.submission import Array

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Sent:
    """An array and the Batch job it became, if this database has seen that."""

    array: Array
    job: str | None


_ANCHORED = "coalesce(anchored, FALSE)"


class Ledger(Results):
    """What the database knows of runs, of their arrays, and of the results of their tasks.

    A run is noted before it is made. Only once its `run.json` was seen in the bucket, it is a run: `anchored`.
    """

    def remember(self, anchor: Anchor, account: Account) -> None:
        """Note that this run is in the bucket. Whatever was noted under its name before, and is another one, goes."""
        query = f"SELECT document, bucket FROM runs WHERE name = :run AND {_ANCHORED}"
        noted = list(self.rows.all(query, run=anchor.name))
        if noted != [(canonical(anchor.to_json()), account.bucket)]:
            self.noting.put_run(anchor, account)

    def forget(self, anchor: Anchor) -> None:
        """Take this note back, with what it holds, unless it has become a run."""
        self.noting.take_back_run(anchor)

    def anchor(self, name: str) -> Anchor | None:
        """Return the run of this name, or None if this database has not seen it in the bucket."""
        return self._anchor(name, _ANCHORED)

    def note(self, name: str) -> Anchor | None:
        """Return the run that was noted under this name and not seen in the bucket, or None."""
        return self._anchor(name, f"NOT {_ANCHORED}")

    def bucket(self, name: str) -> str:
        """Return the bucket in which the run of this name was seen; nothing if it was not."""
        return self.rows.value(f"SELECT bucket FROM runs WHERE name = :run AND {_ANCHORED}", run=name) or ""

    def _anchor(self, name: str, wanted: str) -> Anchor | None:
        document = self.rows.value(f"SELECT document FROM runs WHERE name = :run AND {wanted}", run=name)
        if document is None:
            return None
        with damage_named("a run in the database"):
            return Anchor.from_json(json.loads(document), sweep_later=True)

    def names(self, *, anchored: bool = True) -> list[str]:
        """Return the names of all runs, newest first; or of what was noted and never seen in the bucket."""
        wanted = _ANCHORED if anchored else f"NOT {_ANCHORED}"
        return self.rows.column(f"SELECT name FROM runs WHERE {wanted} ORDER BY created_at DESC, name")

    def workloads(self) -> list[tuple[str, str]]:
        """Return all runs with their workloads, newest run first."""
        query = f"SELECT name, workload FROM runs WHERE {_ANCHORED} AND workload IS NOT NULL"
        rows = self.rows.all(f"{query} ORDER BY created_at DESC, name")
        return [(row.name, row.workload) for row in rows]

    def cancelled(self, run: str) -> bool:
        return bool(self._column(run, "cancelled"))

    def mark_cancelled(self, run: str, cancelled: bool) -> None:
        if self.cancelled(run) != cancelled:
            self.noting.change_run(run, cancelled=cancelled)

    def paused(self, run: str) -> str:
        """Return in words why the newest submission is paused; nothing if it is not."""
        number = self.rows.value("SELECT max(number) FROM submissions WHERE run = :run", run=run)
        return self.progress(run).paused.get(str(number), "")

    def progress(self, run: str) -> Progress:
        """Return how far the bucket has been read. A note that cannot be understood is none: all is read anew."""
        seen = self._column(run, "seen")
        if not seen:
            return Progress()
        try:
            with damage_named(f"run {run} in the database"):
                return Progress.from_json(json.loads(seen))
        except Damaged as error:
            log.warning("%s: the bucket is read anew", error)
            return Progress()

    def save_progress(self, run: str, progress: Progress) -> None:
        self.noting.change_run(run, seen=json.dumps(progress.to_json()))

    def measured(self, run: str) -> Measured:
        """Return the metrics that are kept with the run; none if they cannot be understood."""
        kept = self._column(run, "measured")
        if not kept:
            return Measured()
        try:
            with damage_named(f"metrics of run {run} in the database"):
                return Measured.from_json(json.loads(kept))
        except Damaged as error:
            log.warning("%s: they are left out", error)
            return Measured()

    def save_measured(self, run: str, measured: Measured) -> None:
        self.noting.change_run(run, measured=json.dumps(measured.to_json()))

    def submissions(self, run: str) -> list[Submission]:
        """Return the submissions that are known, in order. One that cannot be understood is not known."""
        known = []
        for document in self.rows.column("SELECT document FROM submissions WHERE run = :run ORDER BY number", run=run):
            try:
                with damage_named(f"a submission of run {run} in the database"):
                    known.append(Submission.from_json(json.loads(document)))
            except Damaged as error:
                log.warning("%s: it is read anew", error)
        return known

    def is_looked_at(self, run: str) -> bool:
        """Return whether anything is known of the run but its plan: it was submitted from here, or looked at."""
        return self.rows.value("SELECT number FROM submissions WHERE run = :run LIMIT 1", run=run) is not None

    def expect(self, run: str, submission: Submission) -> None:
        """Note a submission and its arrays; tasks that left a result in an earlier one are pending again."""
        query = "SELECT document FROM submissions WHERE run = :run AND number = :number"
        noted = self.rows.value(query, run=run, number=submission.number)
        if noted != canonical(submission.to_json()):  # what lies in the bucket is the truth
            self.noting.put_submission(run, submission, self.silent(run).minus(submission.tasks))

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
        query = "SELECT submission, number, job_id FROM arrays WHERE run = :run"
        return {(row.submission, row.number): row.job_id for row in self.rows.all(query, run=run)}

    def record(self, array: Array, job: str) -> None:
        """Note the job of an array. The first one stays: a second is harmless, but is not what we watch."""
        self.noting.put_job(array, job)
