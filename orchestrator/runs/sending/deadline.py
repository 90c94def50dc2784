"""The deadline of a task as a moment: a plan counts hours, and the clock runs from when the task was submitted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.spec.duration import seconds

if TYPE_CHECKING:
    from orchestrator.runs.written.anchor import Anchor
    from orchestrator.runs.written.submission import Submission
    from orchestrator.wire.task import Task


def end_by(anchor: Anchor, submission: Submission) -> float | None:
    """Return when the submission's tasks are to end, in seconds since the epoch; None without a deadline to be kept.

    The first submission is as old as its run. A retry has all the time anew, tasks that were planned anew have not.
    """
    sweep = anchor.plan.sweep
    if not sweep.weighs_spot or sweep.plan.deadline is None:
        return None
    return counts_from(anchor, submission) + seconds(sweep.plan.deadline)


def counts_from(anchor: Anchor, submission: Submission) -> float:
    """Return the moment from which the deadline of the submission's tasks counts, in seconds since the epoch."""
    return submission.since or submission.made_at or anchor.created_at


def with_deadline(task: Task, moment: float | None) -> Task:
    """Return the task with its deadline, if its launcher is to weigh places by it."""
    if moment is None or not task.limits.saved_every_s:
        return task
    return replace(task, limits=replace(task.limits, end_by=moment))
