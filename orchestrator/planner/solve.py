"""Sweep and Market in, Plan out. Pure: same arguments, same plan, byte for byte.

Each cohort goes to the cheapest place that can run it. Behind it stand up to three fallbacks: first the cheapest place
of each other Region, cheapest Region first, so that one Region's failure leaves somewhere to go; then the rest by cost.
"""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING

from orchestrator.errors import InfeasibleError
from orchestrator.planner import runtime
from orchestrator.planner.cohorts import cohorts
from orchestrator.planner.cost import options
from orchestrator.planner.obstacles import nowhere, obstacles
from orchestrator.planner.plan import Dataset, Plan, Share
from orchestrator.spec.duration import seconds, spell
from orchestrator.wire.task import Lane, Limits, Place, Purchase

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    import pandas as pd

    from orchestrator.catalog.market import Market
    from orchestrator.planner.cohorts import Cohort
    from orchestrator.spec.sweep import Sweep

MAX_PLACES = 4


def solve(sweep: Sweep, market: Market) -> Plan:
    """InfeasibleError, in words, when a task has nowhere to run or not time enough."""
    selected = market.datasets
    datasets = [Dataset(name, int(size)) for name, size in zip(selected["dataset"], selected["bytes"], strict=True)]
    if not datasets:
        raise InfeasibleError("no dataset is what `data` asks for", hint="`sweep catalog show datasets` lists them")
    groups = cohorts(len(datasets), runtime.hours(sweep), sweep.points.points_per_size)
    _fits_into_timeout(sweep, datasets, groups)
    candidates, left_out = _usable(sweep, market, datasets)
    ranked = _ranked(options(groups, candidates, sweep.train.instances))
    return Plan(
        sweep=sweep,
        market=market.hash,
        datasets=tuple(datasets),
        shares=tuple(_shares(sweep, groups, candidates, ranked)),
        notes=(runtime.basis(sweep), *left_out),
    )


def _fits_into_timeout(sweep: Sweep, datasets: Sequence[Dataset], groups: Sequence[Cohort]) -> None:
    slowest = max(groups, key=attrgetter("longest"))
    if slowest.longest * 3600 > seconds(sweep.timeout):
        raise InfeasibleError(
            f"a task of {datasets[slowest.dataset].name}{runtime.at(sweep, slowest.longest_size)} "
            f"takes {slowest.longest:.1f} hours, longer than the timeout of {sweep.timeout}",
            hint=f"set `timeout` to {spell(slowest.longest * 3600 * 1.2)} or more, or use more instances",
        )


def _usable(sweep: Sweep, market: Market, datasets: list[Dataset]) -> tuple[pd.DataFrame, list[str]]:
    """The candidates that nothing stands in the way of, with datasets by number; and what was left out, in words."""
    numbers = {dataset.name: number for number, dataset in enumerate(datasets)}
    candidates = market.candidates.assign(dataset=market.candidates["dataset"].map(numbers))
    reasons = obstacles(candidates, sweep)
    usable = candidates[reasons == ""]
    for number, dataset in enumerate(datasets):
        if not (usable["dataset"] == number).any():
            raise nowhere(dataset.name, sweep, reasons[candidates["dataset"] == number])
    sold = set(candidates["instance_type"].unique())
    absent = [name for name in sweep.where.instance_types if name not in sold]
    left_out = [f"{name} is not for sale where the data lies" for name in absent]
    return usable, left_out + sorted({f"left out: {reason}" for reason in reasons if reason})


def _ranked(found: pd.DataFrame) -> pd.DataFrame:
    """The places of each cohort, best first: the cheapest of each Region, then the second of each, and so on."""
    in_region = found.groupby(["cohort", "region"], sort=False).cumcount()
    ranked = found.assign(in_region=in_region).sort_values(["cohort", "in_region"], kind="stable")
    return ranked.groupby("cohort", sort=False).head(MAX_PLACES)


def _shares(sweep: Sweep, groups: Sequence[Cohort], candidates: pd.DataFrame, ranked: pd.DataFrame) -> Iterator[Share]:
    places = _places(candidates)
    rows = zip(*(ranked[column].tolist() for column in ("cohort", "candidate", "hours", "usd")), strict=True)
    for cohort, options_of_it in groupby(rows, key=itemgetter(0)):
        group = groups[cohort]
        _, labels, hours, usd = zip(*options_of_it, strict=True)
        chosen = tuple(places[label] for label in labels)
        yield Share(
            first=group.first,
            count=group.count,
            dataset=group.dataset,
            places=chosen,
            hours=hours[0],
            usd=usd[0],
            limits=_limits(sweep, chosen),
            why=_why(chosen, usd),
        )


def _places(candidates: pd.DataFrame) -> dict[Hashable, Place]:
    """By their row's label."""
    columns = ("platform", "region", "instance_type", "purchase", "s3_uri", "on_demand_usd_per_hour")
    rows = zip(candidates.index, *(candidates[column].tolist() for column in columns), strict=True)
    return {
        label: Place(Lane(platform, region, instance_type, Purchase(purchase)), s3_uri, float(rate))
        for label, platform, region, instance_type, purchase, s3_uri, rate in rows
    }


def _limits(sweep: Sweep, places: tuple[Place, ...]) -> Limits:
    timeout, patience = seconds(sweep.timeout), seconds(sweep.patience)
    spot = any(place.lane.purchase is Purchase.SPOT for place in places)
    return Limits(
        max_runtime_s=timeout,
        # A spot training waits for capacity inside its job: as long as any place may refuse, and no longer.
        max_wait_s=timeout + patience if spot else 0,
        retries=sweep.retries,
        patience_s=patience,
    )


def _why(places: tuple[Place, ...], usd: Sequence[float]) -> str:
    if len(places) == 1:
        return "the only place that can run it"
    lane = places[1].lane
    dearer = f"{usd[1] / usd[0] - 1:.0%} dearer" if usd[0] > 0 else f"${usd[1]:.2f}"
    return f"cheapest; then {lane.instance_type} {lane.purchase.value} in {lane.region}, {dearer}"
