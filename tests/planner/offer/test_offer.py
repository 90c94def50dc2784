"""What there is to choose from: slots, windows of training plans, quotas, and what nobody falls back on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from orchestrator.catalog.market import POOLS, table
from orchestrator.plan.launcher_price import LAUNCHER_USD_PER_HOUR
from orchestrator.planner.solve import solve
from tests.fixtures.sweeps import candidate, make_market, make_sweep, with_quota
from tests.planner.offer.offers import TYPES, market_with, offered, savings_plan


def test_slots_that_live_runs_hold_are_not_there() -> None:
    found = offered(candidate(slots=8.0, held=3), candidate(region="eu-west-1", slots=None, held=3))
    assert found.problem.most_slots.tolist() == [np.inf, 5.0]
    assert offered(candidate(slots=8.0, held=3), train__instances=2).problem.most_slots.tolist() == [2.0]
    assert offered(candidate(slots=2.0, held=3)).problem.most_slots.tolist() == [0.0]


def test_a_training_plan_costs_nothing_more_and_is_ours_for_a_while() -> None:
    committed = {"purchase": "committed", "usd_per_hour": 0.0}
    found = offered(
        candidate(**committed, site="arn:b", opens_h=3.0, closes_h=9.0, slots=4.0),
        candidate(**committed, site="arn:a", opens_h=0.0, closes_h=5.0, slots=2.0),
        candidate(),
    )
    assert found.lanes["site"].tolist() == ["arn:a", "arn:b", ""]
    assert found.problem.closes.tolist() == [5.0, 9.0, np.inf]
    assert found.problem.most_slots.tolist() == [2.0, 4.0, 8.0]
    choices = found.problem.choices
    assert choices.lane.tolist() == [0, 1, 2], "the one that is free now comes first"
    assert choices.wait.tolist() == [0.0, 3.0, 0.0]
    assert choices.usd.tolist() == [0.0, 0.0, 2.0]
    assert choices.promise[:2].tolist() == [LAUNCHER_USD_PER_HOUR * 2] * 2, "nor does a promise: only the launcher does"


def test_each_known_quota_is_a_limit_over_the_lanes_that_count_under_it_in_units_of_a_training() -> None:
    market = with_quota(market_with(), "*/*", 20, held=3)
    market = with_quota(market, "vcpus", 47, each={TYPES[0]: 4, TYPES[1]: 8})
    found = offered(market=market, train__instances=3)
    *own, every, vcpus = found.problem.limits
    assert [limit.lanes.tolist() for limit in own] == [[lane] for lane in range(4)]
    assert set(found.lanes.iloc[every.lanes]["region"]) == {"us-east-1"}
    assert (every.units.tolist(), every.free) == ([3, 3, 3], 15), "17 are free, of which two are of no use"
    assert dict(zip(found.lanes.iloc[vcpus.lanes]["instance_type"], vcpus.units, strict=True)) == {
        TYPES[0]: 12,
        TYPES[1]: 24,
    }
    assert vcpus.free == 36
    assert found.quotas["quota"].tolist()[-2:] == ["*/*", "vcpus"]
    assert not found.quotas["bought"].any()


def test_nobody_falls_back_on_a_savings_plan_or_on_a_window_that_opens_later() -> None:
    market = make_market(
        candidate(usd_per_hour=0.9, on_demand_usd_per_hour=0.9),
        candidate(region="eu-west-1"),
        candidate(purchase="committed", usd_per_hour=0.0, opens_h=20.0, closes_h=40.0, site="arn:later"),
        candidate(region="us-west-2", purchase="committed", usd_per_hour=0.0, closes_h=40.0, site="arn:now", slots=1.0),
    )
    market = replace(market, pools=table([savings_plan(region="eu-west-1")], POOLS))
    sweep = make_sweep(runtime=2.0, space={"lr": [1, 2]}, where__purchases=["on_demand", "committed"])
    (share,) = solve(sweep, market).shares
    assert [(place.lane.region, place.site) for place in share.places] == [
        ("eu-west-1", ""),
        ("us-west-2", "arn:now"),
        ("us-east-1", ""),
    ]
