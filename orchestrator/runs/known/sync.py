"""Bring the ledger up to date with the control bucket, and settle the tasks whose launchers died without a word."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from orchestrator.errors import Damaged, NewerVersion
from orchestrator.runs.ending.lost import find_lost
from orchestrator.runs.ending.over import conclude_if_over
from orchestrator.runs.ending.settle import latest, settle_all
from orchestrator.runs.known.lease import held, renew
from orchestrator.runs.known.results import Known
from orchestrator.wire.ranges import Ranges
from orchestrator.wire.result import Result, TaskState
from orchestrator.wire.stored import damage_named

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
    _check_submissions(anchor, made, cloud)
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


def _check_submissions(anchor: Anchor, made: list[Submission], cloud: Cloud) -> None:
    """Raise Damaged unless the first submission has all tasks of the run, and no other has a task beyond them."""
    for submission in made:
        tasks = submission.tasks
        if tasks.minus(anchor.tasks) or (submission.number == 1 and anchor.tasks.minus(tasks)):
            where = cloud.s3.uri(anchor.keys.submission(submission.number))
            raise Damaged("cannot be understood: its tasks are not those of the run", where=where)


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

    def read(key: str) -> Known | None:
        stored, where = cloud.s3.get(key), cloud.s3.uri(key)
        try:
            with damage_named(where):
                result = _result_at(key, anchor, stored.json())
        except (Damaged, NewerVersion) as error:
            task = _task_of(key, anchor)
            if task is None:
                ledger.damage.note(error)
            else:
                ledger.damage.note_task(error, anchor.name, task)
            return None
        ledger.damage.mend(where, anchor.name, result.task)
        superseded = bool(made) and result.submission < latest(made, result.task).number
        return Known(stored.etag, result, TaskState.PENDING if superseded else result.state)

    with ThreadPoolExecutor(READERS) as pool:
        known = [one for one in pool.map(read, changed) if one]
    ledger.save(anchor.name, known)
    return len(known)


def _result_at(key: str, anchor: Anchor, body: dict[str, Any]) -> Result:
    """Return the result that is stored under this key. ValueError if it is another task's, or of none of the run's."""
    result = Result.from_json(body)
    if anchor.keys.result(result.task) != key or result.task not in anchor.tasks:
        raise ValueError(f"it says that it is the result of task {result.task}")
    return result


def _task_of(key: str, anchor: Anchor) -> int | None:
    """Return the task whose result has this key, or None."""
    number = key.removeprefix(anchor.keys.results).removesuffix(".json")
    return int(number) if number.isdecimal() and number.isascii() and len(number) < 19 else None
