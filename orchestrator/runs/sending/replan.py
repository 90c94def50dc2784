"""Moves tasks that have not been started to where a new plan wants them: a submission of their own, behind the fence.

Killed at any line, call it again, or `submit` or `retry`: what was written down is sent, and nothing is planned twice.
Before the submission is written, all is there that its tasks need: whoever sends it needs no sources and no catalog.
"""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from orchestrator.errors import AccessError, NotFound, UsageError
from orchestrator.platforms.source import Package
from orchestrator.runs.known.lease import booking, renew
from orchestrator.runs.patience import PASSING
from orchestrator.runs.sending.check import check_plan
from orchestrator.runs.sending.envelopes import hold_planned
from orchestrator.runs.sending.submit import prepare, send
from orchestrator.runs.sending.templates import source_key
from orchestrator.runs.sending.unstarted import still_unstarted
from orchestrator.runs.written.anchor import add_submission
from orchestrator.runs.written.planned import pieces
from orchestrator.runs.written.submission import Submission, parts
from orchestrator.wire.ranges import Ranges

if TYPE_CHECKING:
    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.known.ledger import Ledger
    from orchestrator.runs.sending.proposal import Proposal
    from orchestrator.runs.written.anchor import Anchor

log = logging.getLogger(__name__)

WAITING: tuple[Literal["SUBMITTED", "PENDING", "RUNNABLE"], ...] = ("SUBMITTED", "PENDING", "RUNNABLE")
"""The states of a job that has not been started."""


@dataclass(frozen=True)
class Moved:
    """What came of a proposal."""

    submission: int
    """The number of the submission that was made; 0 if there was nothing left to move."""
    tasks: Ranges
    started: Ranges
    """Tasks that were started meanwhile: they stay where they are."""


def replan(anchor: Anchor, proposal: Proposal, ledger: Ledger, cloud: Cloud) -> Moved:
    """Send the tasks of a proposal to their new places, but for those that were started meanwhile.

    Refused, before anything is written down, if the slots were taken meanwhile or a month's budget has not enough.
    UsageError if another submission was made meanwhile.
    """
    made, wanted = proposal.unstarted.made, proposal.planned.tasks
    _prepare(anchor, proposal, ledger, cloud)
    tasks = still_unstarted(anchor, proposal.unstarted, wanted, ledger, cloud)
    started = wanted.minus(tasks)
    if not tasks:
        renew(anchor, ledger)
        return Moved(0, tasks, started)
    planned = replace(proposal.planned, shares=tuple(pieces(proposal.planned.shares, tasks)))
    now = replace(anchor, plan=planned.applied(proposal.unstarted.plan))
    behind = _attempts_behind(anchor.name, tasks, ledger)
    number, since = len(made) + 1, proposal.unstarted.since
    submission = Submission(number, parts(now.plan, tasks), behind, time.time(), planned, since)
    if not add_submission(cloud.s3, anchor.name, submission):
        renew(anchor, ledger)  # what was booked for the move is free again
        hint = "the same command again looks at it as it is now"
        raise UsageError(f"run {anchor.name!r} has got another submission meanwhile: nothing was moved", hint=hint)
    send(now, submission, ledger, cloud)
    _end_children(anchor, proposal, tasks, ledger, cloud)
    return Moved(number, tasks, started)


def _prepare(anchor: Anchor, proposal: Proposal, ledger: Ledger, cloud: Cloud) -> None:
    """Check the new places and bring what they need: slots, budgets, copies of data, sources and templates."""
    plan = proposal.planned.applied(proposal.unstarted.plan)
    moved = replace(plan, copies=proposal.planned.copies)
    check_plan(replace(plan, shares=proposal.planned.shares), cloud.planning)
    with booking(ledger) as slots:
        slots.exchange(replace(anchor, plan=plan), ledger)
    hold_planned(replace(anchor, plan=plan), ledger, cloud)
    prepare(replace(anchor, plan=moved), _package(anchor, cloud), cloud)


def _package(anchor: Anchor, cloud: Cloud) -> Package:
    """Return the sources that the run was begun with, from one of its Regions."""
    error: NotFound | None = None
    for region in anchor.plan.regions:
        try:
            return Package(anchor.code, cloud.bucket(region).get(source_key(anchor.code)).body, ())
        except NotFound as missing:
            error = missing
    raise UsageError("the sources of the run are not there any more", where=f"run {anchor.name}") from error


def _attempts_behind(run: str, tasks: Ranges, ledger: Ledger) -> tuple[tuple[int, Ranges], ...]:
    """Return how many attempts tasks have behind them: they were refused, or an earlier submission made them."""
    after: dict[int, list[int]] = defaultdict(list)
    for task, attempts in ledger.proven(run).items():
        if task in tasks:
            after[attempts].append(task)
    return tuple((attempts, Ranges.of(after[attempts])) for attempts in sorted(after))


def _end_children(anchor: Anchor, proposal: Proposal, tasks: Ranges, ledger: Ledger, cloud: Cloud) -> None:
    """End the jobs of older submissions that still wait for these tasks. One that is missed ends itself at its start.

    A job that runs goes on until its launcher looks at the fence.
    """
    for sent in ledger.arrays(anchor.name, proposal.unstarted.made):
        indices = {index for index, task in enumerate(sent.array.tasks) if task in tasks} if sent.job else set()
        if not sent.job or not indices:
            continue
        try:
            cloud.batch.cancel(_waiting(sent.job, indices, len(sent.array.tasks), cloud), "its task was planned anew")
        except (*PASSING, AccessError) as error:
            log.warning("jobs that wait in %s are left to end by themselves: %s", sent.array.name, error.message)


def _waiting(job: str, indices: set[int], size: int, cloud: Cloud) -> list[str]:
    """Return those of an array's children at these indices that wait; the job itself if it is no array."""
    if size == 1:
        return [job]
    return [each.id for status in WAITING for each in cloud.batch.children(job, status) if each.index in indices]
