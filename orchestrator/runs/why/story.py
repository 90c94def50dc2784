"""Splits the time of one task into parts that add up, and tells honestly what none of them explains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.platforms.registry import make_operating
from orchestrator.runs.written.submission import latest

if TYPE_CHECKING:
    from orchestrator.aws.jobs.batch_job import Job
    from orchestrator.platforms.lives import StepTaken
    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.known.ledger import Ledger
    from orchestrator.runs.written.anchor import Anchor
    from orchestrator.runs.written.submission import Submission
    from orchestrator.wire.result import Attempt

SLOTS, LAUNCHER, NOTICED = "waiting for slots", "launcher start", "noticed"
BETWEEN = "refused, or about to start"


@dataclass(frozen=True)
class TimePart:
    """Seconds of a task's life that went into one thing."""

    name: str
    seconds: float


@dataclass(frozen=True)
class Story:
    """The life of a task since it was submitted, the last time if it was retried."""

    began_at: float
    total: float
    """Seconds from then until its launcher went, or until now."""
    parts: tuple[TimePart, ...]
    """Each name once, in the order in which they came first."""
    unaccounted: float
    """Seconds of the total that are in no part."""
    launcher: str
    """The status of its launcher's job in Batch, with the reason if it gives one; empty where Batch knows none."""


def tell_story(
    anchor: Anchor, made: list[Submission], task: int, ledger: Ledger, cloud: Cloud, now: float
) -> Story | None:
    """Return where the time of a task has gone; None if no submission of it is known."""
    if not any(task in submission.tasks for submission in made):
        return None
    submission = latest(made, task)
    job = _launcher(anchor, submission, task, ledger, cloud)
    began = submission.made_at or anchor.created_at
    attempts = [one for one in cloud.control(anchor.name).attempts(task) if one.submission == submission.number]
    taken = [(one, list(make_operating(one.lane.platform).steps(cloud.clients, one))) for one in attempts]
    return add_up(began, job, taken, now)


def add_up(began: float, job: Job | None, taken: list[tuple[Attempt, list[StepTaken]]], now: float) -> Story:
    """Return the story of a task that was submitted at `began`, by its launcher's job and its attempts' steps."""
    spans: list[tuple[str, float, float]] = []
    started = job.started_at if job else None
    first = taken[0][0].recorded_at if taken else None
    begun = now if first is None else first
    spans.append((SLOTS, began, begun if started is None else started))
    if started is not None:
        spans.append((LAUNCHER, started, begun))
    at = first
    for attempt, steps in taken:
        if at is not None and attempt.recorded_at > at:
            spans.append((NOTICED, at, attempt.recorded_at))
        at = attempt.recorded_at
        for step in steps:
            if step.began_at > at:
                spans.append((BETWEEN, at, step.began_at))
            last = now if step.ended_at is None else step.ended_at
            spans.append((step.step.value, max(step.began_at, at), last))
            at = max(last, at)
    end = now if job is None or job.stopped_at is None else job.stopped_at
    if at is not None and taken[-1][1] and taken[-1][1][-1].ended_at is not None and end > at:
        spans.append((NOTICED, at, end))
    seconds: dict[str, float] = {}
    for name, first_at, last_at in spans:
        seconds[name] = seconds.get(name, 0.0) + max(min(last_at, end) - max(first_at, began), 0.0)
    total = max(end - began, 0.0)
    parts = tuple(TimePart(name, spent) for name, spent in seconds.items())
    return Story(began, total, parts, total - sum(seconds.values()), _said(job))


def _launcher(anchor: Anchor, submission: Submission, task: int, ledger: Ledger, cloud: Cloud) -> Job | None:
    """Return the Batch child that is the task's launcher, if it can be asked for."""
    if cloud.elsewhere(anchor.home):
        return None
    for sent in ledger.arrays(anchor.name, [submission]):
        if sent.job and task in sent.array.tasks:
            tasks = sent.array.tasks
            return cloud.batch.child(sent.job, list(tasks).index(task), len(tasks))
    return None


def _said(job: Job | None) -> str:
    if job is None:
        return ""
    return f"{job.status}: {job.reason}" if job.reason else job.status
