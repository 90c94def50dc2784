"""A solution as a plan: shares with their places, limits and reasons."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.plan.plan import Copy, Lot, Share, copied_uri
from orchestrator.planner.fallbacks import Fallbacks
from orchestrator.planner.model.problem import NO_COPY, NO_POOL
from orchestrator.planner.offer.offer import LOT
from orchestrator.planner.pack.schedule import ends
from orchestrator.spec.duration import seconds
from orchestrator.wire.task import Lane, Limits, Place, Purchase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from orchestrator.plan.plan import Plan
    from orchestrator.planner.fallbacks import Ranked
    from orchestrator.planner.model.solution import Solution
    from orchestrator.planner.offer.cohorts import Cohort
    from orchestrator.planner.offer.offer import Offer
    from orchestrator.spec.sweep import Sweep


def compose(plan: Plan, cohorts: Sequence[Cohort], offer: Offer, solution: Solution) -> Plan:
    """`plan`, which knows its sweep, market and datasets, with all that was decided."""
    shares = tuple(_shares(plan, cohorts, offer, solution))
    return replace(
        plan,
        shares=shares,
        copies=tuple(_copies(plan, offer, solution)),
        lots=tuple(_lots(plan, offer, solution, shares)),
        bound=solution.bound,
    )


def _shares(plan: Plan, cohorts: Sequence[Cohort], offer: Offer, solution: Solution) -> Iterator[Share]:
    """Cohort by cohort; in each, the cheapest first."""
    choices = solution.problem.choices
    candidate = offer.candidate[offer.problem.kept(solution.problem.horizon)]
    fallbacks, finished = Fallbacks(solution, offer), ends(solution)
    spread, place = _spread(plan.sweep, offer, solution), _places(plan, offer)
    done = [0] * len(cohorts)
    for row in np.flatnonzero(solution.tasks).tolist():
        number = int(choices.cohort[row])
        cohort, count = cohorts[number], int(solution.tasks[row])
        ranked = fallbacks.ranked(row)
        places = tuple(place(int(candidate[other])) for other in ranked.rows)
        envelope = None if spread is None else float(choices.promise[row]) * spread
        yield Share(
            first=cohort.first + done[number],
            count=count,
            dataset=cohort.dataset,
            places=places,
            hours=float(choices.hours[row]),
            usd=float(choices.usd[row]),
            limits=_limits(plan.sweep, places, envelope),
            why=_why(solution, row, ranked, places),
            finish=float(finished[row]),
        )
        done[number] += count


def _spread(sweep: Sweep, offer: Offer, solution: Solution) -> float | None:
    """What the budget has beyond the honest promises, shared out in proportion."""
    if sweep.plan.budget is None:
        return None
    copies = float(offer.problem.charges[solution.copies].sum())
    return (sweep.plan.budget - copies) / (solution.promise - copies)


def _places(plan: Plan, offer: Offer) -> Callable[[int], Place]:
    """The place of a candidate, by its row."""
    columns = [offer.candidates[name].tolist() for name in ("dataset", *LOT, "s3_uri", "copy", "rate")]

    @cache
    def place(candidate: int) -> Place:
        dataset, platform, region, instance_type, purchase, arn, uri, copy, rate = (
            column[candidate] for column in columns
        )
        lane = Lane(platform, region, instance_type, Purchase(purchase))
        return Place(lane, uri if copy == NO_COPY else copied_uri(plan.datasets[dataset].name), float(rate), arn)

    return place


def _copies(plan: Plan, offer: Offer, solution: Solution) -> Iterator[Copy]:
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


def _lots(plan: Plan, offer: Offer, solution: Solution, shares: Sequence[Share]) -> Iterator[Lot]:
    """The lanes that shares may come to, with the facts they were chosen by."""
    used = {(place.lane, place.plan_arn) for share in shares for place in share.places}
    for row, trainings in zip(offer.lanes.to_dict("records"), _planned(solution), strict=True):
        lane = Lane(row["platform"], row["region"], row["instance_type"], Purchase(row["purchase"]))
        if (lane, row["arn"]) in used:
            slots = None if np.isnan(row["slots"]) else int(row["slots"])
            planned = None if trainings is None else trainings * plan.sweep.train.instances
            yield Lot(lane, row["usd_per_hour"], slots, held=int(row["held"]), arn=row["arn"] or None, used=planned)


def _planned(solution: Solution) -> Iterator[int | None]:
    """By lane: trainings at once, where a total leaves it fewer than its own slots would."""
    problem = solution.problem
    for slots, own in zip(solution.slots.tolist(), problem.slots.tolist(), strict=True):
        yield int(slots) if slots < own else None


def _limits(sweep: Sweep, places: tuple[Place, ...], envelope: float | None) -> Limits:
    timeout, patience = seconds(sweep.timeout), seconds(sweep.patience)
    spot = any(place.lane.purchase is Purchase.SPOT for place in places)
    return Limits(
        max_runtime_s=timeout,
        # A spot training waits for capacity inside its job: as long as any place may refuse, and no longer.
        max_wait_s=timeout + patience if spot else 0,
        retries=sweep.retries,
        patience_s=patience,
        envelope=envelope,
    )


def _why(solution: Solution, row: int, ranked: Ranked, places: tuple[Place, ...]) -> str:
    choices, problem = solution.problem.choices, solution.problem
    usd = float(choices.usd[row])
    cohort = np.arange(problem.first[choices.cohort[row]], problem.first[choices.cohort[row] + 1])
    cheapest = int(cohort[choices.pool[cohort] == NO_POOL][0])
    reason = "cheapest" if choices.pool[row] == NO_POOL else "paid by a savings plan"
    if choices.usd[cheapest] < usd:
        reason = f"{_dearer(usd, float(choices.usd[cheapest]))} than the cheapest, which has no more slots"
        if choices.copy[cheapest] >= 0 and choices.copy[cheapest] not in solution.copies:
            reason = f"{_dearer(usd, float(choices.usd[cheapest]))} than the cheapest, but without a copy of the data"
    if choices.copy[row] >= 0:
        reason += ", on a copy of the data"
    if len(places) == 1:
        return "the only place that can run it" if row == cheapest else reason
    lane = places[1].lane
    than = _dearer(float(choices.usd[ranked.rows[1]]), usd)
    count, room = int(solution.tasks[row]), ""
    if ranked.room < count and lane.region != places[0].lane.region:
        room = f", which has slots for {ranked.room:,} of these {count:,} tasks"
    return f"{reason}; then {lane.instance_type} {lane.purchase.value} in {lane.region}, {than}{room}"


def _dearer(usd: float, beside: float) -> str:
    if beside <= 0:
        return f"${usd:.2f} dearer"
    return f"{usd / beside - 1:.0%} dearer" if usd >= beside else f"{1 - usd / beside:.0%} cheaper"
