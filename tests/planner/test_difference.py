"""What changed since yesterday's plan, and why."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from orchestrator.catalog.market import DISCOUNTS, table
from orchestrator.planner.difference import difference
from orchestrator.planner.solve import solve
from tests.fixtures.sweeps import candidate, make_market, make_sweep

DEARER = {"region": "eu-west-1", "usd_per_hour": 2.0}
ARN = "arn:aws:sagemaker:us-east-1:1:training-plan/march"


def changed(before: list[dict[str, Any]], after: list[dict[str, Any]], **asked: Any) -> list[str]:
    """Return the lines after the one with the totals."""
    old, market = solve(make_sweep(), make_market(*before)), make_market(*after)
    return difference(old, solve(make_sweep(**asked), market), market)[1:]


def test_two_equal_plans_differ_in_nothing_so_only_their_totals_are_shown() -> None:
    market = make_market(candidate())
    plan = solve(make_sweep(), market)
    assert difference(plan, plan, market) == ["$3.00 became $3.00; 1 h became 1 h"]


def test_a_dearer_price_and_where_tasks_went_because_of_it() -> None:
    before = [candidate(), candidate(**DEARER)]
    after = [candidate(usd_per_hour=3.0, slots=4.0), candidate(**DEARER)]
    assert changed(before, after) == [
        "because of prices: +$3.00",
        "ml.g5.xlarge on_demand in eu-west-1: 0 tasks became 4",
        "ml.g5.xlarge on_demand in us-east-1: price $1/h became $3/h; 4 tasks became 0",
        "quota ml.g5.xlarge/on_demand in us-east-1: 8 became 4",
    ]


def test_a_lease_taken_by_another_run() -> None:
    before = [candidate(slots=4.0), candidate(**DEARER)]
    after = [candidate(slots=4.0, held=4), candidate(**DEARER)]
    assert changed(before, after) == [
        "because of quotas: +$3.00",
        "ml.g5.xlarge on_demand in eu-west-1: 0 tasks became 4",
        "ml.g5.xlarge on_demand in us-east-1: 4 tasks became 0",
        "quota ml.g5.xlarge/on_demand in us-east-1: held by other runs 0 became 4",
    ]


def test_a_lane_that_only_the_new_plan_knows() -> None:
    assert changed([candidate()], [candidate(), candidate(region="eu-west-1", usd_per_hour=0.5, slots=None)]) == [
        "because of places that are new: -$1.50",
        "ml.g5.xlarge on_demand in eu-west-1: new to the plan at $0.5/h; 0 tasks became 4",
        "ml.g5.xlarge on_demand in us-east-1: 4 tasks became 0",
    ]


def test_lanes_of_several_platforms_begin_with_theirs() -> None:
    """Two platforms may sell one instance type in one Region."""
    on_nodes = candidate(platform="eks", usd_per_hour=0.5, slots=None)
    assert changed([candidate(platform="ec2")], [candidate(platform="ec2"), on_nodes])[1:] == [
        "ec2 ml.g5.xlarge on_demand in us-east-1: 4 tasks became 0",
        "eks ml.g5.xlarge on_demand in us-east-1: new to the plan at $0.5/h; 0 tasks became 4",
    ]


def test_a_lane_that_only_the_old_plan_knows_is_looked_up_in_todays_market() -> None:
    """It has become so dear that nobody would come to it, or is not for sale."""
    rivals = [candidate(region=f"eu-west-{n}", usd_per_hour=2.0) for n in range(1, 6)]
    cheap = candidate()
    dear = candidate(usd_per_hour=50.0)
    assert changed([cheap, *rivals], [dear, *rivals])[-1].endswith("price $1/h became $50/h; 4 tasks became 0")
    assert changed([cheap, *rivals], rivals)[-2].endswith("not to be had any more; 4 tasks became 0")


def test_a_training_plan_that_has_come() -> None:
    committed = candidate(purchase="committed", usd_per_hour=0.0, site=ARN, slots=8.0, opens_h=0.0, closes_h=24.0)
    lines = changed([candidate()], [candidate(), committed])
    assert lines[0] == "because of places that are new: -$3.00"
    assert lines[1].startswith(f"ml.g5.xlarge committed in us-east-1 of {ARN}: new to the plan at $0/h")


def test_what_was_asked_and_the_data() -> None:
    lines = changed([candidate()], [candidate(dataset="bay@2")], runtime="0.4 * epochs", plan={"deadline": "6h"})
    assert lines[:6] == [
        "because of what was asked and data: -$0.60",
        "asked: plan.deadline None became 6h",
        "asked: runtime 0.5 * epochs became 0.4 * epochs",
        "data: bay@2 is new",
        "data: alps@1 is gone",
        "hours: runtime: 0.4 * epochs hours on one instance, as the sweep file says, whatever its type",
    ]


def test_a_copy_that_pays_now() -> None:
    far = candidate(region="us-west-2", usd_per_hour=0.01, from_region="us-east-1", transfer_usd_per_gb=0.0)
    lines = changed([candidate()], [candidate(), far], data={"move_data": "if_cheaper"})
    assert "copy: alps@1 to us-west-2 is new" in lines


def test_prices_and_quotas_of_lanes_without_tasks_are_told_as_well() -> None:
    others = [candidate(region=f"r-{n}", usd_per_hour=5.0, slots=1.0) for n in range(9)]
    cheaper = [candidate(region=f"r-{n}", usd_per_hour=4.0, slots=1.0) for n in range(9)]
    cheaper[8] |= {"slots": 2.0}
    assert changed([candidate(), *others], [candidate(), *cheaper]) == [
        *(f"ml.g5.xlarge on_demand in r-{n}: price $5/h became $4/h" for n in range(5)),
        "prices of 4 more lanes changed, where no tasks were or are",
        "quota ml.g5.xlarge/on_demand in r-8: 1 became 2",
    ]


def test_a_quota_that_was_too_small_for_a_lane_is_known_all_the_same() -> None:
    pairs = {"train__instances": 2, "train__efficiency": 1}
    near, far = candidate(slots=1.0), candidate(**DEARER)
    old, market = solve(make_sweep(**pairs), make_market(near, far)), make_market(near | {"slots": 8.0}, far)
    assert difference(old, solve(make_sweep(**pairs), market), market)[1:] == [
        "because of quotas: -$3.00",
        "ml.g5.xlarge on_demand in eu-west-1: 4 tasks became 0",
        "ml.g5.xlarge on_demand in us-east-1: new to the plan at $1/h; 0 tasks became 4",
        "quota ml.g5.xlarge/on_demand in us-east-1: 1 became 8",
    ]
    assert not any("quota" in line for line in difference(old, old, make_market(near, far)))


def test_what_our_own_tasks_paid_is_no_price_of_the_catalog() -> None:
    spot = candidate(purchase="spot", usd_per_hour=0.5)
    market = make_market(spot, candidate(**DEARER))
    paid = replace(market, discounts=table([("sagemaker", "us-east-1", "ml.g5.xlarge", 720.0, 0.7)], DISCOUNTS))
    lines = difference(solve(make_sweep(), market), solve(make_sweep(), paid), paid)[1:]
    assert lines[0].startswith("because of learned discounts: +$")
    assert lines[1:] == ["ml.g5.xlarge spot in us-east-1: by what our own tasks paid, $0.5/h became $0.65/h"]
