"""Runs hold envelopes of budgets before anything is sent, and give back what they did not need.

A month's envelopes are one object, and it is replaced only if nobody else has replaced it meanwhile. So two submits at
once never pass the budget. A process may be killed at any line: a run that holds its envelope already gets no second
one, and an envelope whose run was never made is given back by whoever needs it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from orchestrator.budgets.month import Envelope, Month
from orchestrator.errors import AlreadyExists, NotFound, OverBudget, Refused
from orchestrator.wire.names import canonical
from orchestrator.wire.stored import damage_named

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.aws.s3 import S3
    from orchestrator.budgets.budget import Budget, Draw

    Look = Callable[[str], "float | None"]
    """Returns what a run has cost, if it has ended; None if it may cost more. NotFound if there is no such run."""

NEVER_MADE_S = 3600.0
"""Seconds after which a run that holds an envelope must be there: to make it takes moments."""
MARKS = (50, 75, 90, 100)
"""Percent of a budget that are told when they are passed."""


@dataclass(frozen=True)
class Standing:
    """A budget after a run has got its envelope."""

    budget: Budget
    paid: float
    held: float
    passed: int = 0
    """The highest mark, in percent, that this very envelope has passed; 0 if none."""

    @property
    def left(self) -> float:
        return self.budget.usd - self.paid - self.held


def hold(draw: Draw, control: S3, look: Look) -> list[Standing]:
    """Give a run its envelope of each budget, and return how these stand. A run that holds it already keeps it.

    Raise Refused, with the day on which it resumes, where one of the budgets has not enough: then the run holds nothing
    of any. `look` says of other runs whether they have ended: they give back what they did not need.
    """
    done: list[tuple[Budget, Envelope | None]] = []
    standings = []
    try:
        for budget in draw.budgets:
            before = read_month(budget, control).envelopes.get(draw.run)
            standings.append(_hold(draw, budget, control, look))
            done.append((budget, before))
    except Refused:
        for budget, before in done:
            _change(budget, control, partial(_with, run=draw.run, envelope=before))
        raise
    return standings


def foresee(draw: Draw, control: S3, look: Look) -> list[Standing]:
    """Return how the budgets would stand after `hold`, or raise what it would raise. Nothing is written."""
    standings = []
    for budget in draw.budgets:
        month = read_month(budget, control)
        if (standing := _standing(month, draw, budget)) is None:
            others = _without(month, draw.run)
            if others.open and _passes(others, draw, budget):
                month = _looked_at(others, look)
            _, standing = _granted(month, draw, budget)
        standings.append(standing)
    return standings


def give_back(draw: Draw, control: S3) -> None:
    """Take a run's envelopes away: it was never made."""
    for budget in draw.budgets:
        _change(budget, control, lambda month: _with(month, draw.run, None))


def settle(draw: Draw, paid: float, control: S3) -> None:
    """Note what a run that has ended really cost: the rest of its envelopes is free again."""
    for budget in draw.budgets:
        _change(budget, control, lambda month: _settled(month, draw.run, paid))


def read_month(budget: Budget, control: S3) -> Month:
    """Return the envelopes of a budget's month. Damaged names an object that cannot be understood."""
    return _read(budget, control)[0]


def _hold(draw: Draw, budget: Budget, control: S3, look: Look) -> Standing:
    looked = False
    while True:
        month, etag = _read(budget, control)
        if (there := _standing(month, draw, budget)) is not None:
            return there
        others = _without(month, draw.run)
        if not looked and others.open and _passes(others, draw, budget):
            looked = True  # before anybody is refused or alarmed: what of it is still needed?
            found = _looked_at(others, look)
            if found != others:
                _change(budget, control, partial(_freed, found=found, ours=draw.run))
                continue
        after, standing = _granted(month, draw, budget)
        if _write(after, budget, control, etag):
            return standing


def _standing(month: Month, draw: Draw, budget: Budget) -> Standing | None:
    """Return how a budget stands of which the run holds its envelope already; None if it does not."""
    mine = month.envelopes.get(draw.run)
    holds = mine is not None and mine.paid is None and mine.usd >= draw.usd
    return Standing(budget, month.paid, month.held) if holds else None


