"""What a sweep asks of a market: its cohorts, and all that each of them has to choose from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.errors import InfeasibleError
from orchestrator.plan.plan import Dataset
from orchestrator.planner.hours.runtimes import expected_runtimes, named_size
from orchestrator.planner.model.problem import NO_POOL
from orchestrator.planner.offer.cohorts import Cohort, cohorts
from orchestrator.planner.offer.obstacles import nowhere, obstacles
from orchestrator.planner.offer.offer import Offer, held_hours, offer
from orchestrator.planner.offer.spot_prices import priced
from orchestrator.spec.duration import HOUR, seconds, spell
from orchestrator.spec.kinds import cautions
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from orchestrator.catalog.market import Market
    from orchestrator.planner.hours.runtimes import Runtimes
    from orchestrator.planner.model.arrays import Booleans, Floats, Integers
    from orchestrator.spec.sweep import Sweep


@dataclass(frozen=True)
class Formulation:
    sweep: Sweep
    market: str
    """The market's hash."""
    datasets: tuple[Dataset, ...]
    cohorts: tuple[Cohort, ...]
    offer: Offer
    leases: pd.DataFrame
    """As in Market."""
    notes: tuple[str, ...]
    """Where hours and prices come from, and what was left out, in words."""


def formulate(sweep: Sweep, market: Market) -> Formulation:
    """InfeasibleError, in words, when some task can run nowhere at all."""
    selected = market.datasets
    datasets = [Dataset(name, int(size)) for name, size in zip(selected["dataset"], selected["bytes"], strict=True)]
    if not datasets:
        raise InfeasibleError("no dataset is what `data` asks for", hint="`sweep catalog show datasets` lists them")
    runtimes = expected_runtimes(sweep, [dataset.bytes for dataset in datasets], market.history)
    groups = cohorts(runtimes.hours, runtimes.data, sweep.points.points_per_size)
    candidates, left_out = _usable(sweep, market, datasets, runtimes)
    _fits_into_timeout(sweep, datasets, groups, candidates, runtimes)
    offered = offer(sweep, groups, runtimes, candidates, market)
    left_out += _too_slow(sweep, offered)
    notes = (*runtimes.basis, *cautions(sweep.train, sweep.where.instance_types), *left_out, *_savings(market, offered))
    return Formulation(sweep, market.hash, tuple(datasets), tuple(groups), offered, market.leases, notes)


def _usable(
    sweep: Sweep, market: Market, datasets: list[Dataset], runtimes: Runtimes
) -> tuple[pd.DataFrame, list[str]]:
    """The candidates that nothing stands in the way of, with datasets by number; and what was left out, in words."""
    numbers = {dataset.name: number for number, dataset in enumerate(datasets)}
    candidates = priced(market.candidates, market.discounts)
    candidates["dataset"] = candidates["dataset"].map(numbers)
    reasons = obstacles(candidates, sweep, runtimes)
    usable = candidates[reasons == ""]
    for number, dataset in enumerate(datasets):
        if not (usable["dataset"] == number).any():
            raise nowhere(dataset.name, sweep, reasons[candidates["dataset"] == number])
    sold = set(candidates["instance_type"].unique())
    absent = [name for name in sweep.where.instance_types if name not in sold]
    left_out = [f"{name} is not for sale where the data lies" for name in absent]
    return usable, left_out + sorted({f"left out: {reason}" for reason in reasons if reason})


def _fits_into_timeout(
    sweep: Sweep, datasets: Sequence[Dataset], groups: Sequence[Cohort], candidates: pd.DataFrame, runtimes: Runtimes
) -> None:
    """Some place is fast enough for every task, interruptions and all."""
    places = {number: _paces(rows, runtimes) for number, rows in candidates.groupby("dataset")}

    def hours(group: Cohort) -> tuple[float, bool]:
        """Where it is fastest, and whether some of them are lost to interruptions."""
        way, factor, spot, interruptions = places[group.dataset]
        work = np.array(group.longest)[way] * factor
        held = held_hours(sweep, work, spot, interruptions)
        return float(held.min()), bool(held.min() > work.min())

    slowest = max(groups, key=hours)
    longest, interrupted = hours(slowest)
    if longest * HOUR > seconds(sweep.timeout):
        raise InfeasibleError(
            f"a task of {datasets[slowest.dataset].name}{named_size(sweep, slowest.longest_size)} "
            f"takes {longest:.1f} hours{', interruptions of spot included' * interrupted}, "
            f"longer than the timeout of {sweep.timeout}",
            hint=f"set `timeout` to {spell(longest * HOUR * 1.2)} or more, or "
            + ("save checkpoints, or allow on_demand" if interrupted else "use more instances"),
        )


def _savings(market: Market, offered: Offer) -> list[str]:
    """Of the savings plans that there is something for."""
    drawn_on = sorted(set(offered.problem.choices.pool.tolist()) - {NO_POOL})
    return [
        f"savings plan {market.pools['pool'].iloc[number]}: its $/h are counted over the whole time; "
        "in an hour in which trainings draw more, AWS bills the rest on demand"
        for number in drawn_on
    ]


def _paces(candidates: pd.DataFrame, runtimes: Runtimes) -> tuple[Integers, Floats, Booleans, Floats]:
    """Of each place: whose hours, times what, whether it is spot, and how often that is interrupted."""
    paces = [runtimes.pace[name] for name in candidates["instance_type"]]
    return (
        np.array([way for way, _ in paces]),
        np.array([factor for _, factor in paces]),
        np.asarray(candidates["purchase"] == Purchase.SPOT.value),
        candidates["interruptions_per_hour"].to_numpy(dtype=np.float64),
    )


def _too_slow(sweep: Sweep, offered: Offer) -> list[str]:
    """Lanes on which no task ends within its timeout, in words."""
    unused = offered.lanes[~offered.lanes.index.isin(offered.problem.choices.lane)]
    lanes = sorted(set(zip(unused["instance_type"], unused["purchase"], unused["region"], strict=True)))
    return [
        f"left out: {name} {purchase} in {region}, where tasks would run into the timeout of {sweep.timeout}"
        for name, purchase, region in lanes
    ]
