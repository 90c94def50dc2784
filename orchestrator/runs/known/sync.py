"""Bring the ledger up to date with the control bucket, and settle the tasks whose launchers died without a word."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from orchestrator.runs.ending.lost import find_lost
from orchestrator.runs.ending.over import conclude_if_over
from orchestrator.runs.ending.settle import latest, settle_all
from orchestrator.runs.known.lease import held, renew
from orchestrator.runs.known.results import Known
from orchestrator.wire.ranges import Ranges
from orchestrator.wire.result import Result, TaskState

if TYPE_CHECKING:
    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.known.ledger import Ledger
    from orchestrator.runs.written.anchor import Anchor
    from orchestrator.runs.written.submission import Submission

READERS = 16
"""Result objects that are read or written at once."""


def sync(anchor: Anchor, made: list[Submission], ledger: Ledger, cloud: Cloud) -> int:
    """Read the results that changed, then settle tasks whose launcher is gone. Return how many tasks changed.

    Only at its home is anything said of a run's launchers: elsewhere they are not known, which proves nothing.
    """
    marker = cloud.control(anchor.name).cancel_marker()
    cancelled = bool(made) and made[-1].number <= marker.through
    ledger.mark_cancelled(anchor.name, cancelled)
    for submission in made:
        ledger.expect(anchor.name, submission)
    at_home = not cloud.elsewhere(anchor.home)
    if at_home:
        find_jobs(anchor, made, ledger, cloud)
    moved = read_results(anchor, made, ledger, cloud)
    lost = find_lost(anchor, made, marker.through, ledger, cloud) if at_home else {}
    if settle_all(anchor, made, lost, cloud):
        read_results(anchor, made, ledger, cloud)
    ended = marker.ended
    if cancelled and ended < marker.through and at_home and conclude_if_over(anchor, made, ledger, cloud):
        ended = marker.through
        read_results(anchor, made, ledger, cloud)
    stopped = bool(ended) and ledger.end_waiting(anchor.name, _belonging(made, ended))
    if moved or lost or stopped or not held(anchor.name, ledger):
        renew(anchor, ledger)
    return moved + len(lost)


def _belonging(made: list[Submission], through: int) -> Ranges:
    """Return the tasks that belong to one of the submissions 1..through."""
    newer = Ranges.union(submission.tasks for submission in made if submission.number > through)
    return Ranges.union(submission.tasks for submission in made if submission.number <= through).minus(newer)


def find_jobs(anchor: Anchor, made: list[Submission], ledger: Ledger, cloud: Cloud) -> None:
    """Note the jobs of arrays that another machine has submitted."""
    for submission in made:
        for array in ledger.unsent(anchor.name, submission):
            job = cloud.batch.find(array.name, cloud.queue(array.lot))
            if job is not None:
                ledger.record(array, job)


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
