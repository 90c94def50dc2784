"""What there is to choose from: every cohort at every place it may go to, with its hours and dollars."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from orchestrator.catalog.market import ANY
from orchestrator.planner.hours.interruptions import INTERRUPTIONS_PER_HOUR, expected_hours
from orchestrator.planner.model.arrays import SLACK
from orchestrator.planner.model.problem import NO_COPY, Choices, Pool, Problem, Total
from orchestrator.planner.offer.copy_prices import copies
from orchestrator.spec.duration import HOUR, seconds
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
"""Of places that cost the same, the first in this order wins; so on_demand before spot at the same price."""

STOP_HOURS = 0.05
"""That the launcher keeps back, to stop a training before its envelope is spent."""
LAUNCHER_USD_PER_HOUR = 0.0124
"""A quarter of a vCPU and half a GB on Fargate, for as long as the training runs."""


@dataclass(frozen=True)
class Offer:
    """All that can be chosen, and what its rows and numbers mean."""

    problem: Problem
    candidates: pd.DataFrame
    """In the order of TIE_BREAK, with columns `lane` and `copy`; `arn` is empty where there is none."""
    candidate: Integers
    """The candidate's row, for each choice."""
    lanes: pd.DataFrame
    """LOT and its `usd_per_hour`, `slots`, `held`, `opens_h` and `closes_h`, by number."""
    copies: pd.DataFrame
    """dataset, from_region, region, s3_uri, bytes, usd, hours, by number."""
    totals: pd.DataFrame
    """Limits over the lanes of a Region, by number."""


def offer(
    sweep: Sweep, cohorts: Sequence[Cohort], runtimes: Runtimes, candidates: pd.DataFrame, market: Market
) -> Offer:
    """`candidates` are those of the market that nothing stands in the way of, their datasets by number."""
    known = candidates.assign(arn=candidates["arn"].fillna("").astype(str))
    known = known.sort_values(["dataset", *TIE_BREAK], kind="stable", ignore_index=True)
    # What is billed by the hour, spot or not, unless the hours are paid already.
    known["rate"] = known["on_demand_usd_per_hour"].where(known["purchase"] != Purchase.COMMITTED.value, 0.0)
    facts = ["usd_per_hour", "slots", "held", "opens_h", "closes_h"]
    lanes = known[[*LOT, *facts]].drop_duplicates(LOT).sort_values(LOT, ignore_index=True)
    lanes = lanes.astype(dict.fromkeys(facts, "float64"))
    known["lane"] = known[LOT].merge(lanes[LOT].reset_index(names="lane"), on=LOT, how="left")["lane"].to_numpy()
    made = copies(known, market.transfers)
    known["copy"] = NO_COPY if made.empty else _numbers(known, made)
    instances = sweep.train.instances
    found = _Known(known, made)
    limits = _totals(lanes, market.totals)
    choices, rows = _with_pools(*_choices(sweep, cohorts, runtimes, found), found, market.pools)
    problem = Problem(
        counts=np.array([cohort.count for cohort in cohorts], dtype=np.int64),
        slots=_trainings(lanes, instances),
        charges=made["usd"].to_numpy(dtype=np.float64),
        choices=choices,
        horizon=np.inf,
        closes=lanes["closes_h"].to_numpy(),
        totals=_over_lanes(lanes, limits, instances),
        pools=tuple(
            Pool(usd, opens, closes)
            for usd, opens, closes in market.pools[["usd_per_hour", "opens_h", "closes_h"]].itertuples(index=False)
        ),
    )
    return Offer(problem, known, rows, lanes, made, limits)


def _numbers(known: pd.DataFrame, made: pd.DataFrame) -> pd.Series[int]:
    keys = ["dataset", "region"]
    found = known[keys].merge(made[keys].reset_index(names="copy"), on=keys, how="left")["copy"]
    return found.where(known["from_region"].notna(), NO_COPY).astype("int64")


def _trainings(limits: pd.DataFrame, instances: int) -> Floats:
    """That fit at once into the slots that nobody holds; inf where no quota is known."""
    free = limits["slots"].fillna(np.inf).to_numpy(dtype=np.float64) - limits["held"].to_numpy(dtype=np.float64)
    return np.asarray(np.floor(np.maximum(free, 0.0) / instances))


def _totals(lanes: pd.DataFrame, totals: pd.DataFrame) -> pd.DataFrame:
    """Those that any of the lanes are under."""
    some = [number for number, total in enumerate(totals.to_dict("records")) if _under(lanes, total).any()]
    return totals.iloc[some].reset_index(drop=True)


def _over_lanes(lanes: pd.DataFrame, totals: pd.DataFrame, instances: int) -> tuple[Total, ...]:
    trainings = _trainings(totals, instances).tolist()
    rows = totals.to_dict("records")
    return tuple(Total(np.flatnonzero(_under(lanes, row)), slots) for row, slots in zip(rows, trainings, strict=True))


