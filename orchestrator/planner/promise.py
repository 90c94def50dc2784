"""Tells whether what a plan promises to cost at most can still be kept at today's prices. Pure.

What is expected may change a little. A promise holds or not: launchers let tasks run for as long as their envelopes
pay at the plan's rates, and AWS bills by today's.
"""

from __future__ import annotations

from dataclasses import replace
from math import fsum
from typing import TYPE_CHECKING

from orchestrator.plan.dollars import told_apart
from orchestrator.plan.slots import LotKey

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.plan.plan import Plan, Share
    from orchestrator.planner.today import Today
    from orchestrator.wire.task import Place

ROUNDING = 1 + 1e-9
"""Sums of the same dollars may differ by so much."""


def broken_promise(plan: Plan, today: Today) -> Iterator[str]:
    """Yield the reason, if the plan may cost more at today's prices than it says that it costs at most."""
    now = at_todays_prices(plan, today)
    if now.worst_usd > plan.worst_usd * ROUNDING:
        most, promised = told_apart(now.worst_usd, plan.worst_usd)
        yield f"at today's prices it may cost {most}, and it promises {promised} at most: {_cause(plan, now)}"


def dearer_moves(plan: Plan, today: Today) -> Iterator[str]:
    """Yield where the move of a checkpoint costs more today than the envelopes that pay it count on."""
    for share, now in zip(plan.shares, today.moves(plan).shares, strict=True):
        if share.limits.envelope is None:
            continue
        for before, after in zip(share.places, now.places, strict=True):
            then, usd = before.leave_usd_per_gb, after.leave_usd_per_gb
            if then is not None and usd is not None and usd > then * ROUNDING:
                costs, counted = told_apart(usd, then)
                region = before.lane.region
                yield f"a GB of checkpoints from {region} costs {costs} to move, and its envelopes count on {counted}"


def at_todays_prices(plan: Plan, today: Today) -> Plan:
    """Return the plan with what AWS would bill of it today: the envelopes are what tasks may really cost."""
    shares = tuple(_share(share, today) for share in plan.shares)
    return replace(plan, shares=shares, copies=tuple(today.copy(copy, plan) for copy in plan.copies))


def _share(share: Share, today: Today) -> Share:
    places = tuple(today.place(place) for place in share.places)
    envelope = share.limits.envelope
    if envelope is not None:
        billed = (_billed(envelope, *each) for each in zip(share.places, places, strict=True))
        envelope = max(envelope, *billed)
    return replace(share, places=places, limits=replace(share.limits, envelope=envelope))


def _billed(envelope: float, place: Place, now: Place) -> float:
    """Return what AWS would bill today of a training that uses up its envelope at a place."""
    if not place.hourly_usd:
        return 0.0
    hours = envelope / place.hourly_usd - place.kept_back_s / 3600
    return now.hourly_usd * (hours + now.kept_back_s / 3600)


def _cause(plan: Plan, now: Plan) -> str:
    """Return in words what became dearer: copies, if these are most of it, or the place that has become so most."""
    copied, copies = (fsum(copy.usd for copy in each.copies) for each in (plan, now))
    if copies - copied > (now.worst_usd - plan.worst_usd) / 2:
        return "its copies cost {}, not {}".format(*told_apart(copies, copied))
    shares = zip(plan.shares, now.shares, strict=True)
    places = [pair for share, today in shares for pair in zip(share.places, today.places, strict=True)]
    before, after = max(places, key=lambda pair: pair[1].rate / pair[0].rate if pair[0].rate else 0.0)
    if after.rate > before.rate * ROUNDING:
        rates = told_apart(after.rate, before.rate)
        return f"{LotKey.of(after)} may be billed {rates[0]} an hour, not {rates[1]}"
    before, after = max(places, key=lambda pair: pair[1].kept_back_s - pair[0].kept_back_s)
    return f"{LotKey.of(after)} may be billed for {after.kept_back_s} s beyond a run, not {before.kept_back_s} s"
