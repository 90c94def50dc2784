"""Attributes what a plan costs more, or less, than an older one to what has changed since: the parts add up.

The facts of the older plan are exchanged for today's, one kind after another, and each time it is planned anew. What a
kind of fact is worth is what the plan then costs more.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.catalog.market import DISCOUNTS, HISTORY, QUOTAS, Seen, table
from orchestrator.errors import SweepError
from orchestrator.plan.slots import LotKey
from orchestrator.planner.hours.lane_times import with_times
from orchestrator.planner.hours.learned import LearnedHours
from orchestrator.planner.model.solution import DoesNotFit
from orchestrator.planner.model.time_limit import TimeLimit
from orchestrator.planner.offer.formulate import formulate
from orchestrator.planner.offer.offer import QUOTA
from orchestrator.planner.offer.spot_prices import as_learned
from orchestrator.planner.start_rates import StartsTooLate, solve_in_time
from orchestrator.wire.task import Lane, Purchase

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from orchestrator.catalog.market import Market
    from orchestrator.plan.plan import Plan

PLACES, PRICES, PAID, INTERRUPTIONS, REFUSALS, RUNTIMES, UNITS = KINDS = (
    "places that are new",
    "prices",
    "learned discounts",
    "interruption rates",
    "refusals",
    "learned runtimes",
    "quotas",
)
"""The kinds of facts that a plan has kept, in the order in which they are exchanged."""


@dataclass(frozen=True)
class Part:
    """What one kind of facts has changed, or several together."""

    cause: str
    usd: float


def attribute(old: Plan, new: Plan, market: Market) -> list[Part]:
    """Return what has made the new plan dearer or cheaper than the old one. The parts add up, cent by cent.

    `market` is the one that the new plan was made from. An old plan that has kept no facts has one part.
    """
    changed = [kind for kind in KINDS if old.prices and _facts(old, kind) != _facts(new, kind)]
    usd, parts, together = old.usd, [], [_other_changes(old, new, market)]
    for number, kind in enumerate([*changed, ""]):
        then = new.usd if kind == "" else _planned_usd(old, new, market, set(changed[:number]))
        if then is None:  # these facts together allow no plan
            together = [*together, kind]
            continue
        parts.append(Part(" and ".join(together), round(then, 2) - round(usd, 2)))
        usd, together = then, [kind]
    return [part for part in parts if abs(part.usd) >= 0.005]


def _other_changes(old: Plan, new: Plan, market: Market) -> str:
    """Return in words what may have changed besides the facts that a plan keeps."""
    used = {LotKey.of(share.places[0]) for share in old.shares}
    names = []
    if old.sweep.model_dump(mode="json") != new.sweep.model_dump(mode="json"):
        names.append("what was asked")
    if not used <= set(_keys(market.candidates)):
        names.append("places that are gone")
    if not market.pools.empty:
        names.append("commitments")
    if old.datasets != new.datasets or not names:
        names.append("data")
    return " and ".join(names)


def _facts(plan: Plan, kind: str) -> object:
    """Return what the plan has kept of this kind of facts."""
    lanes = {LotKey(price.lane, price.site): price for price in plan.prices}
    if kind == PLACES:
        return lanes.keys()
    if kind == PRICES:
        return {key: price.listed for key, price in lanes.items()}
    if kind == PAID:
        return {key: price.discount for key, price in lanes.items()}
    if kind == INTERRUPTIONS:
        return {key: price.interruptions_per_hour for key, price in lanes.items()}
    if kind == REFUSALS:
        return {key: price.refused for key, price in lanes.items()}
    return plan.learned if kind == RUNTIMES else plan.quotas


def _planned_usd(old: Plan, new: Plan, market: Market, todays: set[str]) -> float | None:
    """Return what a plan costs with these kinds of facts as they are today, and all others as they were; None if there
    is none."""
    then, learned = market, None
    if RUNTIMES not in todays:
        then = replace(then, history=table((), HISTORY))
        learned = LearnedHours.from_json(old.learned) if old.learned is not None else None
    if UNITS not in todays:
        then = replace(then, quotas=_quotas(old, market))
    then = replace(then, candidates=_candidates(old, market, todays), discounts=table((), DISCOUNTS), seen=Seen())
    try:
        return solve_in_time(formulate(new.sweep, then, learned).offer, new.sweep.plan, TimeLimit()).paid
    except (DoesNotFit, StartsTooLate, SweepError):
        return None


def _candidates(old: Plan, market: Market, todays: set[str]) -> pd.DataFrame:
    """Return today's candidates, with the facts of their lanes as they were, but for these kinds."""
    rows = with_times(as_learned(market).fillna({"site": ""}), market)
    was = {LotKey(price.lane, price.site): price for price in old.prices}
    keys = list(_keys(rows))
    known = np.array([key in was for key in keys])
    listed, usd = rows["listed_usd_per_hour"].to_numpy(dtype=float), rows["usd_per_hour"].to_numpy(dtype=float)
    discount = np.divide(usd, listed, out=np.ones(len(rows)), where=listed > 0)
    rate = rows["interruptions_per_hour"].to_numpy(dtype=float)
    if PRICES not in todays:
        listed = np.where(known, [was[key].listed if key in was else 0.0 for key in keys], listed)
    if PAID not in todays:
        discount = np.where(known, [was[key].discount if key in was else 0.0 for key in keys], discount)
    if INTERRUPTIONS not in todays:
        rates = [was[key].interruptions_per_hour if key in was else None for key in keys]
        rate = np.where(known, np.array(rates, dtype=float), rate)
    refused = rows["refused"].to_numpy(dtype=float)
    if REFUSALS not in todays:
        refused = np.where(known, [was[key].refused if key in was else 0.0 for key in keys], refused)
    made = rows.assign(usd_per_hour=listed * discount, interruptions_per_hour=rate, refused=refused)
    return made if PLACES in todays else made[known]


def _quotas(old: Plan, market: Market) -> pd.DataFrame:
    """Return the quotas as they were; those that count only lanes which the old plan did not know, as they are."""
    was = [(*astuple(fact.quota), fact.units, fact.held) for fact in old.quotas]
    lanes = {LotKey(price.lane, price.site) for price in old.prices}
    names = market.uses[QUOTA].itertuples(index=False, name=None)
    counted = {name for key, name in zip(_keys(market.uses), names, strict=True) if key in lanes}
    new = [row for row in market.quotas[list(QUOTAS)].itertuples(index=False, name=None) if row[:3] not in counted]
    known = {row[:3] for row in was}
    return table([*was, *(row for row in new if row[:3] not in known)], QUOTAS)


def _keys(rows: pd.DataFrame) -> Iterator[LotKey]:
    """Yield what the lane of each candidate is known by."""
    columns = rows[["platform", "region", "instance_type", "purchase", "site"]].fillna({"site": ""})
    for platform, region, instance_type, purchase, site in columns.itertuples(index=False, name=None):
        yield LotKey(Lane(platform, region, instance_type, Purchase(purchase)), site)
