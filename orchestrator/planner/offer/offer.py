"""The offer: all that the cohorts may choose from, with the numbers of lanes, copies and limits, as a `Problem`."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from math import gcd
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from orchestrator.planner.hours.lane_times import LANE, TIMES, with_times
from orchestrator.planner.model.choices import NO_COPY
from orchestrator.planner.model.problem import Limit, Pool, Problem
from orchestrator.planner.offer.billing import BILLED, with_billing
from orchestrator.planner.offer.choices import NumberedCandidates, add_savings_plans, list_choices
from orchestrator.planner.offer.copy_prices import COPY, drop_worse_copies, price_copies
from orchestrator.planner.offer.spare_hours import with_spare_hours
from orchestrator.planner.offer.spot_prices import LISTED
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orchestrator.catalog.market import Market
    from orchestrator.planner.hours.runtimes import Runtimes
    from orchestrator.planner.model.arrays import Integers
    from orchestrator.planner.offer.cohorts import Cohort
    from orchestrator.spec.sweep import Sweep

LOT = [*LANE, "site"]
"""A committed lane is as many lots as there are training plans of it."""
LOT_AND_COUNT = [*LOT, "instances"]
"""A lot is as many lanes of the problem as there are numbers of instances that one training may have."""
TIE_BREAK = ["region", "instance_type", "purchase", "platform", "s3_uri", "site", "from_region", "instances"]
"""Places that cost the same are ranked in this order, and the first wins; so on_demand before spot at one price."""
_NAMES = ["platform", "region", "instance_type", "purchase", "s3_uri", "site", "from_region"]
QUOTA = ["platform", "region", "quota"]
LAUNCHERS = "launchers at once"
"""The name of the limit that Batch's environment sets. It is no platform's quota, and in no Region."""
_KEPT = ["dataset", *LOT_AND_COUNT, "s3_uri", "copy", "rate", "allowance_s"]
_LANE_FACTS = [LISTED, "usd_per_hour", "interruptions_per_hour", "opens_h", "closes_h", *TIMES, *BILLED]


@dataclass(frozen=True)
class Offer:
    """All that can be chosen, and what the rows and numbers of its problem mean."""

    problem: Problem
    candidates: pd.DataFrame
    """What places are made of: the usable candidates, once for each of their `instances`, sorted by dataset and
    TIE_BREAK. `copy` is a number, `rate` is the on-demand $/h that is billed for an instance, and `site` is empty where
    there is none."""
    candidate: Integers
    """The candidate's row, for each choice."""
    lanes: pd.DataFrame
    """LOT_AND_COUNT, its `usd_per_hour`, what the catalog says of that (LISTED), `interruptions_per_hour` (of spot, if
    they are known), `opens_h` and `closes_h`, TIMES and BILLED, by the lane's number."""
    copies: pd.DataFrame
    """COPIES, by the copy's number: a dataset may come to a Region from several sources, where one is cheaper and
    another quicker."""
    quotas: pd.DataFrame
    """QUOTA and its `units` and `held`, by the limit's number. `bought` is true where it is a training plan. The last
    is that of LAUNCHERS, if these may be too few."""
    uses: list[dict[str, int]]
    """The units of each quota, by its name, that one instance holds, by the lane's number."""
    lost: dict[int, float]
    """The least hours that interruptions would cost a task, by the number of each lane that is no choice for that."""
    busy: Mapping[int, Sequence[float]] = field(default_factory=dict)
    """Hours for which slots are busy yet with tasks of the same run, by the number of each lane that has such slots."""


