"""Tells why a plan no longer holds: a place is gone, a quota is taken, prices are up, a promise is broken. Pure."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

import pandas as pd

from orchestrator.plan.dollars import told_apart
from orchestrator.plan.slots import LotKey, lots_by_key, tasks_by_lot, units_taken
from orchestrator.planner.offer.spot_prices import LISTED
from orchestrator.planner.promise import broken_promise, dearer_moves
from orchestrator.planner.today import Today
from orchestrator.wire.task import Quota

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.catalog.market import Market
    from orchestrator.plan.plan import Plan, Share
    from orchestrator.wire.task import Place

DEARER = 0.02
"""A plan may be expected to cost this much more than was agreed to, and no more."""
NAMED = 3
"""Reasons that are named. The rest are counted."""


def why_stale(plan: Plan, market: Market) -> str:
    """Return in one line why the plan does not hold in today's market; an empty string while it does."""
    today = Today(market)
    checks = (_missing_places, _taken_units, _closed_training_plans, _higher_cost, broken_promise, dearer_moves)
    reasons = list(dict.fromkeys(reason for check in checks for reason in check(plan, today)))
    named = reasons[:NAMED]
    if len(reasons) > NAMED:
        named.append(f"and {len(reasons) - NAMED} more")
    return "; ".join(named)


def _missing_places(plan: Plan, today: Today) -> Iterator[str]:
    """Yield places that are there no more: the lane is not for sale, or the data has moved."""
    wanted = {(plan.datasets[share.dataset].name, place): None for share in plan.shares for place in share.places}
    for dataset, place in wanted:
        key = LotKey.of(place)
        if key not in today.lots:
            yield f"{key} is not for sale any more"
        elif place.rate and pd.isna(today.lots[key]["on_demand_usd_per_hour"]):
            yield f"{key} has no on-demand price any more, by which it is billed"
        elif not _data_is_there(dataset, place, today):
            yield f"{dataset} no longer lies at {place.s3_uri}"


def _data_is_there(dataset: str, place: Place, today: Today) -> bool:
    """Return whether the dataset still lies where the plan found it, or can still be copied there."""
    replica = (dataset, LotKey.of(place))
    is_copy = "{bucket}" in place.s3_uri
    return replica in today.replicas and (is_copy or today.replicas[replica] == place.s3_uri)


def _taken_units(plan: Plan, today: Today) -> Iterator[str]:
    """Yield quotas with fewer free units than the plan takes."""
    wanted = units_taken(plan, tasks_by_lot(plan))
    for platform, region, name, units, held in today.market.quotas.itertuples(index=False, name=None):
        quota, free = Quota(platform, region, name), max(units - held, 0)
        if free < wanted.get(quota, 0):
            yield f"{quota} has {free} of {units} units free, and the plan takes {wanted[quota]}"


def _closed_training_plans(plan: Plan, today: Today) -> Iterator[str]:
    """Yield training plans that end before the tasks that go there do."""
    ends: dict[LotKey, float] = {}
    for share in plan.shares:
        key = LotKey.of(share.places[0])
        ends[key] = max(ends.get(key, 0.0), share.finish or share.hours)
    for key, finish in ends.items():
        lot = today.lots.get(key)
        if lot is not None and lot["closes_h"] < finish:
            yield f"{key} is ours for {lot['closes_h']:.3g} h more, and the plan takes {finish:.3g} h"


def _higher_cost(plan: Plan, today: Today) -> Iterator[str]:
    """Yield the reason, if the plan is expected to cost more than it may."""
    then = {key: lot.usd_per_hour for key, lot in lots_by_key(plan).items()}
    copies = fsum(today.copy(copy, plan).usd for copy in plan.copies)
    usd = copies + fsum(_share_usd(share, then, today) for share in plan.shares)
    if usd <= plan.usd * (1 + DEARER):
        return
    costs = "it costs {}, not {}".format(*told_apart(usd, plan.usd))
    listed = copies + fsum(_share_usd(share, _listed_then(plan, then), today, LISTED) for share in plan.shares)
    if listed - plan.usd < (usd - plan.usd) / 2:
        yield f"by what our own spot tasks have paid since, {costs}"
    else:
        yield f"at today's prices {costs}"


def _share_usd(share: Share, then: dict[LotKey, float], today: Today, price: str = "usd_per_hour") -> float:
    """Return what the share's tasks cost today: as much more as this price of their lane has gone up."""
    key = LotKey.of(share.places[0])
    before, now = then.get(key), today.lots.get(key)
    usd = share.usd * share.count
    if now is None or not before:
        return usd
    return float(usd * now[price] / before)


def _listed_then(plan: Plan, then: dict[LotKey, float]) -> dict[LotKey, float]:
    """Return what the catalog said of each lane; what was expected, if the plan has not kept that."""
    return then | {LotKey(price.lane, price.site): price.listed for price in plan.prices}
