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

    The first submission is as old as its run. A later one has all the time anew.
    """
    sweep = anchor.plan.sweep
    if not sweep.weighs_spot or sweep.plan.deadline is None:
        return None
    return (submission.made_at or anchor.created_at) + seconds(sweep.plan.deadline)


def with_deadline(task: Task, moment: float | None) -> Task:
    """Return the task with its deadline, if its launcher is to weigh places by it."""
    if moment is None or not task.limits.saved_every_s:
        return task
    return replace(task, limits=replace(task.limits, end_by=moment))