def offer(
    sweep: Sweep, cohorts: Sequence[Cohort], runtimes: Runtimes, candidates: pd.DataFrame, market: Market
) -> Offer:
    """Return what these cohorts may choose from.

    `candidates` are those of the market that nothing stands in the way of. Their datasets are numbers.
    """
    table = candidates.assign(site=candidates["site"].fillna("").astype(str))
    table = with_billing(with_times(table, market), market)
    # Few names are there very often: as numbers they take a tenth of the memory, and are sorted as quickly.
    table = table.astype(dict.fromkeys(_NAMES, "category"))
    table = table.sort_values(["dataset", *TIE_BREAK], kind="stable", ignore_index=True)
    lanes = table[[*LOT_AND_COUNT, *_LANE_FACTS]].drop_duplicates(LOT_AND_COUNT)
    lanes = lanes.astype(dict.fromkeys(LOT, "str")).sort_values(LOT_AND_COUNT, ignore_index=True)
    lanes = lanes.astype(dict.fromkeys(_LANE_FACTS, "float64"))
    table["lane"] = _lane_numbers(table)
    copies = drop_worse_copies(price_copies(table, market.transfers, market.storage))
    table["copy"] = _copy_numbers(table, copies)
    there = table["copy"].ge(0) | table["from_region"].isna()
    table = table if there.all() else table[there].reset_index(drop=True)
    # AWS bills by the on-demand rate, spot or not, unless the hours are paid already.
    table["rate"] = table["on_demand_usd_per_hour"].where(table["purchase"] != Purchase.COMMITTED.value, 0.0)

    numbered = NumberedCandidates(table, copies)
    choices, rows, lost = list_choices(sweep, cohorts, runtimes, numbered)
    choices, rows = add_savings_plans(choices, rows, numbered, market.pools)
    uses = _uses_by_lane(lanes, market.uses)
    quotas, limits = _quotas_of(lanes, uses, market.quotas)
    tasks = sum(cohort.count for cohort in cohorts)
    if market.launchers is not None and tasks > market.launchers and len(lanes):
        limits = (*limits, Limit(np.arange(len(lanes)), np.ones(len(lanes)), float(market.launchers)))
        known = [*quotas.itertuples(index=False, name=None), ("", "", LAUNCHERS, market.launchers, 0, False)]
        quotas = pd.DataFrame(known, columns=quotas.columns)
    problem = Problem(
        counts=np.array([cohort.count for cohort in cohorts], dtype=np.int64),
        lanes=len(lanes),
        charges=copies["usd"].to_numpy(dtype=np.float64),
        choices=choices,
        horizon=np.inf,
        closes=lanes["closes_h"].to_numpy(),
        limits=limits,
        lots=pd.factorize(pd.MultiIndex.from_frame(lanes[LOT]))[0],
        instances=lanes["instances"].to_numpy(dtype=np.int64),
        pools=tuple(
            Pool(usd, opens, closes)
            for usd, opens, closes in market.pools[["usd_per_hour", "opens_h", "closes_h"]].itertuples(index=False)
        ),
    )
    if sweep.weighs_spot:
        problem = with_spare_hours(problem, sweep, lanes)
    return Offer(problem, table[_KEPT].copy(), rows, lanes, copies, quotas, uses, lost)


def _lane_numbers(table: pd.DataFrame) -> Integers:
    """Return the number of each candidate's lane: lanes are numbered in the order of LOT_AND_COUNT."""
    keys = np.zeros(len(table), dtype=np.int64)
    for name in LOT_AND_COUNT:
        codes, values = table[name].factorize(sort=True)
        keys = keys * len(values) + codes
    return np.unique(keys, return_inverse=True)[1].astype(np.int64)


def _copy_numbers(table: pd.DataFrame, copies: pd.DataFrame) -> pd.Series[int] | int:
    """Return the number of the copy that each candidate needs, or NO_COPY: it needs none, or one that is no option."""
    if copies.empty:
        return NO_COPY
    numbers = copies[COPY].astype(dict(table[COPY].dtypes)).reset_index(names="copy")
    found = table[COPY].merge(numbers, on=COPY, how="left")["copy"]
    return found.fillna(NO_COPY).astype("int64")


def _uses_by_lane(lanes: pd.DataFrame, uses: pd.DataFrame) -> list[dict[str, int]]:
    """Return the units of each quota, by its name, that one instance holds, for each lane."""
    of_lot: defaultdict[tuple[str, ...], dict[str, int]] = defaultdict(dict)
    for *lot, quota, units in uses[[*LOT, "quota", "units"]].itertuples(index=False, name=None):
        of_lot[tuple(lot)][quota] = int(units)
    return [of_lot[lot] for lot in lanes[LOT].itertuples(index=False, name=None)]


def _quotas_of(
    lanes: pd.DataFrame, uses: Sequence[dict[str, int]], quotas: pd.DataFrame
) -> tuple[pd.DataFrame, tuple[Limit, ...]]:
    """Return the known quotas that count any of the lanes, and the limit of each, in their order.

    Those of one lane come first, by lane, then the others by name. Units that are too few for anything are left out of
    the limits.
    """
    counted: defaultdict[tuple[str, str, str], list[tuple[int, int]]] = defaultdict(list)
    places = lanes[["platform", "region", "instances"]].itertuples(index=False, name=None)
    for lane, ((platform, region, instances), names) in enumerate(zip(places, uses, strict=True)):
        for name, units in names.items():
            counted[platform, region, name].append((lane, units * instances))

    bought, rows = set(lanes["site"]) - {""}, []
    for platform, region, name, units, held in quotas.itertuples(index=False, name=None):
        of = counted.get((platform, region, name))
        if of:
            place = of[0][0] if len(of) == 1 else len(lanes)
            rows.append((place, platform, region, name, units, held, name in bought))
    rows.sort()
    limits = tuple(_limit(counted[row[1], row[2], row[3]], max(row[4] - row[5], 0)) for row in rows)
    return pd.DataFrame([row[1:] for row in rows], columns=[*QUOTA, "units", "held", "bought"]), limits


def _limit(counted: Sequence[tuple[int, int]], free: int) -> Limit:
    """Return a limit of so many free units over these lanes, each with the units that one training holds there."""
    lanes, units = zip(*counted, strict=True)
    step = gcd(*units)
    return Limit(np.array(lanes), np.array(units, dtype=np.float64), float(free // step * step))
