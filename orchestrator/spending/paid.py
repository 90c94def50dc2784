"""What was paid in a month, attempt by attempt, as the database knows it; and what it does not know."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

from orchestrator.errors import AccessError, CloudError, Damaged, NewerVersion, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.runs.run import Run
    from orchestrator.wire.result import Outcome


@dataclass(frozen=True)
class Paid:
    """One amount that was paid."""

    run: str
    workload: str
    owner: str
    region: str
    day: str
    """Written 2026-11-21, in UTC: when the training ended, or the run was made whose data was copied."""
    usd: float
    hours: float = 0.0
    """Billable hours of instances."""


@dataclass(frozen=True)
class Known:
    """What is known of a month, and what is not: that is named, and never counted as nothing."""

    paid: list[Paid] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    """One line each: runs whose results nobody here has seen, and results that cannot be understood."""
    running_usd: float = 0.0
    """About what trainings have cost until now that still run; it is in none of the amounts."""
    running: int = 0
    """The runs that have not ended."""


@dataclass(frozen=True)
class MonthSpan:
    """A calendar month in UTC."""

    name: str
    """Written 2026-11."""
    starts: datetime
    ends: datetime

    @property
    def days(self) -> list[str]:
        return [str((self.starts + timedelta(days=n)).date()) for n in range((self.ends - self.starts).days)]

    def has(self, moment: float) -> bool:
        return self.starts.timestamp() <= moment < self.ends.timestamp()


def read_month_span(text: str) -> MonthSpan:
    """Return the month that a text such as 2026-11 names. UsageError if it names none."""
    try:
        starts = datetime.strptime(text, "%Y-%m").replace(tzinfo=timezone.utc)
        ends = (starts + timedelta(days=32)).replace(day=1)
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{text!r} is no month", where="--month", hint="write it like 2026-11") from error
    return MonthSpan(f"{starts:%Y-%m}", starts, ends)


def bring_up(runs: list[Run], month: MonthSpan) -> list[str]:
    """Read what is new of these runs, as far as the month may need it. Return what could not be read, a line each."""
    missed = []
    for run in runs:
        if run.anchor.created_at >= month.ends.timestamp():
            continue
        if run.ledger.is_looked_at(run.name) and run.status().finished and not run.ledger.unread(run.name):
            continue
        try:
            run.sync_as_far_as_possible()
        except (CloudError, AccessError, UsageError) as error:
            missed.append(f"run {run.name}: its news could not be read: {error}")
    return missed


def find_paid(runs: list[Run], month: MonthSpan) -> Known:
    """Return what these runs paid in a month. What is not known of them is named."""
    known = Known()
    running_usd, running = 0.0, 0
    for run in runs:
        if run.anchor.created_at >= month.ends.timestamp():
            continue
        try:
            status = run.status()
            known.paid.extend(_paid_by(run, month))
        except (Damaged, NewerVersion) as error:
            known.unknown.append(f"run {run.name}: {error}")
            continue
        if not run.ledger.is_looked_at(run.name):
            known.unknown.append(f"run {run.name}: nobody here has looked at it: `sweep sync {run.name}`")
        damaged = run.ledger.damage.tasks(run.name)
        if damaged:
            known.unknown.append(f"run {run.name}: the results of {len(damaged)} tasks cannot be understood")
        if not status.finished:
            running, running_usd = running + 1, running_usd + status.running_usd
    return Known(known.paid, known.unknown, running_usd, running)


def _paid_by(run: Run, month: MonthSpan) -> Iterator[Paid]:
    workload, owner, made = run.plan.sweep.name, run.anchor.owner, run.anchor.created_at
    if month.has(made):
        for copy in run.plan.copies:
            yield Paid(run.name, workload, owner, copy.to_region, _day(made), copy.usd)
    for one in run.ledger.known(run.name):
        for outcome in one.result.outcomes:
            when = _moment(outcome, made)
            usd = outcome.usd + outcome.moved_usd
            if month.has(when) and (usd or outcome.billable_s):
                hours = outcome.billable_s * outcome.instances / 3600
                yield Paid(run.name, workload, owner, outcome.lane.region, _day(when), usd, hours)


def _moment(outcome: Outcome, made: float) -> float:
    """Return when an attempt was paid: when it ended; where that is not known, when it began, or its run was made."""
    return outcome.ended_at or outcome.started_at or made


def _day(moment: float) -> str:
    return str(datetime.fromtimestamp(moment, timezone.utc).date())
