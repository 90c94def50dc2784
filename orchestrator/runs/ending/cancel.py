"""Cancel a run: stop all of it, and return only when nothing runs any more."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from orchestrator.runs.ending.settle import poll
from orchestrator.runs.known.lease import renew
from orchestrator.runs.known.sync import READERS, read_results, settle_all, sync
from orchestrator.runs.written.anchor import add_submission, submissions
from orchestrator.runs.written.submission import everything

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.known.ledger import Ledger
    from orchestrator.runs.written.anchor import Anchor
    from orchestrator.wire.result import Attempt

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


def _stop(anchor: Anchor, ledger: Ledger, cloud: Cloud) -> bool:
    """Ask every training that has not ended to stop. Return whether there was one."""
    ended = {one.result.task: one.result.attempt for one in ledger.known(anchor.name) if one.state.terminal}

    def stop(attempt: Attempt) -> bool:
        outcome = poll(attempt, cloud)
        if outcome is None or outcome.state.terminal:
            return False
        cloud.runner(attempt.lane.platform).stop(attempt)
        return True

    newest = [one for one in cloud.control(anchor.name).newest_attempts() if ended.get(one.task, 0) < one.number]
    with ThreadPoolExecutor(READERS) as pool:
        return any(list(pool.map(stop, newest)))
