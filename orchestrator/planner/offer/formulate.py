"""The planning problem of a sweep in a market: its cohorts, and all that each of them may choose from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.errors import InfeasibleError
from orchestrator.plan.dataset import Dataset
from orchestrator.planner.hours.pinned_runtimes import pinned_runtimes
from orchestrator.planner.hours.runtimes import expected_runtimes
from orchestrator.planner.model.choices import NO_POOL
from orchestrator.planner.offer.cohorts import Cohort, cohorts, only
from orchestrator.planner.offer.instance_counts import on_each_count
from orchestrator.planner.offer.obstacles import no_place_error, obstacles
from orchestrator.planner.offer.offer import Offer, offer
from orchestrator.planner.offer.spot_prices import as_learned
from orchestrator.planner.offer.too_long import check_lasting, too_long_notes

if TYPE_CHECKING:
    import pandas as pd

    from orchestrator.catalog.market import Market
    from orchestrator.planner.hours.learned import LearnedHours
    from orchestrator.planner.hours.runtimes import Runtimes
    from orchestrator.spec.sweep import Sweep
    from orchestrator.wire.ranges import Ranges


@dataclass(frozen=True)
class Formulation:
    """All that the solver decides on, and what a plan must know beside the decision."""

    sweep: Sweep
    market: str
    """The market's hash."""
    datasets: tuple[Dataset, ...]
    cohorts: tuple[Cohort, ...]
    offer: Offer
    leases: pd.DataFrame
    """What live runs hold, as in Market."""
    notes: tuple[str, ...]
    """Notes for the plan: where hours and prices come from, and what was left out."""
    learned: LearnedHours | None
    """What finished tasks say of the hours, as in Runtimes."""


def formulate(
    sweep: Sweep, market: Market, learned: LearnedHours | None = None, *, tasks: Ranges | None = None
) -> Formulation:
    """Return the planning problem of this sweep in this market; of these tasks alone if they are given.

    `learned` counts instead of the market's history where it is given.
    Raise InfeasibleError, in words, when some task can run nowhere at all.
    """
    selected = market.datasets
    datasets = [_dataset(market, name, size) for name, size in zip(selected["dataset"], selected["bytes"], strict=True)]
    if not datasets:
        raise InfeasibleError("no dataset is what `data` asks for", hint="`sweep catalog show datasets` lists them")
    sizes, pins = [dataset.bytes for dataset in datasets], pinned_runtimes(market.seen.pins)
    runtimes = expected_runtimes(sweep, sizes, market.history, learned, pins)
    groups = cohorts(runtimes.hours, runtimes.data_factor, sweep.points.points_per_size)
    groups = groups if tasks is None else only(tasks, groups)
    candidates, left_out = _usable(sweep, market, datasets, runtimes)
    check_lasting(sweep, datasets, groups, candidates, runtimes)
    offered = offer(sweep, groups, runtimes, candidates, market)
    notes = (
        *_types_considered(sweep),
        *runtimes.notes,
        *market.cautions,
        *left_out,
        *too_long_notes(sweep, _unused_lanes(offered), offered.lost),
        *_savings_plan_notes(market, offered),
    )
    return Formulation(
        sweep,
        market.hash,
        tuple(datasets),
        tuple(groups),
        offered,
        market.leases,
        tuple(dict.fromkeys(notes)),  # what has no hours is left out for two reasons of the same words
        runtimes.learned,
    )


def _dataset(market: Market, name: str, size: int) -> Dataset:
    line = market.lines.get(name)
    said = (line.point, line.instance_type, line.image) if line else ()
    return Dataset(name, int(size), *said)


def _usable(
    sweep: Sweep, market: Market, datasets: list[Dataset], runtimes: Runtimes
) -> tuple[pd.DataFrame, list[str]]:
    """Return the candidates that nothing stands in the way of, with datasets by number; and notes on all others."""
    numbers = {dataset.name: number for number, dataset in enumerate(datasets)}
    candidates = as_learned(market)
    candidates["dataset"] = candidates["dataset"].map(numbers)
    candidates = on_each_count(candidates, sweep.train.instance_counts, runtimes.pace)
    reasons = obstacles(candidates, sweep, runtimes, market)
    usable = candidates if (reasons == "").all() else candidates[reasons == ""]
    for number, dataset in enumerate(datasets):
        if not (usable["dataset"] == number).any():
            raise no_place_error(dataset.name, sweep, reasons[candidates["dataset"] == number], market)
    sold = set(candidates["instance_type"].unique())
    absent = [name for name in sweep.where.instance_types if name not in sold]
    left_out = [f"{name} is not for sale where the data lies" for name in absent]
    return usable, left_out + sorted({f"left out: {reason}" for reason in reasons if reason})


def _unused_lanes(offered: Offer) -> pd.DataFrame:
    return offered.lanes[~offered.lanes.index.isin(offered.problem.choices.lane)]


def _types_considered(sweep: Sweep) -> list[str]:
    """Return a note on the instance types that were found for `where.resources`, if the sweep has it."""
    if sweep.where.resources is None:
        return []
    return [f"where.resources: considered {', '.join(sweep.where.instance_types)}"]


def _savings_plan_notes(market: Market, offered: Offer) -> list[str]:
    """Return a note for each savings plan that can pay for anything."""
    drawn_on = sorted(set(offered.problem.choices.pool.tolist()) - {NO_POOL})
    return [
        f"savings plan {market.pools['pool'].iloc[number]}: its $/h are counted over the whole time; "
        "in an hour in which trainings draw more, AWS bills the rest on demand"
        for number in drawn_on
    ]
