"""A plan holds while its places are there, its slots are free, and it costs what was agreed to."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.catalog.market import BILLING, DISCOUNTS, TRANSFERS, table
from orchestrator.plan.slots import tasks_by_lot, units_taken
from orchestrator.planner.solve import solve
from orchestrator.planner.stale import why_stale
from orchestrator.wire.task import Place, Purchase, Quota
from tests.fixtures.sweeps import candidate, make_market, make_sweep, with_quota

if TYPE_CHECKING:
    from orchestrator.catalog.market import Market
    from orchestrator.plan.plan import Plan

SWEEP = make_sweep(space={"lr": [1, 2, 3, 4, 5, 6], "epochs": [2]})
"""Six tasks of an hour."""


def made(**facts: Any) -> Plan:
    return solve(SWEEP, make_market(candidate(**facts)))


def today(**facts: Any) -> Market:
    return make_market(candidate(**facts))


def test_what_has_not_changed_holds() -> None:
    assert why_stale(made(), today()) == ""


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"slots": 5.0}, "has 5 of 5 units free, and the plan takes 6"),
        ({"held": 3}, "has 5 of 8 units free, and the plan takes 6"),
        ({"slots": 2.0, "held": 3}, "has 0 of 2 units free, and the plan takes 6"),
        ({"closes_h": 0.5}, "is ours for 0.5 h more, and the plan takes 1 h"),
        ({"instance_type": "ml.g5.2xlarge"}, "is not for sale any more"),
    ],
)
def test_what_became_of_its_lane_is_named_with_the_numbers(facts: dict[str, Any], reason: str) -> None:
    lane = "ml.g5.xlarge/on_demand" if "units" in reason else "ml.g5.xlarge on_demand"
    assert why_stale(made(), today(**facts)) == f"{lane} in us-east-1 {reason}"


@pytest.mark.parametrize("facts", [{"held": 2}, {"slots": None}, {"slots": 6.0}, {"usd_per_hour": 0.1}])
def test_slots_that_suffice_and_prices_that_fell_do_no_harm(facts: dict[str, Any]) -> None:
    assert why_stale(made(), today(**facts)) == ""


def test_a_plan_for_fewer_slots_than_it_has_tasks_needs_those_and_no_more() -> None:
    plan = made(slots=4.0, held=2)
    assert why_stale(plan, today(slots=4.0, held=2)) == ""
    assert "has 1 of 4 units free, and the plan takes 2" in why_stale(plan, today(slots=4.0, held=3))


@pytest.mark.parametrize("cheap", [1.0, 1e-4])
@pytest.mark.parametrize(("dearer", "holds"), [(1.02, True), (1.021, False)])
def test_it_may_be_expected_to_cost_two_percent_more_however_little_that_is(
    dearer: float, holds: bool, cheap: float
) -> None:
    spot = {"purchase": "spot", "on_demand_usd_per_hour": 1.0}
    reason = why_stale(made(**spot, usd_per_hour=0.5 * cheap), today(**spot, usd_per_hour=0.5 * cheap * dearer))
    then, now = ("$3.09", "$3.16") if cheap == 1.0 else ("$0.000309", "$0.000316")
    assert reason == ("" if holds else f"at today's prices it costs {now}, not {then}")


WITHIN = make_sweep(space={"lr": [1, 2, 3, 4, 5, 6], "epochs": [2]}, plan={"budget": 12.0})
"""The same within a budget: twice what six hours cost."""


def test_what_is_promised_may_not_cost_more_by_any_amount() -> None:
    """A launcher lets a task run for as long as its envelope pays at the plan's rate. AWS bills by today's."""
    spot = candidate(purchase="spot", usd_per_hour=0.5)
    plan = solve(WITHIN, make_market(spot))
    dearer = make_market({**spot, "on_demand_usd_per_hour": 1.001})
    assert why_stale(plan, make_market(spot)) == ""
    assert why_stale(plan, make_market({**spot, "on_demand_usd_per_hour": 0.9})) == ""
    assert why_stale(plan, dearer) == (
        "at today's prices it may cost $12.01, and it promises $12.00 at most: "
        "ml.g5.xlarge spot in us-east-1 may be billed $1.0010 an hour, not $1.0000"
    )


def test_a_fallback_that_became_dearer_breaks_the_promise_of_those_who_may_come_to_it() -> None:
    first, second = candidate(), candidate(region="us-west-2", usd_per_hour=1.1, on_demand_usd_per_hour=1.1)
    dearer = {**second, "usd_per_hour": 2.2, "on_demand_usd_per_hour": 2.2}
    at_most = solve(SWEEP, make_market(first, second))
    assert why_stale(at_most, make_market(first, dearer)).startswith("at today's prices it may cost $")
    within = solve(WITHIN, make_market(first, second))
    assert why_stale(within, make_market(first, dearer)) == (
        "at today's prices it may cost $24.00, and it promises $12.00 at most: "
        "ml.g5.xlarge on_demand in us-west-2 may be billed $2.20 an hour, not $1.10"
    )


def test_what_its_platform_may_bill_beyond_a_run_breaks_the_promise_of_a_plan_that_did_not_know() -> None:
    plan, market = made(), today()
    told = replace(market, billing=table([("sagemaker", 0.0, 0.0, 900.0)], BILLING))
    assert why_stale(plan, told).endswith(
        "ml.g5.xlarge on_demand in us-east-1 may be billed for 900 s beyond a run, not 180 s"
    )
    assert why_stale(solve(SWEEP, told), told) == ""
    more = replace(market, billing=table([("sagemaker", 0.0, 0.0, 1200.0)], BILLING))
    assert why_stale(solve(SWEEP, told), more) == "", "a plan that says how long is kept at that"


def test_moving_checkpoints_may_not_become_dearer_than_envelopes_count_with() -> None:
    rows = candidate(), candidate(region="us-west-2", usd_per_hour=1.1, on_demand_usd_per_hour=1.1)
    sweep = make_sweep(train__checkpoints={"every": "15m"}, plan={"budget": 12.0})

    def market(usd: float) -> Market:
        tiers = table([("us-east-1", "us-west-2", 0.0, usd), ("us-west-2", "us-east-1", 0.0, 0.02)], TRANSFERS)
        return replace(make_market(*rows), transfers=tiers)

    plan = solve(sweep, market(0.02))
    assert why_stale(plan, market(0.02)) == why_stale(plan, market(0.01)) == ""
    assert why_stale(plan, market(0.03)) == (
        "a GB of checkpoints from us-east-1 costs $0.03 to move, and its envelopes count on $0.02"
    )


def test_what_our_own_spot_tasks_paid_is_told_apart_from_prices() -> None:
    spot = {"purchase": "spot", "usd_per_hour": 0.5}
    plan = made(**spot)
    paid = ("sagemaker", "us-east-1", "ml.g5.xlarge", 10_000.0, 0.7)
    learned = replace(today(**spot), discounts=table([paid], DISCOUNTS))
    assert why_stale(plan, learned).startswith("by what our own spot tasks have paid since, it costs $4.")
    dearer = replace(today(**spot | {"usd_per_hour": 0.9}), discounts=table([paid], DISCOUNTS))
    assert why_stale(plan, dearer).startswith("at today's prices it costs $4.")
    small = replace(today(**spot), discounts=table([(*paid[:3], 6.0, 0.7)], DISCOUNTS))
    assert why_stale(plan, small) == ""


def test_data_that_moved_is_missed() -> None:
    reason = why_stale(made(), today(s3_uri="s3://elsewhere/"))
    assert reason == "alps@1 no longer lies at s3://data-us-east-1/alps@1/"


def test_a_quota_over_all_types_together_is_looked_at() -> None:
    def limited(held: int) -> Market:
        return with_quota(today(), "*/*", 10, held)

    plan = solve(SWEEP, limited(0))
    assert why_stale(plan, limited(4)) == ""
    assert why_stale(plan, limited(5)) == "*/* in us-east-1 has 5 of 10 units free, and the plan takes 6"


def test_a_plan_within_a_limit_over_its_lanes_holds_in_its_own_market() -> None:
    """Its lanes together have more slots than the Region: each takes what the plan gives it."""
    rows = [candidate(slots=8.0), candidate(purchase="spot", slots=8.0, usd_per_hour=0.9)]
    market = with_quota(make_market(*rows), "*/*", 10, held=4)
    sweep = make_sweep(space={"lr": list(range(12)), "epochs": [2]}, plan={"deadline": "3h"})
    plan = solve(sweep, market)
    taken = units_taken(plan, tasks_by_lot(plan))
    assert 0 < taken[Quota("sagemaker", "us-east-1", "*/*")] <= 6
    assert why_stale(plan, market) == ""


def test_a_copy_that_became_dear_counts() -> None:
    far = {"region": "us-west-2", "from_region": "us-east-1", "bytes": 100 * 10**9, "s3_uri": "s3://here/"}
    sweep = SWEEP.model_copy(update={"data": SWEEP.data.model_copy(update={"move_data": "if_cheaper"})})
    plan = solve(sweep, make_market(candidate(**far, transfer_usd_per_gb=0.01)))
    assert plan.copies
    assert why_stale(plan, make_market(candidate(**far, transfer_usd_per_gb=0.01))) == ""
    assert why_stale(plan, make_market(candidate(**far, transfer_usd_per_gb=0.02))).startswith("at today's prices")
    barely = why_stale(plan, make_market(candidate(**far, transfer_usd_per_gb=0.0101)))
    assert barely.endswith("its copies cost $3.31, not $3.30"), "its promise counts on them to the cent"


def test_three_reasons_are_named_and_the_rest_counted() -> None:
    plan = made()
    share = plan.shares[0]
    lane = share.places[0].lane
    places = tuple(Place(replace(lane, purchase=Purchase.SPOT, region=f"r-{n}"), "s3://x/", 1.0) for n in range(5))
    plan = replace(plan, shares=(replace(share, places=(share.places[0], *places)),))
    assert why_stale(plan, today()).count("; ") == 3
    assert why_stale(plan, today()).endswith("; and 2 more")
