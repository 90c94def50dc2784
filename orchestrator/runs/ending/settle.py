"""Settling: a launcher has died without a word, and here its task's end is written down."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.launcher.moving.closing import close_move
from orchestrator.runs.ending.unheard import hear
from orchestrator.runs.patience import PASSING
from orchestrator.runs.written.submission import latest
from orchestrator.wire.result import Attempt, Cause, Outcome, Result, TaskState

if TYPE_CHECKING:
    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.written.anchor import Anchor
    from orchestrator.runs.written.submission import Submission

log = logging.getLogger(__name__)

WORKERS = 16
"""Tasks that are settled at once."""


def settle_all(anchor: Anchor, made: list[Submission], lost: dict[int, str], cloud: Cloud) -> set[int]:
    """Settle these tasks, each with the reason why its launcher is gone. Return those that came to their end.

    What cannot be asked just now is left to the next time. Any other error is raised once all the others are settled.
    """

    def one(task: int) -> bool:
        try:
            return settle(anchor, latest(made, task), task, lost[task], cloud)
        except PASSING as error:
            log.warning("task %d: how it ended is not known yet: %s", task, error.message)
            return False

    with ThreadPoolExecutor(WORKERS) as pool:
        asked = {task: pool.submit(one, task) for task in lost}
    return {task for task, answer in asked.items() if answer.result()}


def settle(anchor: Anchor, submission: Submission, task: int, reason: str, cloud: Cloud) -> bool:
    """Write how the task ended. Return False while its training still runs, for then it has not.

    Call it only for tasks whose Batch child has ended: nobody else writes for them any more.
    """
    control = cloud.control(anchor.name)
    attempts = control.attempts(task)
    attempt = _current(attempts, task, submission)
    outcome = poll(attempt, cloud) if attempt else None
    if outcome and not outcome.state.terminal:
        return False
    if outcome and outcome.cause is Cause.STOPPED and control.s3.exists(control.keys.moved(task, outcome.number)):
        why = "it was stopped to go on elsewhere, and its launcher died before that"
        outcome = replace(outcome, state=TaskState.FAILED, cause=Cause.INTERRUPTED, reason=why)
    found = control.result(task)
    outcomes = {one.number: one for one in found[0].outcomes} if found else {}
    curves = found[0].curves if found else {}
    if attempt and outcome:
        before = outcomes.get(outcome.number)
        outcome = outcome.following(before)
        if outcome.state is TaskState.DONE and not (before and before.state.terminal):
            outcome, curves = hear(attempt, outcome, curves, anchor.name, cloud)
        outcomes[outcome.number] = outcome
    outcomes |= _untold(attempts, outcomes, cloud)
    described = anchor.plan.task(task, code=anchor.code, after=submission.attempts_before(task))
    if attempts and anchor.plan.sweep.train.checkpoints is not None:
        moved_usd = close_move(described, attempts, control, cloud.runner)
        newest = outcomes.get(attempts[-1].number)
        if moved_usd is not None and newest:
            outcomes[newest.number] = replace(newest, moved_usd=moved_usd)
    # The platform's word of what ran to the end, else the launcher's last one, else Batch's.
    said = found[0] if found and found[0].reason and found[0].submission == submission.number else None
    if said and (not outcome or _has_seen_the_end(said, outcome)):
        reason = said.reason if said.state.terminal else _died_waiting(reason, said.reason)
    elif outcome and outcome.reason:
        reason = outcome.reason
    cancelled = control.cancelled(submission.number)
    state = _state(outcome, cancelled=cancelled)
    if state is TaskState.CANCELLED and cancelled:
        reason = "cancelled"
    elif state is TaskState.DONE:
        reason = ""
    in_order = tuple(outcomes[number] for number in sorted(outcomes))
    control.write_result(Result(task, described.key, state, reason, in_order, submission.number, curves))
    return True


def _has_seen_the_end(said: Result, outcome: Outcome) -> bool:
    """Return whether a launcher had told the end of this attempt: what it said last is then about what follows."""
    return any(one.number == outcome.number and one.state.terminal for one in said.outcomes)


def _died_waiting(batch: str, last: str) -> str:
    """Return why a task has failed whose launcher only ever said what it waited for: that was not its end."""
    return f"its launcher died while it waited: {batch or 'Batch gives no reason'}; it had said last: {last}"


def poll(attempt: Attempt, cloud: Cloud) -> Outcome | None:
    """Return how a recorded training stands, or None when its Region has never heard of it."""
    return cloud.runner(attempt.lane.platform).poll(attempt)


def _state(outcome: Outcome | None, *, cancelled: bool) -> TaskState:
    """Return how a task has ended: what is done stays done, and what failed by itself before a cancel has failed."""
    if outcome and outcome.state is TaskState.DONE:
        return TaskState.DONE
    if outcome and outcome.state is TaskState.CANCELLED:
        return TaskState.CANCELLED  # somebody has stopped it, as `sweep reap` does
    by_itself = outcome is not None and outcome.cause in {Cause.TASK, Cause.TIMEOUT}
    return TaskState.CANCELLED if cancelled and not by_itself else TaskState.FAILED


def _untold(attempts: list[Attempt], outcomes: dict[int, Outcome], cloud: Cloud) -> dict[int, Outcome]:
    """Return how those attempts ended of which no end was told: their launcher saw it, and died before it wrote it."""
    untold = {}
    for attempt in attempts:
        known = outcomes.get(attempt.number)
        if known is None or not known.state.terminal:
            outcome = poll(attempt, cloud)
            if outcome:
                untold[attempt.number] = outcome.following(known)
    return untold


def _current(attempts: list[Attempt], task: int, submission: Submission) -> Attempt | None:
    """Return the newest attempt, unless it belongs to an earlier submission."""
    return attempts[-1] if attempts and attempts[-1].number > submission.attempts_before(task) else None
