"""Tells why a plan no longer holds: a place is gone, a quota is taken, prices are up. Pure."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, Any

import pandas as pd

from orchestrator.plan.slots import LotKey, lots_by_key, tasks_by_lot, units_taken
from orchestrator.planner.offer.copy_prices import COPY, price_copies
from orchestrator.planner.offer.spot_prices import LISTED, as_learned
from orchestrator.wire.task import Lane, Purchase, Quota

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.catalog.market import Market
    from orchestrator.plan.plan import Plan, Share
    from orchestrator.wire.task import Place

DEARER = 0.02
"""A plan may cost this much more than was agreed to, and no more."""
CENT = 0.01
"""A plan that became dearer by less than this holds."""
NAMED = 3
"""Reasons that are named. The rest are counted."""


def why_stale(plan: Plan, market: Market) -> str:
    """Return in one line why the plan does not hold in today's market; an empty string while it does."""
    today = _Today(market)
    checks = (_missing_places, _taken_units, _closed_training_plans, _higher_cost)
    reasons = list(dict.fromkeys(reason for check in checks for reason in check(plan, today)))
    named = reasons[:NAMED]
    if len(reasons) > NAMED:
        named.append(f"and {len(reasons) - NAMED} more")
    return "; ".join(named)


class _Today:
    """Today's market, where lanes and replicas are found quickly."""

    def __init__(self, market: Market) -> None:
        self.market = market
        self.lots: dict[LotKey, dict[Any, Any]] = {}
        """A row of the market's candidates for each lane."""
        self.replicas: dict[tuple[str, LotKey], str | None] = {}
        """The URI of each dataset in the Region of each lane; None where the dataset has to be copied there."""
        for row in as_learned(market).to_dict("records"):
            lane = Lane(row["platform"], row["region"], row["instance_type"], Purchase(row["purchase"]))
            key = LotKey(lane, row["site"] if pd.notna(row["site"]) else "")
            self.lots[key] = row
            self.replicas[row["dataset"], key] = None if pd.notna(row["from_region"]) else row["s3_uri"]


def _missing_places(plan: Plan, today: _Today) -> Iterator[str]:
    """Yield places that are there no more: the lane is not for sale, or the data has moved."""
    wanted = {(plan.datasets[share.dataset].name, place): None for share in plan.shares for place in share.places}
    for dataset, place in wanted:
        key = LotKey.of(place)
        if key not in today.lots:
            yield f"{key} is not for sale any more"
        elif not _data_is_there(dataset, place, today):
            yield f"{dataset} no longer lies at {place.s3_uri}"


def _data_is_there(dataset: str, place: Place, today: _Today) -> bool:
    """Return whether the dataset still lies where the plan found it, or can still be copied there."""
    replica = (dataset, LotKey.of(place))
    is_copy = "{bucket}" in place.s3_uri
    return replica in today.replicas and (is_copy or today.replicas[replica] == place.s3_uri)


def _taken_units(plan: Plan, today: _Today) -> Iterator[str]:
    """Yield quotas with fewer free units than the plan takes."""
    wanted = units_taken(plan, tasks_by_lot(plan))
    for platform, region, name, units, held in today.market.quotas.itertuples(index=False, name=None):
        quota, free = Quota(platform, region, name), max(units - held, 0)
        if free < wanted.get(quota, 0):
            yield f"{quota} has {free} of {units} units free, and the plan takes {wanted[quota]}"


def _closed_training_plans(plan: Plan, today: _Today) -> Iterator[str]:
    """Yield training plans that end before the tasks that go there do."""
    ends: dict[LotKey, float] = {}
    for share in plan.shares:
        key = LotKey.of(share.places[0])
        ends[key] = max(ends.get(key, 0.0), share.finish or share.hours)
    for key, finish in ends.items():
        lot = today.lots.get(key)
        if lot is not None and lot["closes_h"] < finish:
            yield f"{key} is ours for {lot['closes_h']:.3g} h more, and the plan takes {finish:.3g} h"


def _higher_cost(plan: Plan, today: _Today) -> Iterator[str]:
    """Yield the reason, if the plan has become dearer than it may."""
    then = {key: lot.usd_per_hour for key, lot in lots_by_key(plan).items()}
    copies = fsum(_copies_usd(plan, today))
    usd = copies + fsum(_share_usd(share, then, today) for share in plan.shares)
    if usd <= plan.usd * (1 + DEARER) or usd - plan.usd < CENT:
        return
    listed = copies + fsum(_share_usd(share, _listed_then(plan, then), today, LISTED) for share in plan.shares)
    if listed - plan.usd < (usd - plan.usd) / 2:
        yield f"by what our own spot tasks have paid since, it costs ${usd:,.2f}, not ${plan.usd:,.2f}"
    else:
        yield f"at today's prices it costs ${usd:,.2f}, not ${plan.usd:,.2f}"


def _share_usd(share: Share, then: dict[LotKey, float], today: _Today, price: str = "usd_per_hour") -> float:
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


def _copies_usd(plan: Plan, today: _Today) -> Iterator[float]:
    """Yield what each of the plan's copies costs today, or as before if nobody can tell."""
    made = price_copies(today.market.candidates, today.market.transfers, today.market.storage).to_dict("records")
    usd = {tuple(row[name] for name in COPY): row["usd"] for row in made}
    for copy in plan.copies:
        yield usd.get((plan.datasets[copy.dataset].name, copy.to_region, copy.from_region), copy.usd)
