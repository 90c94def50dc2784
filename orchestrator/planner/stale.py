"""What has changed since a plan was made so that it no longer holds: a place gone, slots sold, prices up. Pure."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, Any

import pandas as pd

from orchestrator.catalog.market import ANY
from orchestrator.plan.slots import Quota, at_once, first_choices, lots
from orchestrator.planner.offer.copy_prices import copies
from orchestrator.planner.offer.spot_prices import priced
from orchestrator.wire.task import Lane, Purchase

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.catalog.market import Market
    from orchestrator.plan.plan import Lot, Plan, Share

DEARER = 0.02
"""A plan may cost this much more than was agreed to, and no more."""
CENT = 0.01
_TOLD = 3
"""Reasons; the rest are counted."""


def stale(plan: Plan, market: Market) -> str:
    """Why the plan does not hold in today's market, in one line; empty while it does."""
    today = _Today(market)
    checks = (_gone, _taken, _totals, _closed, _dearer)
    reasons = list(dict.fromkeys(reason for check in checks for reason in check(plan, today)))
    more = len(reasons) - _TOLD
    return "; ".join(reasons[:_TOLD]) + (f"; and {more} more" if more > 0 else "")


class _Today:
    def __init__(self, market: Market) -> None:
        self.market = market
        self.lots: dict[Quota, dict[Any, Any]] = {}
        self.replicas: dict[tuple[str, Quota], str | None] = {}
        """Where the data lies; None where it has to be brought."""
        for row in priced(market.candidates, market.discounts).to_dict("records"):
            lane = Lane(row["platform"], row["region"], row["instance_type"], Purchase(row["purchase"]))
            quota = Quota(lane, row["arn"] if pd.notna(row["arn"]) else "")
            self.lots[quota] = row
            self.replicas[row["dataset"], quota] = None if pd.notna(row["from_region"]) else row["s3_uri"]


def _gone(plan: Plan, today: _Today) -> Iterator[str]:
    """Places that no longer are: nobody sells the lane, or the data has moved."""
    wanted = {(plan.datasets[share.dataset].name, place): None for share in plan.shares for place in share.places}
    for dataset, place in wanted:
        quota, copied = Quota.of(place), "{bucket}" in place.s3_uri
        there = (dataset, quota) in today.replicas
        if quota not in today.lots:
            yield f"{quota} is not for sale any more"
        elif not there or not (copied or today.replicas[dataset, quota] == place.s3_uri):
            yield f"{dataset} no longer lies at {place.s3_uri}"


def _taken(plan: Plan, today: _Today) -> Iterator[str]:
    """Lanes with fewer free slots than the plan takes."""
    for quota, wanted in at_once(plan, first_choices(plan)).items():
        lot = today.lots.get(quota)
        if lot is not None and pd.notna(lot["slots"]):
            yield from _short(str(quota), wanted, lot)


def _totals(plan: Plan, today: _Today) -> Iterator[str]:
    """The same of all lanes of a Region together."""
    slots = at_once(plan, first_choices(plan))
    for total in today.market.totals.to_dict("records"):
        purchase = total["purchase"]
        wanted = sum(
            count
            for quota, count in slots.items()
            if (quota.lane.platform, quota.lane.region) == (total["platform"], total["region"])
            and purchase in (ANY, quota.lane.purchase.value)
        )
        bought = "" if purchase == ANY else f" {purchase}"
        yield from _short(f"{total['region']}{bought}, all instance types together,", wanted, total)


def _short(what: str, wanted: int, limit: dict[Any, Any]) -> Iterator[str]:
    slots = int(limit["slots"])
    free = max(slots - int(limit["held"]), 0)
    if free < wanted:
        yield f"{what} has {free} of {slots} slots free, and the plan takes {wanted}"


def _closed(plan: Plan, today: _Today) -> Iterator[str]:
    """Training plans that end before the tasks do that go there."""
    ends: dict[Quota, float] = {}
    for share in plan.shares:
        quota = Quota.of(share.places[0])
        ends[quota] = max(ends.get(quota, 0.0), share.finish or share.hours)
    for quota, finish in ends.items():
        lot = today.lots.get(quota)
        if lot is not None and lot["closes_h"] < finish:
            yield f"{quota} is ours for {lot['closes_h']:.3g} h more, and the plan takes {finish:.3g} h"


def _dearer(plan: Plan, today: _Today) -> Iterator[str]:
    then = lots(plan)
    usd = fsum([*(_usd(share, then, today) for share in plan.shares), *_copies(plan, today)])
    if usd > plan.usd * (1 + DEARER) and usd - plan.usd >= CENT:
        yield f"at today's prices it costs ${usd:,.2f}, not ${plan.usd:,.2f}"


def _usd(share: Share, then: dict[Quota, Lot], today: _Today) -> float:
    """Of its tasks now: as much more as their lane's price has gone up."""
    quota = Quota.of(share.places[0])
    before, now = then.get(quota), today.lots.get(quota)
    usd = share.usd * share.count
    return usd * now["usd_per_hour"] / before.usd_per_hour if now and before and before.usd_per_hour else usd


def _copies(plan: Plan, today: _Today) -> Iterator[float]:
    made = copies(today.market.candidates, today.market.transfers).to_dict("records")
    usd = {(row["dataset"], row["region"]): row["usd"] for row in made}
    for copy in plan.copies:
        yield usd.get((plan.datasets[copy.dataset].name, copy.to_region), copy.usd)