def _under(lanes: pd.DataFrame, total: dict[Any, Any]) -> Booleans:
    """The lanes that a total counts."""
    under = np.asarray(lanes["purchase"] == total["purchase"]) | (total["purchase"] == ANY)
    for name in ("platform", "region"):
        under &= np.asarray(lanes[name] == total[name])
    return np.asarray(under)


@dataclass(frozen=True)
class _Known:
    """Candidates with their `lane` and `copy`, and what these numbers mean."""

    candidates: pd.DataFrame
    copies: pd.DataFrame

    def floats(self, name: str) -> Floats:
        return self.candidates[name].to_numpy(dtype=np.float64)

    def integers(self, name: str) -> Integers:
        return self.candidates[name].to_numpy(dtype=np.int64)

    def is_bought(self, purchase: Purchase) -> Booleans:
        return np.asarray(self.candidates["purchase"] == purchase.value)


def _choices(sweep: Sweep, cohorts: Sequence[Cohort], runtimes: Runtimes, known: _Known) -> tuple[Choices, Integers]:
    """Cohort by cohort, cheapest first; what would run into its timeout is no choice."""
    of_dataset = {int(name): rows for name, rows in known.candidates.groupby("dataset").indices.items()}  # type: ignore[call-overload]
    rows_of = [of_dataset[cohort.dataset] for cohort in cohorts]
    cohort = np.repeat(np.arange(len(cohorts)), [len(rows) for rows in rows_of])
    row = np.concatenate(rows_of)
    codes, types = known.candidates["instance_type"].factorize()
    pace = np.array([(*runtimes.pace[name], runtimes.honest[name]) for name in types])[codes[row]]
    way, factor, honest = pace[:, 0].astype(np.int64), pace[:, 1], pace[:, 2]
    work = np.array([each.hours for each in cohorts])[cohort, way] * factor
    longest = np.array([each.longest for each in cohorts])[cohort, way] * factor
    risk = known.floats("interruptions_per_hour")[row]
    spot = known.is_bought(Purchase.SPOT)[row]
    hours = held_hours(sweep, work, spot, risk)
    instances = sweep.train.instances
    usd = hours * known.floats("usd_per_hour")[row] * instances
    rate = known.floats("rate")[row] * instances
    promise = rate * (honest * hours + STOP_HOURS) + LAUNCHER_USD_PER_HOUR * hours
    copy, lane = known.integers("copy")[row], known.integers("lane")[row]
    copied = np.append(known.copies["hours"].to_numpy(dtype=np.float64), 0.0)[copy]
    wait = np.maximum(copied, known.floats("opens_h")[row])
    allowed = np.flatnonzero(held_hours(sweep, longest, spot, risk) * HOUR <= seconds(sweep.timeout))
    best = allowed[np.lexsort((row[allowed], usd[allowed], cohort[allowed]))]
    return Choices(cohort, lane, copy, hours, wait, usd, promise).take(best), row[best]


def _with_pools(choices: Choices, rows: Integers, known: _Known, pools: pd.DataFrame) -> tuple[Choices, Integers]:
    """On-demand work under a savings plan is paid already, as far as the plan goes: a choice of its own.

    A task that alone draws more in an hour than the plan pays for is none: the rest of each hour would be billed.
    """
    found, at = [choices], [rows]
    for number, pool in enumerate(pools.to_dict("records")):
        under = known.is_bought(Purchase.ON_DEMAND) & np.asarray(known.candidates["platform"] == pool["platform"])
        for name in ("region", "instance_type"):
            under &= np.asarray(known.candidates[name] == pool[name]) | (pool[name] == ANY)
        some = np.flatnonzero(under[rows])
        draw = choices.usd[some] * (1 - pool["discount"])
        some = some[draw <= pool["usd_per_hour"] * choices.hours[some] * SLACK]
        wait = np.maximum(choices.wait[some], pool["opens_h"])
        some, wait = (each[wait + choices.hours[some] <= pool["closes_h"]] for each in (some, wait))
        drawing = choices.take(some)
        paid = replace(
            drawing,
            wait=wait,
            usd=np.zeros(len(some)),
            pool=np.full(len(some), number),
            draw=drawing.usd * (1 - pool["discount"]),
        )
        found.append(paid)
        at.append(rows[some])
    if len(found) == 1:
        return choices, rows
    together = Choices(
        **{name: np.concatenate([getattr(each, name) for each in found]) for name in Choices.__dataclass_fields__}
    )
    row = np.concatenate(at)
    order = np.lexsort((together.pool, row, together.usd, together.cohort))
    return together.take(order), row[order]


def held_hours(sweep: Sweep, work: Floats, spot: Booleans, interruptions: Floats) -> Floats:
    """That tasks of so many hours of work hold their instances, interruptions and all: its timeout counts these."""
    risk = np.nan_to_num(interruptions, nan=INTERRUPTIONS_PER_HOUR)
    return np.where(spot, expected_hours(work, _checkpoint_hours(sweep), risk), work)


def _checkpoint_hours(sweep: Sweep) -> float | None:
    return seconds(sweep.train.checkpoints.every) / HOUR if sweep.train.checkpoints else None
