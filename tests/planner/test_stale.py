"""A plan holds while its places are there, its slots are free, and it costs what was agreed to."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.catalog.market import DISCOUNTS, table
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


@pytest.mark.parametrize(("usd", "holds"), [(1.02, True), (1.021, False)])
def test_it_may_cost_two_percent_more(usd: float, holds: bool) -> None:
    reason = why_stale(made(), today(usd_per_hour=usd))
    assert reason == ("" if holds else "at today's prices it costs $6.13, not $6.00")


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


def test_three_reasons_are_named_and_the_rest_counted() -> None:
    plan = made()
    share = plan.shares[0]
    lane = share.places[0].lane
    places = tuple(Place(replace(lane, purchase=Purchase.SPOT, region=f"r-{n}"), "s3://x/", 1.0) for n in range(5))
    plan = replace(plan, shares=(replace(share, places=(share.places[0], *places)),))
    assert why_stale(plan, today()).count("; ") == 3
    assert why_stale(plan, today()).endswith("; and 2 more")
