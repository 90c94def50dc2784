"""Runs draw on the budgets of their workload and of their owner: before they are made, and before they are retried."""

from __future__ import annotations

import logging
import time
from contextlib import contextmanager
from dataclasses import replace
from math import fsum
from typing import TYPE_CHECKING

from orchestrator.budgets.budget import OWNER, WORKLOAD, Budget, Draw, month_of
from orchestrator.budgets.hold import foresee, give_back, hold, settle
from orchestrator.errors import AccessError, Damaged, NewerVersion, NotFound, Refused, UsageError
from orchestrator.runs.known.sync import sync
from orchestrator.runs.telling import tell_refusal, tell_standing
from orchestrator.runs.views.status import run_status
from orchestrator.runs.written import anchor as anchors
from orchestrator.runs.written.plan_now import planned_now
from orchestrator.wire.names import RunKeys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from orchestrator.budgets.hold import Look, Standing
    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.known.ledger import Ledger
    from orchestrator.runs.written.anchor import Anchor

log = logging.getLogger(__name__)


def draw_of(anchor: Anchor, owner_budget: float | None) -> Draw:
    """Return what a run may cost at most, and the budgets that it draws on: those of the month it was begun in."""
    month, wanted = month_of(anchor.created_at), anchor.plan.sweep.budget
    budgets = []
    if wanted and wanted.per_month is not None:
        budgets.append(Budget(WORKLOAD, anchor.plan.sweep.name, month, wanted.per_month))
    if owner_budget is not None:
        budgets.append(Budget(OWNER, anchor.owner, month, owner_budget))
    return Draw(anchor.name, anchor.plan.worst_usd, tuple(budgets))


@contextmanager
def holding(ledger: Ledger, cloud: Cloud, check: Callable[[Anchor, Cloud], None]) -> Iterator[Callable[[Anchor], None]]:
    """Yield what checks a run and gives it its envelopes, before it is made. Those of runs that were not made go.

    What is yielded raises Refused, with the day on which it resumes, where a budget has not enough.
    """
    asked: list[Draw] = []

    def reserve(anchor: Anchor) -> None:
        check(anchor, cloud)
        draw = draw_of(anchor, cloud.account.owner_budget)
        if draw.budgets:
            asked.append(draw)
            _hold(draw, anchor, ledger, cloud)

    try:
        yield reserve
    finally:
        for draw in asked:
            if not cloud.s3.exists(RunKeys(draw.run).anchor):
                give_back(draw, cloud.s3)


def foreseeing(ledger: Ledger, cloud: Cloud, check: Callable[[Anchor, Cloud], None]) -> Callable[[Anchor], None]:
    """Return what checks a run as `holding` would, and refuses it as that would. Nothing is held, nobody is told."""

    def look(anchor: Anchor) -> None:
        check(anchor, cloud)
        _warn(foresee(draw_of(anchor, cloud.account.owner_budget), cloud.s3, look_at_runs(ledger, cloud)))

    return look


def hold_again(anchor: Anchor, ledger: Ledger, cloud: Cloud) -> None:
    """Give a run that is to be retried its envelopes again. Refused where a budget has not enough.

    With envelopes for its tasks, retries are in them. Without, they come on top of what it has cost already.
    """
    anchor = planned_now(anchor, ledger.submissions(anchor.name))
    draw = draw_of(anchor, cloud.account.owner_budget)
    if draw.budgets:
        more = 0.0 if anchor.plan.sweep.plan.budget is not None else ledger.usd(anchor.name)
        _hold(replace(draw, usd=draw.usd + more), anchor, ledger, cloud)


def hold_planned(anchor: Anchor, ledger: Ledger, cloud: Cloud) -> None:
    """Give a run whose plan has changed what it may cost now. Refused where a budget has not enough."""
    draw = draw_of(anchor, cloud.account.owner_budget)
    if draw.budgets:
        _hold(draw, anchor, ledger, cloud)


def settle_run(anchor: Anchor, ledger: Ledger, cloud: Cloud) -> None:
    """Give back what a run did not need, if it has ended: call it after its last sync. Repeating it is harmless."""
    draw = draw_of(anchor, cloud.account.owner_budget)
    paid = cost_at_end(anchor, ledger) if draw.budgets else None
    if paid is not None:
        settle(draw, paid, cloud.s3)


def cost_at_end(anchor: Anchor, ledger: Ledger) -> float | None:
    """Return what a run has cost, copies of data included, as far as the database knows; None if it has not ended."""
    anchor = planned_now(anchor, ledger.submissions(anchor.name))
    status = run_status(anchor, ledger, time.time())
    return status.usd + fsum(copy.usd for copy in anchor.plan.copies) if status.finished else None


def look_at_runs(ledger: Ledger, cloud: Cloud) -> Look:
    """Return what says of a run, by its name, what it has cost, if it has ended."""

    def look(name: str) -> float | None:
        try:
            anchor = anchors.find(cloud.s3, name)
            if anchor is None:
                raise NotFound(f"no run {name!r}", where=f"s3://{cloud.s3.bucket}")
            ledger.remember(anchor, cloud.account)
            if cost_at_end(anchor, ledger) is None:
                sync(anchor, ledger, cloud, documents=False)
            return cost_at_end(anchor, ledger)
        except (Damaged, NewerVersion, UsageError, AccessError) as error:
            log.warning("whether run %s has ended is not known: %s", name, error)
            return None

    return look


def _hold(draw: Draw, anchor: Anchor, ledger: Ledger, cloud: Cloud) -> None:
    """Give the run its envelopes, and tell which marks its budgets have passed, or that they cannot pay it."""
    try:
        standings = hold(draw, cloud.s3, look_at_runs(ledger, cloud))
    except Refused as refused:
        tell_refusal(refused, anchor, cloud)
        raise
    _warn(standings)
    for one in standings:
        tell_standing(one, anchor, cloud)


def _warn(standings: list[Standing]) -> None:
    for one in standings:
        if one.passed:
            words = "%s: %d %% are spent or held, $%.2f of $%.2f are left"
            log.warning(words, one.budget.words, one.passed, max(one.left, 0.0), one.budget.usd)
