"""Retry: submit again those tasks of a run that ended without being done, or exactly the tasks that are named."""

from __future__ import annotations

import time
from collections import defaultdict
from typing import TYPE_CHECKING

from orchestrator.errors import UsageError
from orchestrator.runs.known.gone import check_submissions
from orchestrator.runs.known.sync import sync
from orchestrator.runs.sending.envelopes import hold_again
from orchestrator.runs.sending.payable import payable
from orchestrator.runs.sending.submit import send
from orchestrator.runs.written.anchor import add_submission, check_there, submissions
from orchestrator.runs.written.plan_now import planned_now
from orchestrator.runs.written.submission import Submission, parts
from orchestrator.wire.ranges import Ranges
from orchestrator.wire.result import TaskState

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.known.ledger import Ledger
    from orchestrator.runs.written.anchor import Anchor


def retry(anchor: Anchor, tasks: Ranges | None, ledger: Ledger, cloud: Cloud, *, again: bool = False) -> Ranges:
    """Submit again what ended without being done, or exactly these tasks. Return what was submitted.

    UsageError if one of these has not ended, or is done: `again` trains it all the same. Refused where no dollars are
    left for them.
    """
    cloud.refuse_elsewhere(anchor.name, anchor.home)
    check_there(cloud.s3, anchor.name)
    wanted = None if tasks is None else anchor.checked(tasks)
    made = list(submissions(cloud.s3, anchor.name))
    cancelled = cloud.control(anchor.name).cancel_marker().through
    sent = [one for one in made if one.number > cancelled and _send(anchor, made, one, ledger, cloud)]
    if sent and sent[-1].number > 1 and sent[-1].planned is None and wanted in (None, sent[-1].tasks):
        return sent[-1].tasks  # this very retry, killed on its way
    sync(anchor, ledger, cloud, documents=False, whole=True)
    if len(ledger.submissions(anchor.name)) > len(made) < len(list(submissions(cloud.s3, anchor.name))):
        return retry(
            anchor, tasks, ledger, cloud, again=again
        )  # somebody retries beside us, and may die before it is sent
    check_submissions(anchor, made, ledger, cloud)
    _refuse_while_cancelled(anchor, made, cloud)
    ended = ledger.ends(anchor.name)
    if wanted is None:
        wanted = Ranges.of(task for task, (state, _) in ended.items() if state is not TaskState.DONE)
    else:
        _refuse_unfinished(anchor, wanted, ended.keys() | ledger.damage.tasks(anchor.name))
        if not again:
            damaged = ledger.damage.tasks(anchor.name)
            _refuse_done(anchor, Ranges.of(task for task in wanted if task not in damaged), ended)
    now = planned_now(anchor, made)
    wanted = payable(now, wanted, ledger, named=tasks is not None)
    if not wanted:
        return wanted
    after: dict[int, list[int]] = defaultdict(list)
    for task, (_, attempts) in ended.items():
        if attempts and task in wanted:
            after[attempts].append(task)
    behind = tuple((attempts, Ranges.of(after[attempts])) for attempts in sorted(after))
    hold_again(anchor, ledger, cloud)
    submission = Submission(len(made) + 1, parts(now.plan, wanted), behind, time.time())
    if not add_submission(cloud.s3, anchor.name, submission):
        return retry(
            anchor, tasks, ledger, cloud, again=again
        )  # somebody else had its number first: what have they left to us?
    _send(anchor, made, submission, ledger, cloud)
    ledger.mark_cancelled(anchor.name, False)
    return wanted


def _send(anchor: Anchor, made: list[Submission], one: Submission, ledger: Ledger, cloud: Cloud) -> bool:
    return send(planned_now(anchor, made, one.number), one, ledger, cloud)


def _refuse_while_cancelled(anchor: Anchor, made: list[Submission], cloud: Cloud) -> None:
    marker = cloud.control(anchor.name).cancel_marker()
    if made and marker.ended < made[-1].number <= marker.through:
        hint = f"`sweep cancel {anchor.name}` waits until all has stopped"
        raise UsageError(f"run {anchor.name!r} is still being cancelled", hint=hint)


def _refuse_unfinished(anchor: Anchor, wanted: Ranges, ended: Container[int]) -> None:
    busy = Ranges.of(task for task in wanted if task not in ended)
    if busy:
        raise UsageError(f"task {busy} of run {anchor.name!r} has not ended yet", hint="wait for it, or cancel the run")


def _refuse_done(anchor: Anchor, wanted: Ranges, ended: Mapping[int, tuple[TaskState, int]]) -> None:
    done = Ranges.of(task for task in wanted if task in ended and ended[task][0] is TaskState.DONE)
    if done:
        what = f"task {done} of run {anchor.name!r} is done"
        raise UsageError(what, hint="--again trains it once more, and pays for it once more")
