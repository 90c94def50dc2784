"""What was ordered of a run: its submissions, and perhaps a cancel. Two listings tell whether there is anything new."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from orchestrator.aws.turns import Turns
from orchestrator.errors import Damaged, NewerVersion
from orchestrator.runs.known.gone import note_gone_submissions
from orchestrator.runs.written.anchor import check_there, read_submission
from orchestrator.wire.beside.markers import Limit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.known.ledger import Ledger
    from orchestrator.runs.written.anchor import Anchor
    from orchestrator.runs.written.submission import Submission
    from orchestrator.wire.beside.markers import CancelMarker


@dataclass(frozen=True)
class Orders:
    """The submissions of a run, in order, and which of them are to stop."""

    made: list[Submission]
    marker: CancelMarker

    @property
    def cancelled(self) -> bool:
        """All of it is to stop."""
        return bool(self.made) and self.made[-1].number <= self.marker.through


def read_orders(anchor: Anchor, ledger: Ledger, cloud: Cloud) -> Orders:
    """Return what was ordered of a run. Only what this database has not seen yet is read.

    UsageError if the bucket does not hold the run.
    """
    there = {item.key: item.etag for item in cloud.s3.level(anchor.keys.prefix)}
    check_there(cloud.s3, anchor.name, there)
    return Orders(_submissions(anchor, ledger, cloud), _marker(anchor, there, ledger, cloud))


def _submissions(anchor: Anchor, ledger: Ledger, cloud: Cloud) -> list[Submission]:
    known = {submission.number: submission for submission in ledger.submissions(anchor.name)}
    names = (item.key.rpartition("/")[2] for item in cloud.s3.level(anchor.keys.submissions))
    numbers = {int(name.removesuffix(".json")) for name in names if name.removesuffix(".json").isdecimal()}
    note_gone_submissions(anchor, numbers, max([*numbers, *known], default=0), ledger, cloud)
    made = []
    for number in sorted({*numbers, *known}):
        submission = known.get(number) or read_submission(cloud.s3, anchor.name, number)
        if submission is not None:
            _check(anchor, submission, cloud)
            ledger.expect(anchor.name, submission)
            made.append(submission)
    return made


def _read_measured(anchor: Anchor, ledger: Ledger, cloud: Cloud) -> bool:
    """Note the metrics that are kept with the run. Return False, with a note, if they cannot be understood."""
    try:
        ledger.save_measured(anchor.name, cloud.control(anchor.name).measured())
    except (Damaged, NewerVersion) as error:
        ledger.damage.note(error)
        return False
    return True


def _check(anchor: Anchor, submission: Submission, cloud: Cloud) -> None:
    """Raise Damaged unless the first submission has all tasks of the run, and no other has a task beyond them."""
    tasks = submission.tasks
    if tasks.minus(anchor.tasks) or (submission.number == 1 and anchor.tasks.minus(tasks)):
        where = cloud.s3.uri(anchor.keys.submission(submission.number))
        raise Damaged("cannot be understood: its tasks are not those of the run", where=where)
    planned = submission.planned
    if planned and (
        planned.tasks != tasks or any(share.dataset >= len(anchor.plan.datasets) for share in planned.shares)
    ):
        where = cloud.s3.uri(anchor.keys.submission(submission.number))
        raise Damaged("cannot be understood: what it has planned is not for its tasks", where=where)


def _marker(anchor: Anchor, there: Mapping[str, str], ledger: Ledger, cloud: Cloud) -> CancelMarker:
    progress = ledger.progress(anchor.name)
    etag, read = there.get(anchor.keys.cancel, ""), progress
    if etag != progress.cancel_etag:
        marker = cloud.control(anchor.name).cancel_marker()
        read = replace(read, cancel_etag=etag, through=marker.through, ended=marker.ended)
    etag = there.get(anchor.keys.pause, "")
    if etag != progress.pause_etag:
        reasons = cloud.control(anchor.name).pause_marker().reasons
        read = replace(read, pause_etag=etag, paused={str(number): why for number, why in reasons.items()})
    etag = there.get(anchor.keys.limit, "")
    if etag != progress.limit_etag:
        limit = Turns(cloud.control(anchor.name)).limit() if etag else Limit()
        read = replace(read, limit_etag=etag, limit=limit.slots)
    etag = there.get(anchor.keys.measured, "")
    if etag != progress.measured_etag and _read_measured(anchor, ledger, cloud):
        read = replace(read, measured_etag=etag)
    if read != progress:
        ledger.save_progress(anchor.name, read)
    return read.marker
