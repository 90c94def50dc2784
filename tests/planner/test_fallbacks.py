"""When a Region fails, everybody who was there has a second choice, and slots in it."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.errors import InfeasibleError
from orchestrator.planner.solve import solve
from tests.fixtures.examples import examples
from tests.fixtures.sweeps import candidate, make_market, make_sweep

if TYPE_CHECKING:
    from orchestrator.plan.plan import Plan, Share
    from orchestrator.wire.task import Lane

REGIONS = ["us-east-1", "us-west-2", "eu-west-1"]
TYPES = ["ml.g5.xlarge", "ml.g5.2xlarge"]
HORIZON = 12


@st.composite
def surveys(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Lanes have the same slots for every dataset."""
    slots = {(region, kind): draw(st.sampled_from([None, 1.0, 2.0, 4.0])) for region in REGIONS for kind in TYPES}
    return [
        candidate(
            dataset=dataset, region=region, instance_type=kind, slots=slots[region, kind], usd_per_hour=float(price)
        )
        for dataset in ["alps@1", "bay@2"]
        for region, kind in slots
        if (price := draw(st.integers(0, 4)))
    ]


def held_by_second(share: Share) -> int:
    """Return how many of the share's tasks its second place has slots for, as the plan says."""
    short = re.search(r"which has slots for ([\d,]+) of these", share.why)
    return int(short[1].replace(",", "")) if short else share.count


def hours_if(plan: Plan, failing: str) -> Counter[Lane]:
    """Return the hours on each lane, when all tasks of one Region go to their second choice."""
    hours: Counter[Lane] = Counter()
    for share in plan.shares:
        first = share.places[0].lane
        if first.region != failing:
            hours[first] += share.count * share.hours  # type: ignore[assignment]
        elif len(share.places) > 1 and share.places[1].lane.region != failing:
            hours[share.places[1].lane] += held_by_second(share) * share.hours  # type: ignore[assignment]
    return hours


@settings(max_examples=examples(60))
@given(surveys(), st.integers(1, 6))
def test_a_region_that_fails_alone_leaves_slots_for_what_was_there_or_the_plan_says_how_few(
    candidates: list[dict[str, Any]], seeds: int
) -> None:
    sweep = make_sweep(
        space={"seed": list(range(seeds)), "size": [1, 2, 3]},
        runtime="size",
        where__instance_types=TYPES,
        plan={"horizon": f"{HORIZON}h"},
    )
    try:
        plan = solve(sweep, make_market(*candidates, datasets=["alps@1", "bay@2"]))
    except InfeasibleError:
        return
    slots = {lot.lane: lot.used for lot in plan.lots}
    for region in REGIONS:
        for lane, hours in hours_if(plan, region).items():
            limit = slots[lane]
            assert limit is None or hours <= limit * HORIZON + 1e-6


def test_the_second_choice_is_where_all_of_a_share_fit_even_if_that_is_dearer() -> None:
    rows = [
        candidate(region=region, usd_per_hour=price, slots=slots)
        for region, price, slots in [("us-east-1", 1.0, 8.0), ("us-west-2", 2.0, 1.0), ("eu-west-1", 3.0, 8.0)]
    ]
    sweep = make_sweep(space={"seed": list(range(8))}, runtime=12)
    (share,) = solve(sweep, make_market(*rows)).shares
    assert [place.lane.region for place in share.places] == ["us-east-1", "eu-west-1", "us-west-2"]


def test_a_place_that_no_envelope_pays_for_to_the_end_is_no_second_choice() -> None:
    """Its launcher would let it run for what is left, and the task would run out of time there."""
    prices = {"us-east-1": 1.0, "us-west-2": 1.1, "eu-west-1": 4.0}
    rows = [candidate(region=region, usd_per_hour=usd, on_demand_usd_per_hour=usd) for region, usd in prices.items()]
    market = make_market(*rows)
    promise = 1.25 * 12 + 180 / 3600 + 12 * 0.0124  # of the first: docs/planner-model.md, "The dollar promise"
    for factor, kept in ((1.2, 2), (5.0, 3)):
        sweep = make_sweep(space={"seed": [1]}, runtime=12, plan={"budget": promise * factor, "horizon": "24h"})
        (share,) = solve(sweep, market).shares
        assert [place.lane.region for place in share.places] == list(prices)[:kept]


def test_a_second_choice_that_holds_only_some_of_a_share_is_said_to() -> None:
    rows = [candidate(slots=8.0), candidate(region="us-west-2", usd_per_hour=2.0, slots=1.0)]
    (share,) = solve(make_sweep(space={"seed": list(range(8))}, runtime=12), make_market(*rows)).shares
    assert share.why == (
        "cheapest; then ml.g5.xlarge on_demand in us-west-2, 100% dearer, which has slots for 2 of these 8 tasks"
    )


def test_a_task_on_spot_with_a_deadline_and_checkpoints_has_a_place_on_demand_to_fall_back_on() -> None:
    prices = {"us-east-1": 1.0, "us-west-2": 1.1, "eu-west-1": 1.2, "eu-west-3": 1.3}
    spot = [
        candidate(region=region, purchase="spot", usd_per_hour=usd, on_demand_usd_per_hour=3.0)
        for region, usd in prices.items()
    ]
    dear = [candidate(region=region, usd_per_hour=3.0, on_demand_usd_per_hour=3.0) for region in prices]
    market = make_market(*spot, *dear)
    saves = {"train__checkpoints": {"every": "10m"}}
    kept = solve(make_sweep(plan={"deadline": "6h"}, **saves), market).shares[0]
    assert [str(place.lane).split("/", 1)[1] for place in kept.places] == [
        "us-east-1/ml.g5.xlarge/spot",
        "us-west-2/ml.g5.xlarge/spot",
        "eu-west-1/ml.g5.xlarge/spot",
        "us-east-1/ml.g5.xlarge/on_demand",
    ]
    assert kept.limits.saved_every_s == 600
    first, *_, last = (place.expected for place in kept.places)
    assert first
    assert last
    assert (round(first.usd_per_hour, 2), first.interruptions_per_hour) == (1.0, 0.05)
    assert (round(last.usd_per_hour, 2), last.interruptions_per_hour, last.hours) == (3.0, 0.0, 0.5)
    for asked in ({"plan": {"deadline": "6h"}}, saves):
        plain = solve(make_sweep(**asked), market).shares[0]
        assert {place.lane.purchase.value for place in plain.places} == {"spot"}
        assert (plain.limits.saved_every_s, plain.places[0].expected) == (0, None)
