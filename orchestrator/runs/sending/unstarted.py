"""Which tasks of a run have not been started, and what its other tasks hold meanwhile: what may be planned anew."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from orchestrator.errors import UsageError
from orchestrator.plan.slots import LotKey
from orchestrator.runs.ending.settle import poll
from orchestrator.runs.known.gone import check_submissions
from orchestrator.runs.known.sync import sync
from orchestrator.runs.sending.deadline import counts_from
from orchestrator.runs.sending.submit import send
from orchestrator.runs.written.anchor import check_there, submissions
from orchestrator.runs.written.plan_now import planned_now
from orchestrator.runs.written.submission import latest
from orchestrator.spec.duration import HOUR
from orchestrator.wire.ranges import Ranges
from orchestrator.wire.result import Cause, TaskState

if TYPE_CHECKING:
    from orchestrator.plan.plan import Plan
    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.known.ledger import Ledger
    from orchestrator.runs.known.rows import Known
    from orchestrator.runs.written.anchor import Anchor
    from orchestrator.runs.written.submission import Submission
    from orchestrator.wire.task import Lane

REFUSED_S = 3600.0
"""Seconds for which a lane that has refused a task of the run, and runs none, is taken to refuse the next."""
MOST_LOOKED_UP = 100
"""Attempts of which the platform is asked whether they were refused, at the most: AWS answers few calls a second."""
AT_LEAST_LEFT = 0.25
"""The part of its hours that a running task is thought to need yet, at the least: nobody knows when it ends."""


@dataclass(frozen=True)
class Unstarted:
    """The tasks of a run that have not been started, as it stood at one moment."""

    made: list[Submission]
    plan: Plan
    """The run's plan, as its submissions have left it."""
    tasks: Ranges
    """Tasks of which no training has run. Some may have been refused."""
    ran_before: Ranges
    """Tasks that wait to be run again: they stay, for what they may still cost differs from task to task."""
    refusals: dict[int, int]
    """Attempts that were refused, and of which no result tells yet: their number by their task."""
    running: tuple[Running, ...]
    """What the tasks hold that have begun."""
    refused: frozenset[Lane]
    """Lanes that have refused its tasks lately, and run none of them."""
    since: float
    """The moment from which the deadline of its tasks counts, in seconds since the epoch."""


@dataclass(frozen=True)
class Running:
    """A task that has begun, and the instances that it holds."""

    lot: LotKey
    instances: int
    hours_left: float
    """Hours that it is expected to hold them yet."""


def find_unstarted(anchor: Anchor, ledger: Ledger, cloud: Cloud) -> Unstarted:
    """Return which tasks have not been started. What of the run was never sent, is sent first.

    UsageError if the run is cancelled or paused: then its tasks do not wait for places.
    """
    cloud.refuse_elsewhere(anchor.name, anchor.home)
    check_there(cloud.s3, anchor.name)
    made = list(submissions(cloud.s3, anchor.name))
    _refuse_stopped(anchor, made, cloud)
    for one in made[cloud.control(anchor.name).cancel_marker().through :]:
        send(planned_now(anchor, made, one.number), one, ledger, cloud)
    sync(anchor, ledger, cloud, whole=True)
    check_submissions(anchor, made, ledger, cloud)
    plan = planned_now(anchor, made).plan
    known = {one.result.task: one for one in ledger.known(anchor.name)}
    refusals = _refusals(anchor, made, known, ledger, cloud)
    waiting, ran_before, begun = _sorted_out(anchor, made, known, refusals, ledger, cloud)
    running = tuple(_running(plan, task, known.get(task)) for task in begun)
    since = min((counts_from(anchor, latest(made, task)) for task in waiting), default=anchor.created_at)
    refused = _refusing(known, refusals, running)
    return Unstarted(made, plan, waiting, ran_before, refusals, running, refused, since)


def still_unstarted(anchor: Anchor, found: Unstarted, tasks: Ranges, ledger: Ledger, cloud: Cloud) -> Ranges:
    """Return those of the tasks that nobody has begun to start since they were looked at."""
    ended = _newest_ended(anchor, found.refusals, ledger)
    recorded = dict(cloud.control(anchor.name).recorded())
    return tasks.minus(Ranges.of(task for task, number in recorded.items() if number > ended.get(task, 0)))


def _newest_ended(anchor: Anchor, refusals: dict[int, int], ledger: Ledger) -> dict[int, int]:
    """Return the newest attempt of each task that is known to have ended."""
    proven = ledger.proven(anchor.name)
    return proven | {task: max(number, proven.get(task, 0)) for task, number in refusals.items()}