def _granted(month: Month, draw: Draw, budget: Budget) -> tuple[Month, Standing]:
    """Return the month in which the run holds its envelope, and how its budget stands then.

    Raise Refused if it is too much for the budget.
    """
    others = _without(month, draw.run)
    if others.counted + draw.usd > budget.usd:
        raise OverBudget(_too_little(draw, budget, others), hint=_hint(budget, others))
    after = Month(others.envelopes | {draw.run: Envelope(draw.usd, time.time())}, budget.usd)
    passed = max(_marks_below(after.counted, budget), default=0)
    before = max(_marks_below(month.counted, budget), default=0)
    return after, Standing(budget, after.paid, after.held, passed if passed > before else 0)


def _passes(others: Month, draw: Draw, budget: Budget) -> bool:
    """Return whether the envelope would pass one of the marks, or the budget itself."""
    return _marks_below(others.counted + draw.usd, budget) != _marks_below(others.counted, budget) or (
        others.counted + draw.usd > budget.usd
    )


def _marks_below(usd: float, budget: Budget) -> list[int]:
    return [mark for mark in MARKS if usd >= budget.usd * mark / 100]


def _looked_at(month: Month, look: Look) -> Month:
    """Return the month with what runs that have ended gave back, and without those that were never made."""
    now, envelopes = time.time(), dict(month.envelopes)
    for run, envelope in month.open.items():
        try:
            paid = look(run)
        except NotFound:
            if now - envelope.held_at > NEVER_MADE_S:
                del envelopes[run]
            continue
        if paid is not None:
            envelopes[run] = replace(envelope, paid=paid)
    return replace(month, envelopes=envelopes)


def _freed(now: Month, found: Month, ours: str) -> Month:
    """Return the month with what was found of runs that still stood as they were looked at."""
    envelopes = dict(now.envelopes)
    for run, envelope in now.open.items():
        its = found.envelopes.get(run)
        if run != ours and (its is None or its.held_at == envelope.held_at):
            if its is None and time.time() - envelope.held_at > NEVER_MADE_S:
                del envelopes[run]
            elif its is not None:
                envelopes[run] = its
    return replace(now, envelopes=envelopes)


def _without(month: Month, run: str) -> Month:
    return replace(month, envelopes={name: one for name, one in month.envelopes.items() if name != run})


def _with(month: Month, run: str, envelope: Envelope | None) -> Month:
    others = _without(month, run)
    return others if envelope is None else replace(others, envelopes=others.envelopes | {run: envelope})


def _settled(month: Month, run: str, paid: float) -> Month:
    mine = month.envelopes.get(run)
    return month if mine is None else replace(month, envelopes=month.envelopes | {run: replace(mine, paid=paid)})


def _change(budget: Budget, control: S3, change: Callable[[Month], Month]) -> None:
    while True:
        month, etag = _read(budget, control)
        after = change(month)
        if after == month or _write(after, budget, control, etag):
            return


def _read(budget: Budget, control: S3) -> tuple[Month, str | None]:
    try:
        stored = control.get(budget.key)
    except NotFound:
        return Month(), None
    with damage_named(control.uri(budget.key)):
        return Month.from_json(stored.json()), stored.etag


def _write(month: Month, budget: Budget, control: S3, etag: str | None) -> bool:
    """Replace the month; return False if somebody else has replaced it meanwhile."""
    try:
        control.put_if(budget.key, canonical(month.to_json()).encode(), etag)
    except AlreadyExists:
        return False
    return True


def _too_little(draw: Draw, budget: Budget, others: Month) -> str:
    said = f"${others.paid:,.2f} are spent"
    if others.open:
        said += f", ${others.held:,.2f} are held by {len(others.open)} run{'s' if len(others.open) > 1 else ''}"
    return f"{budget.words} is ${budget.usd:,.2f}: {said}, and run {draw.run!r} may cost ${draw.usd:,.2f}"


def _hint(budget: Budget, others: Month) -> str:
    if others.open:
        return f"it resumes on {budget.resumes}, or when runs under way have ended for less"
    return f"it resumes on {budget.resumes}"
