"""Which tasks have lost their launcher: their Batch child has ended, and they have not.

Batch's word that a child has failed is proof, wherever it comes from. An answer without the job is none: it may be a
slip, another Region or another account. Only long after Batch may forget, and asked twice at the run's home, it is.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from orchestrator.runs.written.submission import latest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.aws.jobs.batch_job import Job
    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.known.ledger import Ledger
    from orchestrator.runs.written.anchor import Anchor
    from orchestrator.runs.written.submission import Array, Submission

REMEMBERED_S = 8 * 24 * 3600
"""Seconds for which Batch surely knows a job: it forgets one seven days after it has ended."""

MOST_STARTS = 10
"""Times that Batch starts a launcher, at the most: its job definition says so."""


def find_lost(anchor: Anchor, made: list[Submission], cancelled: int, ledger: Ledger, cloud: Cloud) -> dict[int, str]:
    """Return the tasks that have not ended though their Batch child has, each with the reason that Batch gives.

    Submissions 1..cancelled are cancelled: what was stopped before it began needs nobody to speak for it.
    """
    left = dict(_unfinished(anchor, made, cancelled, ledger))
    jobs = {job.id: job for job in cloud.batch.describe(list(left))}
    lost: dict[int, str] = {}
    for job_id, (array, tasks) in left.items():
        job = jobs.get(job_id)
        if job is not None:
            lost |= _failed(job, array, tasks, cloud)
        elif is_forgotten(anchor, array, made, cloud):
            lost |= dict.fromkeys(tasks, "Batch no longer knows its job")
    return lost


def _unfinished(
    anchor: Anchor, made: list[Submission], cancelled: int, ledger: Ledger
) -> Iterator[tuple[str, tuple[Array, set[int]]]]:
    """Yield the job of each array that was sent, with those of its tasks that have not ended."""
    begun = ledger.begun(anchor.name)
    for sent in ledger.arrays(anchor.name, made):
        if sent.job is None:
            continue
        array = sent.array
        if array.submission <= cancelled:
            tasks = {task for task in begun if task in array.tasks}
        else:
            tasks = set(ledger.unfinished(anchor.name, array.tasks))
        tasks = {task for task in tasks if latest(made, task).number == array.submission}
        if tasks:
            yield sent.job, (array, tasks)


def _failed(job: Job, array: Array, mine: set[int], cloud: Cloud) -> dict[int, str]:
    if job.status != "FAILED" and not job.counts.get("FAILED"):
        return {}
    children = {array.tasks[child.index]: child for child in cloud.batch.failed_children(job.id)}
    gone = {task: children[task] for task in mine if task in children}
    # Listings do not say how often a child was started.
    starts = {child.id: child.starts for child in cloud.batch.describe([child.id for child in gone.values()])}
    return {task: _said(child.reason, starts.get(child.id, 0)) for task, child in gone.items()}


def _said(reason: str, starts: int) -> str:
    """Return Batch's reason, and how often it has started the launcher if that was more than once."""
    if starts < 2:
        return reason
    again = "as often as it may" if starts >= MOST_STARTS else "in all"
    return f"{reason or 'gone'} (Batch has started the launcher {starts} times, {again})"


def is_forgotten(anchor: Anchor, array: Array, made: list[Submission], cloud: Cloud) -> bool:
    """Return whether the job of an array, which Batch was asked for by its id in vain, is so old that it has ended."""
    submission = next(one for one in made if one.number == array.submission)
    made_at = submission.made_at or (anchor.created_at if submission.number == 1 else time.time())
    if anchor.home is None or time.time() - made_at < REMEMBERED_S:
        return False
    home = anchor.home
    asked_right = cloud.account.id == cloud.signed_in == home.account != ""
    return asked_right and not cloud.batch.named(array.name, cloud.queue(array.lot))
