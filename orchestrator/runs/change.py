"""Change a run that is under way: stop all of it, or run again what did not work."""

from __future__ import annotations

import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from orchestrator.errors import AlreadyExists, UsageError
from orchestrator.runs.anchor import add_submission, submissions
from orchestrator.runs.lease import renew
from orchestrator.runs.settle import handle, poll
from orchestrator.runs.submission import Submission, everything, parts
from orchestrator.runs.submit import send
from orchestrator.runs.sync import READERS, read_results, settle_all, sync
from orchestrator.wire.ranges import Ranges
from orchestrator.wire.result import Attempt, TaskState

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.runs.anchor import Anchor
    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.ledger import Ledger

AGAIN_S = 1.0
"""Between two rounds of a cancel: Batch and SageMaker take their time to stop."""


def cancel(anchor: Anchor, ledger: Ledger, cloud: Cloud, sleep: Callable[[float], None] = time.sleep) -> None:
    """Stop everything, and return only when nothing runs any more. Killed on the way, call it again.

    The marker comes first, so that nothing new starts; a training that slipped through is stopped by its launcher,
    which looks at the marker after each Create, or by the next round here.
    """
    # A submit may be about to make the first submission: then it finds it made, and cancelled.
    add_submission(cloud.s3, anchor.name, everything(anchor.plan))
    made = list(submissions(cloud.s3, anchor.name))
    cloud.control(anchor.name).cancel(through=made[-1].number)
    sync(anchor, made, ledger, cloud)
    jobs = [sent.job for sent in ledger.arrays(anchor.name, made) if sent.job]
    while True:
        alive = [job.id for job in cloud.batch.describe(jobs) if not job.ended]
        for job in alive:
            cloud.batch.terminate(job, "cancelled")
        running = _stop(anchor, ledger, cloud)
        if not alive and not running:
            break
        sleep(AGAIN_S)
        read_results(anchor, made, ledger, cloud)
    left = ledger.unfinished(anchor.name, anchor.tasks)
    settle_all(anchor, made, dict.fromkeys(left, "cancelled"), cloud)
    read_results(anchor, made, ledger, cloud)
    renew(anchor, ledger)


def retry(anchor: Anchor, tasks: Ranges | None, ledger: Ledger, cloud: Cloud) -> Ranges:
    """Submit again what ended without being done, or exactly these tasks. What was submitted."""
    wanted = None if tasks is None else anchor.checked(tasks)
    made = list(submissions(cloud.s3, anchor.name))
    sent = [submission for submission in made if send(anchor, submission, ledger, cloud)]
    if sent and sent[-1].number > 1 and wanted in (None, sent[-1].tasks):
        return sent[-1].tasks  # this very retry, killed on its way
    sync(anchor, made, ledger, cloud)
    known = {one.result.task: one for one in ledger.known(anchor.name, wanted)}
    ended = {task for task, one in known.items() if one.state.terminal}
    if wanted is None:
        wanted = Ranges.of(task for task in ended if known[task].state is not TaskState.DONE)
    else:
        _ended(anchor, wanted, ended)
    if not wanted:
        return wanted
    after: dict[int, list[int]] = defaultdict(list)
    for task in wanted:
        after[known[task].result.attempt].append(task)
    behind = tuple((attempts, Ranges.of(after[attempts])) for attempts in sorted(after) if attempts)
    submission = Submission(len(made) + 1, parts(anchor.plan, wanted), behind)
    if not add_submission(cloud.s3, anchor.name, submission):
        raise AlreadyExists(
            f"somebody else has just made submission {submission.number} of run {anchor.name!r}",
            hint="look at `sweep status`, then retry what is still not done",
        )
    send(anchor, submission, ledger, cloud)
    ledger.mark_cancelled(anchor.name, False)
    return wanted


def _ended(anchor: Anchor, wanted: Ranges, ended: set[int]) -> None:
    busy = Ranges.of(task for task in wanted if task not in ended)
    if busy:
        raise UsageError(f"task {busy} of run {anchor.name!r} has not ended yet", hint="wait for it, or cancel the run")


def _stop(anchor: Anchor, ledger: Ledger, cloud: Cloud) -> bool:
    """Ask every training that has not ended to stop. Whether there was one."""
    ended = {one.result.task: one.result.attempt for one in ledger.known(anchor.name) if one.state.terminal}

    def stop(attempt: Attempt) -> bool:
        outcome = poll(anchor, attempt, cloud)
        if outcome is None or outcome.state.terminal:
            return False
        cloud.platform(attempt.lane.platform).stop(handle(anchor, attempt))
        return True

    newest = [one for one in cloud.control(anchor.name).newest_attempts() if ended.get(one.task, 0) < one.number]
    with ThreadPoolExecutor(READERS) as pool:
        return any(list(pool.map(stop, newest)))
