"""What there is to choose from: every cohort at every place it may go to, with its hours and dollars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.problem import NO_COPY, Choices, Problem
from orchestrator.planner.spot import expected_hours
from orchestrator.planner.transfer import copies
from orchestrator.spec.duration import HOUR, seconds
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from orchestrator.planner.cohorts import Cohort
    from orchestrator.planner.problem import Floats
    from orchestrator.planner.runtime import Runtimes
    from orchestrator.spec.sweep import Sweep

TIE_BREAK = ["region", "instance_type", "purchase", "platform", "s3_uri"]
"""Of places that cost the same, the first in this order wins; so on_demand before spot at the same price."""
LANE = ["platform", "region", "instance_type", "purchase"]

HONEST = 1.25
"""Times its expected hours is what an honest task may take within its envelope."""
STOP_HOURS = 0.05
"""That the launcher keeps back, to stop a training before its envelope is spent."""
LAUNCHER_USD_PER_HOUR = 0.0124
"""A quarter of a vCPU and half a GB on Fargate, for as long as the training runs."""


@dataclass(frozen=True)
class Offer:
    """All that can be chosen, and what its rows and numbers mean."""

    problem: Problem
    candidates: pd.DataFrame
    """In the order of TIE_BREAK, with columns `lane` and `copy`."""
    candidate: np.ndarray
    """The candidate's row, for each choice."""
    lanes: pd.DataFrame
    """LANE and `slots`, by number."""
    copies: pd.DataFrame
    """dataset, from_region, region, s3_uri, bytes, usd, hours, by number."""


def offer(
    sweep: Sweep, cohorts: Sequence[Cohort], runtimes: Runtimes, candidates: pd.DataFrame, transfers: pd.DataFrame
) -> Offer:
    """`candidates` are those that nothing stands in the way of."""
    known = candidates.sort_values(["dataset", *TIE_BREAK], kind="stable", ignore_index=True)
    known = known.astype({"slots": "float64"})
    lanes = known[[*LANE, "slots"]].drop_duplicates(LANE).sort_values(LANE, ignore_index=True)
    known["lane"] = known[LANE].merge(lanes.reset_index(names="lane"), on=LANE, how="left")["lane"].to_numpy()
    made = copies(known, transfers)
    known["copy"] = NO_COPY if made.empty else _numbers(known, made)
    instances = sweep.train.instances
    choices, rows = _choices(sweep, cohorts, runtimes, known, made)
    slots = np.floor(lanes["slots"].fillna(np.inf).to_numpy() / instances)
    problem = Problem(
        counts=np.array([cohort.count for cohort in cohorts], dtype=np.int64),
        slots=slots,
        charges=made["usd"].to_numpy(dtype=np.float64),
        choices=choices,
        horizon=np.inf,
    )
    return Offer(problem, known, rows, lanes, made)


def _numbers(known: pd.DataFrame, made: pd.DataFrame) -> pd.Series[int]:
    keys = ["dataset", "region"]
    found = known[keys].merge(made[keys].reset_index(names="copy"), on=keys, how="left")["copy"]
    return found.where(known["from_region"].notna(), NO_COPY).astype("int64")


def _choices(
    sweep: Sweep, cohorts: Sequence[Cohort], runtimes: Runtimes, known: pd.DataFrame, made: pd.DataFrame
) -> tuple[Choices, np.ndarray]:
    """Cohort by cohort, cheapest first; what would run into its timeout is no choice."""
    of_dataset = {int(name): rows for name, rows in known.groupby("dataset").indices.items()}  # type: ignore[call-overload]
    rows_of = [of_dataset[cohort.dataset] for cohort in cohorts]
    cohort = np.repeat(np.arange(len(cohorts)), [len(rows) for rows in rows_of])
    row = np.concatenate(rows_of)
    pace = np.array([runtimes.pace[name] for name in known["instance_type"]], dtype=np.float64)[row]
    given, factor = pace[:, 0].astype(np.int64), pace[:, 1]
    work = np.array([each.hours for each in cohorts])[cohort, given] * factor
    longest = np.array([each.longest for each in cohorts])[cohort, given] * factor
    spot = (known["purchase"] == Purchase.SPOT.value).to_numpy()[row]
    hours = np.where(spot, expected_hours(work, _checkpoint_hours(sweep)), work)
    instances = sweep.train.instances
    usd = hours * _column(known, "usd_per_hour")[row] * instances
    rate = _column(known, "on_demand_usd_per_hour")[row] * instances
    copy = known["copy"].to_numpy(dtype=np.int64)[row]
    promise = rate * (HONEST * hours + STOP_HOURS) + LAUNCHER_USD_PER_HOUR * hours
    wait = np.append(made["hours"].to_numpy(dtype=np.float64), 0.0)[copy]
    lane = known["lane"].to_numpy(dtype=np.int64)[row]
    allowed = np.flatnonzero(longest * HOUR <= seconds(sweep.timeout))
    best = allowed[np.lexsort((row[allowed], usd[allowed], cohort[allowed]))]
    return Choices(cohort, lane, copy, hours, wait, usd, promise).take(best), row[best]


def _column(known: pd.DataFrame, name: str) -> Floats:
    return np.asarray(known[name], dtype=np.float64)


def _checkpoint_hours(sweep: Sweep) -> float | None:
    return seconds(sweep.train.checkpoints.every) / HOUR if sweep.train.checkpoints else None
