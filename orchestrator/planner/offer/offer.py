"""The offer: all that the cohorts may choose from, with the numbers of lanes, copies and totals, as a `Problem`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from orchestrator.catalog.market import ANY
from orchestrator.planner.model.choices import NO_COPY
from orchestrator.planner.model.problem import Pool, Problem, Total
from orchestrator.planner.offer.choices import NumberedCandidates, add_savings_plans, list_choices
from orchestrator.planner.offer.copy_prices import price_copies
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from orchestrator.catalog.market import Market
    from orchestrator.planner.hours.runtimes import Runtimes
    from orchestrator.planner.model.arrays import Booleans, Floats, Integers
    from orchestrator.planner.offer.cohorts import Cohort
    from orchestrator.spec.sweep import Sweep

LANE = ["platform", "region", "instance_type", "purchase"]
LOT = [*LANE, "arn"]
"""A committed lane is as many lots as there are training plans of it."""
TIE_BREAK = ["region", "instance_type", "purchase", "platform", "s3_uri", "arn"]
"""Places that cost the same are ranked in this order, and the first wins; so on_demand before spot at one price."""
_LANE_FACTS = ["usd_per_hour", "slots", "held", "opens_h", "closes_h"]


@dataclass(frozen=True)
class Offer:
    """All that can be chosen, and what the rows and numbers of its problem mean."""

    problem: Problem
    candidates: pd.DataFrame
    """The usable candidates, sorted by dataset and TIE_BREAK. `lane` and `copy` are numbers, `rate` is the on-demand
    $/h that is billed, and `arn` is empty where there is none."""
    candidate: Integers
    """The candidate's row, for each choice."""
    lanes: pd.DataFrame
    """LOT and its `usd_per_hour`, `slots`, `held`, `opens_h` and `closes_h`, by the lane's number."""
    copies: pd.DataFrame
    """dataset, from_region, region, s3_uri, bytes, usd and hours, by the copy's number."""
    totals: pd.DataFrame
    """Limits over the lanes of a Region as in a Market, by the total's number."""


def offer(
    sweep: Sweep, cohorts: Sequence[Cohort], runtimes: Runtimes, candidates: pd.DataFrame, market: Market
) -> Offer:
    """Return what these cohorts may choose from.

    `candidates` are those of the market that nothing stands in the way of. Their datasets are numbers.
    """
    table = candidates.assign(arn=candidates["arn"].fillna("").astype(str))
    table = table.sort_values(["dataset", *TIE_BREAK], kind="stable", ignore_index=True)
    lanes = table[[*LOT, *_LANE_FACTS]].drop_duplicates(LOT).sort_values(LOT, ignore_index=True)
    lanes = lanes.astype(dict.fromkeys(_LANE_FACTS, "float64"))
    copies = price_copies(table, market.transfers)
    # AWS bills by the on-demand rate, spot or not, unless the hours are paid already.
    table["rate"] = table["on_demand_usd_per_hour"].where(table["purchase"] != Purchase.COMMITTED.value, 0.0)
    table["lane"] = table[LOT].merge(lanes[LOT].reset_index(names="lane"), on=LOT, how="left")["lane"].to_numpy()
    table["copy"] = NO_COPY if copies.empty else _copy_numbers(table, copies)

    numbered = NumberedCandidates(table, copies)
    choices, rows = list_choices(sweep, cohorts, runtimes, numbered)
    choices, rows = add_savings_plans(choices, rows, numbered, market.pools)
    totals, instances = _totals_of(lanes, market.totals), sweep.train.instances
    problem = Problem(
        counts=np.array([cohort.count for cohort in cohorts], dtype=np.int64),
        slots=_trainings(lanes, instances),
        charges=copies["usd"].to_numpy(dtype=np.float64),
        choices=choices,
        horizon=np.inf,
        closes=lanes["closes_h"].to_numpy(),
        totals=_with_lane_numbers(totals, lanes, instances),
        pools=tuple(
            Pool(usd, opens, closes)
            for usd, opens, closes in market.pools[["usd_per_hour", "opens_h", "closes_h"]].itertuples(index=False)
        ),
    )
    return Offer(problem, table, rows, lanes, copies, totals)


def _copy_numbers(table: pd.DataFrame, copies: pd.DataFrame) -> pd.Series[int]:
    """Return the number of the copy that each candidate needs, or NO_COPY."""
    keys = ["dataset", "region"]
    found = table[keys].merge(copies[keys].reset_index(names="copy"), on=keys, how="left")["copy"]
    return found.where(table["from_region"].notna(), NO_COPY).astype("int64")


def _trainings(limits: pd.DataFrame, instances: int) -> Floats:
    """Return how many trainings fit at once into the free slots of each limit; inf where no quota is known."""
    free = limits["slots"].fillna(np.inf).to_numpy(dtype=np.float64) - limits["held"].to_numpy(dtype=np.float64)
    return np.asarray(np.floor(np.maximum(free, 0.0) / instances))


def _totals_of(lanes: pd.DataFrame, totals: pd.DataFrame) -> pd.DataFrame:
    """Return the totals that count any of the lanes."""
    some = [number for number, total in enumerate(totals.to_dict("records")) if _counted_by(total, lanes).any()]
    return totals.iloc[some].reset_index(drop=True)


def _with_lane_numbers(totals: pd.DataFrame, lanes: pd.DataFrame, instances: int) -> tuple[Total, ...]:
    rows, trainings = totals.to_dict("records"), _trainings(totals, instances).tolist()
    return tuple(
        Total(np.flatnonzero(_counted_by(row, lanes)), slots) for row, slots in zip(rows, trainings, strict=True)
    )


def _counted_by(total: dict[Any, Any], lanes: pd.DataFrame) -> Booleans:
    """Return which of the lanes a total counts."""
    counted = np.asarray(lanes["purchase"] == total["purchase"]) | (total["purchase"] == ANY)
    for name in ("platform", "region"):
        counted &= np.asarray(lanes[name] == total[name])
    return np.asarray(counted)
