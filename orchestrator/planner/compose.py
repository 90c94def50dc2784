"""Composes the plan of a solution: its shares with places, limits and reasons, its copies, lots and quotas."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.plan.copy import Copy, copied_uri
from orchestrator.plan.facts import LanePrice, Lot, QuotaFact
from orchestrator.plan.plan import Share
from orchestrator.plan.slots import LotKey
from orchestrator.planner.fallbacks import Fallbacks
from orchestrator.planner.hours.interruptions import INTERRUPTIONS_PER_HOUR
from orchestrator.planner.model.choices import NO_COPY, NO_POOL
from orchestrator.planner.offer.instance_counts import on_instances
from orchestrator.planner.offer.offer import LAUNCHERS, LOT, LOT_AND_COUNT, QUOTA
from orchestrator.planner.offer.spot_prices import LISTED
from orchestrator.planner.pack.schedule import ends_in_any_order
from orchestrator.planner.start_rates import end_hours, with_starts
from orchestrator.spec.duration import seconds
from orchestrator.wire.task import Expected, Lane, Limits, Place, Purchase, Quota

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from orchestrator.catalog.market import Market
    from orchestrator.plan.plan import Plan
    from orchestrator.planner.fallbacks import RankedChoices
    from orchestrator.planner.model.arrays import Integers
    from orchestrator.planner.model.choices import Choices
    from orchestrator.planner.model.solution import Solution
    from orchestrator.planner.offer.cohorts import Cohort
    from orchestrator.planner.offer.formulate import Formulation
    from orchestrator.planner.offer.offer import Offer
    from orchestrator.spec.sweep import Sweep


def compose(plan: Plan, formulation: Formulation, market: Market, solution: Solution) -> Plan:
    """Return the plan with all that was decided. Before, `plan` knows only its sweep, market, datasets and notes."""
    cohorts, offer = formulation.cohorts, formulation.offer
    shares = tuple(_shares(plan, cohorts, offer, solution))
    lots = tuple(_lots(offer, solution, shares))
    return replace(
        plan,
        shares=shares,
        copies=tuple(_copies(plan, offer, solution)),
        lots=lots,
        quotas=tuple(_quotas(offer, market)),
        bound=max(solution.bound - solution.unpaid, 0.0),
        in_any_order=ends_in_any_order(with_starts(solution, offer)),
        prices=tuple(_prices(offer)),
    )


def _shares(plan: Plan, cohorts: Sequence[Cohort], offer: Offer, solution: Solution) -> Iterator[Share]:
    """Yield the shares in the order of their tasks: cohort by cohort and, in each, the cheapest first."""
    choices = solution.problem.choices
    candidate = offer.candidate[offer.problem.ends_in_time(solution.problem.horizon)]
    factor = _envelope_factor(plan.sweep, offer, solution)
    fallbacks = Fallbacks(solution, offer, plan.sweep, factor)
    ends = end_hours(solution, offer)
    ranking = [fallbacks.rank(row) for row in np.flatnonzero(solution.tasks).tolist()]
    place = _places(plan, offer, candidate[sorted({row for ranked in ranking for row in ranked.rows})])
    done = [0] * len(cohorts)
    for ranked in ranking:
        row = ranked.rows[0]
        number = int(choices.cohort[row])
        cohort, count = cohorts[number], int(solution.tasks[row])
        places = tuple(place[int(candidate[other])] for other in ranked.rows)
        if plan.sweep.weighs_spot and places[0].lane.purchase is Purchase.SPOT:
            there = zip(places, ranked.rows, strict=True)
            places = tuple(replace(one, expected=_expected(offer, choices, other)) for one, other in there)
        envelope = None if factor is None else float(choices.promise[row]) * factor
        yield Share(
            first=cohort.first + done[number],
            count=count,
            dataset=cohort.dataset,
            places=places,
            hours=float(choices.average[row]),
            longest=float(choices.hours[row]),
            usd=float(choices.paid[row]),
            limits=_limits(plan.sweep, places, envelope),
            why=_why(solution, row, ranked, places),
            finish=float(ends[row]),
        )
        done[number] += count


def _envelope_factor(sweep: Sweep, offer: Offer, solution: Solution) -> float | None:
    """Return how many times its promise a task's envelope is; None without a budget.

    So what the budget has beyond all promises is shared out in proportion.
    """
    if sweep.plan.budget is None:
        return None
    copies = float(offer.problem.charges[solution.copies].sum())
    return (sweep.plan.budget - copies) / (solution.promise - copies)


def _expected(offer: Offer, choices: Choices, row: int) -> Expected:
    """Return what a task is expected to take at the place of a choice."""
    rate = offer.lanes["interruptions_per_hour"].to_numpy()[choices.lane[row]]
    is_spot = offer.lanes["purchase"].to_numpy()[choices.lane[row]] == Purchase.SPOT.value
    known = float(rate) if np.isfinite(rate) else INTERRUPTIONS_PER_HOUR
    hourly = float(choices.paid[row] / choices.average[row])
    return Expected(float(choices.hours[row]), hourly, known if is_spot else 0.0)


def _places(plan: Plan, offer: Offer, candidates: Integers) -> dict[int, Place]:
    """Return the places of these candidates, by their rows."""
    columns = offer.candidates.iloc[candidates][["dataset", *LOT_AND_COUNT, "s3_uri", "copy", "rate", "allowance_s"]]
    found: dict[int, Place] = {}
    for candidate, cells in zip(candidates.tolist(), columns.itertuples(index=False, name=None), strict=True):
        dataset, platform, region, instance_type, purchase, arn, instances, uri, copy, rate, allowance_s = cells
        lane = Lane(platform, region, instance_type, Purchase(purchase))
        uri = uri if copy == NO_COPY else copied_uri(plan.datasets[dataset].name)
        allowance = int(allowance_s) if np.isfinite(allowance_s) else None
        found[candidate] = Place(lane, uri, float(rate), arn, int(instances), allowance_s=allowance)
    return found


def _copies(plan: Plan, offer: Offer, solution: Solution) -> Iterator[Copy]:
    """Yield the copies that the solution makes."""
    for row in offer.copies.iloc[solution.copies].to_dict("records"):
        yield Copy(
            dataset=int(row["dataset"]),
            from_region=row["from_region"],
            to_region=row["region"],
            from_uri=row["s3_uri"],
            to_uri=copied_uri(plan.datasets[row["dataset"]].name),
            usd=float(row["usd"]),
            hours=float(row["hours"]),
        )


def _lots(offer: Offer, solution: Solution, shares: Sequence[Share]) -> Iterator[Lot]:
    """Yield the lots that tasks may come to take instances of, with the facts that they were chosen by."""
    used = {LotKey.of(place) for share in shares for place in share.places}
    found: dict[LotKey, Lot] = {}
    for number, row in enumerate(offer.lanes.to_dict("records")):
        lane = Lane(row["platform"], row["region"], row["instance_type"], Purchase(row["purchase"]))
        key, trainings = LotKey(lane, row["site"]), solution.slots[number]
        if key not in used:
            continue
        planned = int(trainings) * row["instances"] if np.isfinite(trainings) else None
        if key in found:
            before = found[key].used
            planned = None if planned is None or before is None else before + planned
        found[key] = Lot(lane, row["usd_per_hour"], offer.uses[number], row["site"], planned)
    yield from found.values()


def _quotas(offer: Offer, market: Market) -> Iterator[QuotaFact]:
    """Yield the known quotas of all lanes on offer, then those of other lanes: once raised, these may be on offer."""
    columns = [*QUOTA, "units", "held"]
    offered = offer.quotas.loc[offer.quotas["quota"] != LAUNCHERS, columns]
    facts = (table.itertuples(index=False, name=None) for table in (offered, market.quotas[columns]))
    known = {tuple(key): (int(units), int(held)) for *key, units, held in chain(*facts)}
    for key, (units, held) in known.items():
        yield QuotaFact(Quota(*key), units, held)


def _prices(offer: Offer) -> Iterator[LanePrice]:
    """Yield what each lane on offer costs."""
    for row in offer.lanes.drop_duplicates(LOT).to_dict("records"):
        lane = Lane(row["platform"], row["region"], row["instance_type"], Purchase(row["purchase"]))
        rate = row["interruptions_per_hour"] if np.isfinite(row["interruptions_per_hour"]) else None
        yield LanePrice(lane, row["site"], row[LISTED], row["usd_per_hour"], rate, row["refused"])


def _limits(sweep: Sweep, places: tuple[Place, ...], envelope: float | None) -> Limits:
    """Return what a task at these places may not exceed."""
    timeout, patience = seconds(sweep.timeout), seconds(sweep.patience)
    spot = any(place.lane.purchase is Purchase.SPOT for place in places)
    return Limits(
        max_runtime_s=timeout,
        # A spot training waits for capacity inside its job: as long as any place may refuse, and no longer.
        max_wait_s=timeout + patience if spot else 0,
        retries=sweep.retries,
        patience_s=patience,
        envelope=envelope,
        stall_s=seconds(sweep.train.stall) if sweep.train.stall else 0,
        end_on_nan=sweep.train.end_on_nan or "",
        saved_every_s=_saved_every_s(sweep, places),
    )


def _saved_every_s(sweep: Sweep, places: tuple[Place, ...]) -> int:
    """Return the seconds between two checkpoints if the launcher is to weigh places by them, else 0."""
    if places[0].expected is None or sweep.train.checkpoints is None:
        return 0
    return max(int(seconds(sweep.train.checkpoints.every)), 1)


def _why(solution: Solution, row: int, ranked: RankedChoices, places: tuple[Place, ...]) -> str:
    """Return in words why this choice was taken, and where its tasks go if it is refused."""
    choices, problem = solution.problem.choices, solution.problem
    usd = float(choices.paid[row])
    cohort = np.arange(problem.first_choice[choices.cohort[row]], problem.first_choice[choices.cohort[row] + 1])
    cheapest = int(cohort[choices.pool[cohort] == NO_POOL][0])
    reason = "cheapest" if choices.pool[row] == NO_POOL else "paid by a savings plan"
    if choices.usd[cheapest] < choices.usd[row]:
        reason = f"{_dearer(usd, float(choices.paid[cheapest]))} than the cheapest, which has no more slots"
        if choices.copy[cheapest] >= 0 and choices.copy[cheapest] not in solution.copies:
            reason = f"{_dearer(usd, float(choices.paid[cheapest]))} than the cheapest, but without a copy of the data"
    elif (choices.paid[cohort] < usd * (1 - 1e-9)).any():
        reason = f"{reason} of those that have machines"
    if choices.copy[row] >= 0:
        reason += ", on a copy of the data"
    if len(places) == 1:
        return "the only place that can run it" if row == cheapest else reason
    second = places[1]
    fewer_or_more = on_instances(second.instances) if second.instances != places[0].instances else ""
    than = _dearer(float(choices.paid[ranked.rows[1]]), usd)
    then = f"then {LotKey.of(second)}{fewer_or_more}, {than}"
    count = int(solution.tasks[row])
    if ranked.second_holds < count and second.lane.region != places[0].lane.region:
        then += f", which has slots for {ranked.second_holds:,} of these {count:,} tasks"
    return f"{reason}; {then}"


def _dearer(usd: float, than: float) -> str:
    """Return in words how much dearer, or cheaper, one price is than another."""
    if than <= 0:
        return f"${usd:.2f} dearer"
    return f"{usd / than - 1:.0%} dearer" if usd >= than else f"{1 - usd / than:.0%} cheaper"
