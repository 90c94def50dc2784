"""Splits the time of one task into parts that add up, and tells honestly what none of them explains."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from orchestrator.errors import AccessError
from orchestrator.platforms.registry import make_operating
from orchestrator.runs.patience import PASSING
from orchestrator.runs.why.refused import find_refused
from orchestrator.runs.written.submission import latest
from orchestrator.wire.ranges import Ranges

if TYPE_CHECKING:
    from orchestrator.aws.jobs.batch_job import Job
    from orchestrator.platforms.lives import StepTaken
    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.known.ledger import Ledger
    from orchestrator.runs.why.hindrance import Hindrance
    from orchestrator.runs.written.anchor import Anchor
    from orchestrator.runs.written.submission import Submission
    from orchestrator.wire.result import Attempt, Outcome

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
    held_up: tuple[Hindrance, ...] = ()
    """What it was refused, with what to do."""
    unseen: dict[str, str] = field(default_factory=dict)
    """Regions that could not be asked, each with the reason: what happened there is unaccounted."""


@dataclass(frozen=True)
class Lived:
    """What is known of the time of one attempt."""

    attempt: Attempt
    steps: list[StepTaken]
    outcome: Outcome | None = None
    """What its launcher has written down of it; None if it has written nothing."""

    @property
    def was_never_begun(self) -> bool:
        """It waits to be begun or was refused, as its launcher says, and its platform knows nothing else."""
        return not self.steps and self.outcome is not None and self.outcome.started_at is None

    @property
    def ended_at(self) -> float | None:
        """When it ended; None while it has not, or where nobody knows."""
        if self.steps:
            return self.steps[-1].ended_at
        return self.outcome.ended_at if self.outcome else None


def tell_story(
    anchor: Anchor, made: list[Submission], task: int, ledger: Ledger, cloud: Cloud, now: float
) -> Story | None:
    """Return where the time of a task has gone; None if no submission of it is known.

    Regions that do not answer are left out, and named.
    """
    if not any(task in submission.tasks for submission in made):
        return None
    submission = latest(made, task)
    job = _launcher(anchor, submission, task, ledger, cloud)
    began = submission.made_at or anchor.created_at
    known = list(ledger.known(anchor.name, Ranges.of([task])))
    outcomes = {outcome.number: outcome for one in known for outcome in one.result.outcomes}
    attempts = [one for one in cloud.control(anchor.name).attempts(task) if one.submission == submission.number]
    lived, unseen = [], {}
    for attempt in attempts:
        try:
            steps = list(make_operating(attempt.lane.platform).steps(cloud.clients, attempt))
            lived.append(Lived(attempt, steps, outcomes.get(attempt.number)))
        except (*PASSING, AccessError) as error:
            unseen[attempt.lane.region] = error.message
            lived.append(Lived(attempt, []))
    return replace(add_up(began, job, lived, now), held_up=tuple(find_refused(anchor, known)), unseen=unseen)


def add_up(began: float, job: Job | None, lived: list[Lived], now: float) -> Story:
    """Return the story of a task that was submitted at `began`, by its launcher's job and its attempts' steps."""
    spans: list[tuple[str, float, float]] = []
    started = job.started_at if job else None
    first = lived[0].attempt.recorded_at if lived else None
    begun = now if first is None else first
    spans.append((SLOTS, began, begun if started is None else started))
    if started is not None:
        spans.append((LAUNCHER, started, begun))
    ended = None
    for one in lived:
        at = one.attempt.recorded_at
        if ended is not None:
            spans.append((NOTICED, ended, at))
        for step in one.steps:
            spans.append((BETWEEN, at, step.began_at))
            last = now if step.ended_at is None else step.ended_at
            spans.append((step.step.value, max(step.began_at, at), last))
            at = max(last, at)
        ended = None if one.ended_at is None else max(one.ended_at, at)
        if one.was_never_begun:
            spans.append((BETWEEN, at, now if ended is None else ended))
    end = now if job is None or job.stopped_at is None else job.stopped_at
    if ended is not None:
        spans.append((NOTICED, ended, end))
    seconds: dict[str, float] = {}
    for name, first_at, last_at in spans:
        spent = max(min(last_at, end) - max(first_at, began), 0.0)
        if spent or name in (SLOTS, LAUNCHER):
            seconds[name] = seconds.get(name, 0.0) + spent
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
