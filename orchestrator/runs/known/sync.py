"""Bring the ledger up to date with the control bucket, and settle the tasks whose launchers died without a word."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from orchestrator.runs.ending.settle import settle
from orchestrator.runs.known.lease import held, renew
from orchestrator.runs.known.ledger import Known
from orchestrator.wire.ranges import Ranges
from orchestrator.wire.result import Result, TaskState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.known.ledger import Ledger
    from orchestrator.runs.written.anchor import Anchor
    from orchestrator.runs.written.submission import Submission

READERS = 16
"""Result objects that are read or written at once."""


def sync(anchor: Anchor, made: list[Submission], ledger: Ledger, cloud: Cloud) -> int:
    """Read the results that changed, then settle tasks whose launcher is gone. Return how many tasks changed."""
    if made:
        ledger.mark_cancelled(anchor.name, cloud.control(anchor.name).cancelled(made[-1].number))
    for submission in made:
        ledger.expect(anchor.name, submission)
        for array in ledger.unsent(anchor.name, submission):
            job = cloud.batch.find(array.name, cloud.queue(array.lot))
            if job is not None:
                ledger.record(array, job)
    moved = read_results(anchor, made, ledger, cloud)
    lost = dict(_lost(anchor, made, ledger, cloud))
    if settle_all(anchor, made, lost, cloud):
        read_results(anchor, made, ledger, cloud)
    if moved or lost or not held(anchor.name, ledger):
        renew(anchor, ledger)
    return moved + len(lost)


def read_results(anchor: Anchor, made: list[Submission], ledger: Ledger, cloud: Cloud) -> int:
    """Read the results that changed, and return how many. Only our own objects are listed, never AWS's trainings."""
    changed = [item.key for item in cloud.s3.changed(anchor.keys.results, ledger.etags(anchor.name))]

    def read(key: str) -> Known:
        stored = cloud.s3.get(key)
        result = Result.from_json(stored.json())
        superseded = result.submission < latest(made, result.task).number
        return Known(stored.etag, result, TaskState.PENDING if superseded else result.state)

    with ThreadPoolExecutor(READERS) as pool:
        ledger.save(anchor.name, pool.map(read, changed))
    return len(changed)


def settle_all(anchor: Anchor, made: list[Submission], lost: dict[int, str], cloud: Cloud) -> bool:
    """Settle these tasks, each with the reason why its launcher is gone. Return whether any came to its end."""

    def one(task: int) -> bool:
        return settle(anchor, latest(made, task), task, lost[task], cloud)

    with ThreadPoolExecutor(READERS) as pool:
        return any(list(pool.map(one, lost)))


def latest(made: list[Submission], task: int) -> Submission:
    """Return the submission that a task belongs to now."""
    return next(submission for submission in reversed(made) if task in submission.tasks)


def _lost(anchor: Anchor, made: list[Submission], ledger: Ledger, cloud: Cloud) -> Iterator[tuple[int, str]]:
    """Yield tasks that have not ended though their Batch child has, each with the reason that Batch gives."""
    open_arrays = {
        sent.job: (sent.array, left)
        for sent in ledger.arrays(anchor.name, made)
        if sent.job is not None and (left := ledger.unfinished(anchor.name, sent.array.tasks))
    }
    jobs = {job.id: job for job in cloud.batch.describe(list(open_arrays))}
    for job_id, (array, left) in open_arrays.items():
        mine = Ranges.of(task for task in left if latest(made, task).number == array.submission)
        job = jobs.get(job_id)
        if job is None:
            # Batch forgets what ended a week ago.
            yield from ((task, "Batch no longer knows its job") for task in mine)
        elif job.status == "FAILED" or job.counts.get("FAILED"):
            children = {array.tasks[child.index]: child.reason for child in cloud.batch.failed_children(job_id)}
            yield from ((task, children[task]) for task in mine if task in children)
