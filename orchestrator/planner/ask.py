"""What a sweep asks of a market: its cohorts, and all that each of them has to choose from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.errors import InfeasibleError
from orchestrator.planner import runtime
from orchestrator.planner.cohorts import Cohort, cohorts
from orchestrator.planner.cost import Offer, offer
from orchestrator.planner.discounts import priced
from orchestrator.planner.obstacles import nowhere, obstacles
from orchestrator.planner.plan import Dataset
from orchestrator.spec.duration import HOUR, seconds, spell
from orchestrator.spec.kinds import cautions

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from orchestrator.catalog.market import Market
    from orchestrator.planner.runtime import Runtimes
    from orchestrator.spec.sweep import Sweep


@dataclass(frozen=True)
class Asked:
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


def ask(sweep: Sweep, market: Market) -> Asked:
    """InfeasibleError, in words, when some task can run nowhere at all."""
    selected = market.datasets
    datasets = [Dataset(name, int(size)) for name, size in zip(selected["dataset"], selected["bytes"], strict=True)]
    if not datasets:
        raise InfeasibleError("no dataset is what `data` asks for", hint="`sweep catalog show datasets` lists them")
    runtimes = runtime.runtimes(sweep, [dataset.bytes for dataset in datasets], market.history)
    groups = cohorts(runtimes.hours, runtimes.data, sweep.points.points_per_size)
    candidates, left_out = _usable(sweep, market, datasets, runtimes)
    _fits_into_timeout(sweep, datasets, groups, candidates, runtimes)
    offered = offer(sweep, groups, runtimes, candidates, market)
    notes = (*runtimes.basis, *cautions(sweep.train, sweep.where.instance_types), *left_out)
    return Asked(sweep, market.hash, tuple(datasets), tuple(groups), offered, market.leases, notes)


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
    """Some instance type is fast enough for every task."""
    types = {number: rows["instance_type"].unique() for number, rows in candidates.groupby("dataset")}

    def hours(group: Cohort) -> float:
        paces = (runtimes.pace[name] for name in types[group.dataset])
        return min(group.longest[row] * factor for row, factor in paces)

    slowest = max(groups, key=hours)
    if hours(slowest) * HOUR > seconds(sweep.timeout):
        raise InfeasibleError(
            f"a task of {datasets[slowest.dataset].name}{runtime.at(sweep, slowest.longest_size)} "
            f"takes {hours(slowest):.1f} hours, longer than the timeout of {sweep.timeout}",
            hint=f"set `timeout` to {spell(hours(slowest) * HOUR * 1.2)} or more, or use more instances",
        )