def _refusals(
    anchor: Anchor, made: list[Submission], known: dict[int, Known], ledger: Ledger, cloud: Cloud
) -> dict[int, int]:
    """Return the newest attempts that have been refused, though no result says so: their launchers wait a while.

    Only the platform knows. So many are looked up at the most; the others count as begun.
    """
    proven = ledger.proven(anchor.name)
    starting = {task for task, one in known.items() if one.state is TaskState.STARTING}
    recorded = cloud.control(anchor.name).recorded()
    open_ones = [(task, number) for task, number in dict(recorded).items() if task in starting]
    found = {}
    for task, number in islice((one for one in open_ones if one[1] > proven.get(one[0], 0)), MOST_LOOKED_UP):
        attempt = cloud.control(anchor.name).attempt(task, number)
        outcome = poll(attempt, cloud)
        refused = outcome is not None and outcome.cause is Cause.CAPACITY and outcome.state.terminal
        if outcome and refused and not outcome.seconds and latest(made, task).number >= attempt.submission:
            found[task] = number
    return found


def _refuse_stopped(anchor: Anchor, made: list[Submission], cloud: Cloud) -> None:
    """Raise UsageError if the run was never sent, or its newest submission is cancelled or paused."""
    if not made:
        hint = "the same `sweep submit` again completes it"
        raise UsageError(f"run {anchor.name!r} was stopped before it was submitted", hint=hint)
    control, newest = cloud.control(anchor.name), made[-1].number
    if newest <= control.cancel_marker().through:
        hint = f"`sweep retry {anchor.name}` runs it after all, at the places that it was planned for"
        raise UsageError(f"run {anchor.name!r} has been cancelled", hint=hint)
    why = control.pause_marker().reasons.get(newest)
    if why:
        hint = f"mend it, then `sweep retry {anchor.name}`"
        raise UsageError(f"run {anchor.name!r} begins nothing more: {why}", hint=hint)


def _sorted_out(
    anchor: Anchor,
    made: list[Submission],
    known: dict[int, Known],
    refusals: dict[int, int],
    ledger: Ledger,
    cloud: Cloud,
) -> tuple[Ranges, Ranges, Ranges]:
    """Return the tasks that have not been started, those that wait after they have run, and those that have begun."""
    recorded, ended = dict(cloud.control(anchor.name).recorded()), _newest_ended(anchor, refusals, ledger)
    waiting, ran_before, begun = [], [], []
    cancelled = cloud.control(anchor.name).cancel_marker().through
    for task in ledger.unfinished(anchor.name, anchor.tasks):
        if recorded.get(task, 0) > ended.get(task, 0):
            begun.append(task)
        elif task in known and any(outcome.seconds or outcome.usd for outcome in known[task].result.outcomes):
            ran_before.append(task)
        elif latest(made, task).number > cancelled:
            waiting.append(task)
    return Ranges.of(waiting), Ranges.of(ran_before), Ranges.of(begun)


def _running(plan: Plan, task: int, known: Known | None) -> Running:
    """Return what a task holds: where it is, or else where it is planned to be."""
    share = plan.share(task)
    last = known.result.outcomes[-1] if known and known.result.outcomes else None
    at = next((one for one in share.places if last and one.lane == last.lane), share.places[0])
    longest = share.longest or share.hours
    ran = (time.time() - last.started_at) / HOUR if last and last.started_at else 0.0
    return Running(LotKey.of(at), last.instances if last else at.instances, max(longest - ran, longest * AT_LEAST_LEFT))


def _refusing(known: dict[int, Known], refusals: dict[int, int], running: tuple[Running, ...]) -> frozenset[Lane]:
    """Return the lanes whose newest answer to a task of ours was that there is no capacity, lately."""
    answers: dict[Lane, tuple[float, bool]] = {}
    for task, one in known.items():
        for outcome in one.result.outcomes:
            moment = outcome.started_at or outcome.ended_at or 0.0
            refused = outcome.cause is Cause.CAPACITY and not outcome.seconds
            if refusals.get(task) == outcome.number:
                moment, refused = time.time(), True
            if refused or outcome.seconds or outcome.state is TaskState.RUNNING:
                answers[outcome.lane] = max(answers.get(outcome.lane, (0.0, False)), (moment, refused))
    busy, since = {one.lot.lane for one in running}, time.time() - REFUSED_S
    return frozenset(
        lane for lane, (moment, refused) in answers.items() if refused and moment >= since and lane not in busy
    )
