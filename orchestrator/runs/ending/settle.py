"""Settling: a launcher has died without a word, `sync` has found out, and here its task's end is written down."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.wire.result import Attempt, Outcome, Result, TaskState

if TYPE_CHECKING:
    from orchestrator.aws.control import Control
    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.written.anchor import Anchor
    from orchestrator.runs.written.submission import Submission


def settle(anchor: Anchor, submission: Submission, task: int, reason: str, cloud: Cloud) -> bool:
    """Write how the task ended. Return False while its training still runs, for then it has not.

    Call it only for tasks whose Batch child has ended: nobody else writes for them any more.
    """
    control = cloud.control(anchor.name)
    attempt = _current(control, task, submission)
    outcome = poll(attempt, cloud) if attempt else None
    if outcome and not outcome.state.terminal:
        return False
    found = control.result(task)
    outcomes = found[0].outcomes if found else ()
    if outcome:
        outcomes = (*(one for one in outcomes if one.number != outcome.number), outcome)
    # The platform's word, else the launcher's last one, else Batch's.
    if outcome and outcome.reason:
        reason = outcome.reason
    elif not outcome and found and found[0].reason:
        reason = found[0].reason
    state = TaskState.FAILED
    if outcome and outcome.state is TaskState.DONE:
        state, reason = TaskState.DONE, ""
    elif control.cancelled(submission.number):
        state, reason = TaskState.CANCELLED, "cancelled"
    key = anchor.plan.task(task, code=anchor.code).key
    curves = found[0].curves if found else {}
    control.write_result(Result(task, key, state, reason, outcomes, submission.number, curves))
    return True


def poll(attempt: Attempt, cloud: Cloud) -> Outcome | None:
    """Return how a recorded training stands, or None when its Region has never heard of it."""
    return cloud.runner(attempt.lane.platform).poll(attempt)


def _current(control: Control, task: int, submission: Submission) -> Attempt | None:
    """Return the newest attempt, unless it belongs to an earlier submission."""
    attempts = control.attempts(task)
    return attempts[-1] if attempts and attempts[-1].number > submission.attempts_before(task) else None
