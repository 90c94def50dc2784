"""What there is to choose from: slots, windows of training plans, totals, and what nobody falls back on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from orchestrator.catalog.market import POOLS, TOTALS, table
from orchestrator.planner.offer.choices import LAUNCHER_USD_PER_HOUR
from orchestrator.planner.solve import solve
from tests.fixtures.sweeps import candidate, make_market, make_sweep
from tests.planner.offer.offers import market_with, offered, savings_plan


def test_slots_that_live_runs_hold_are_not_there() -> None:
    found = offered(candidate(slots=8.0, held=3), candidate(region="eu-west-1", slots=None, held=3))
    assert found.problem.slots.tolist() == [np.inf, 5.0]
    assert offered(candidate(slots=8.0, held=3), train__instances=2).problem.slots.tolist() == [2.0]
    assert offered(candidate(slots=2.0, held=3)).problem.slots.tolist() == [0.0]


def test_a_training_plan_costs_nothing_more_and_is_ours_for_a_while() -> None:
    committed = {"purchase": "committed", "usd_per_hour": 0.0}
    found = offered(
        candidate(**committed, arn="arn:b", opens_h=3.0, closes_h=9.0, slots=4.0),
        candidate(**committed, arn="arn:a", opens_h=0.0, closes_h=5.0, slots=2.0),
        candidate(),
    )
    assert found.lanes["arn"].tolist() == ["arn:a", "arn:b", ""]
    assert found.problem.closes.tolist() == [5.0, 9.0, np.inf]
    assert found.problem.slots.tolist() == [2.0, 4.0, 8.0]
    choices = found.problem.choices
    assert choices.lane.tolist() == [0, 1, 2], "the one that is free now comes first"
    assert choices.wait.tolist() == [0.0, 3.0, 0.0]
    assert choices.usd.tolist() == [0.0, 0.0, 2.0]
    assert choices.promise[:2].tolist() == [LAUNCHER_USD_PER_HOUR * 2] * 2, "nor does a promise: only the launcher does"


def test_totals_are_over_all_lanes_of_a_region_or_those_of_a_purchase() -> None:
    totals = [
        ("sagemaker", "us-east-1", "*", 20, 3),
        ("sagemaker", "us-east-1", "spot", 4, 0),
        ("sagemaker", "us-west-2", "*", 1, 0),
        ("ec2", "eu-west-1", "*", 1, 0),
    ]
    found = offered(market=replace(market_with(), totals=table(totals, TOTALS)), train__instances=3)
    every, spot = found.problem.totals
    assert set(found.lanes.iloc[every.lanes]["region"]) == {"us-east-1"}
    assert len(every.lanes) == 3
    assert every.slots == 5
    assert found.lanes.iloc[spot.lanes]["purchase"].tolist() == ["spot"]
    assert spot.slots == 1


def test_nobody_falls_back_on_a_savings_plan_or_on_a_window_that_opens_later() -> None:
    market = make_market(
        candidate(usd_per_hour=0.9, on_demand_usd_per_hour=0.9),
        candidate(region="eu-west-1"),
        candidate(purchase="committed", usd_per_hour=0.0, opens_h=20.0, closes_h=40.0, arn="arn:later"),
        candidate(region="us-west-2", purchase="committed", usd_per_hour=0.0, closes_h=40.0, arn="arn:now", slots=1.0),
    )
    market = replace(market, pools=table([savings_plan(region="eu-west-1")], POOLS))
    sweep = make_sweep(runtime=2.0, space={"lr": [1, 2]}, where__purchases=["on_demand", "committed"])
    (share,) = solve(sweep, market).shares
    assert [(place.lane.region, place.plan_arn) for place in share.places] == [
        ("eu-west-1", ""),
        ("us-west-2", "arn:now"),
        ("us-east-1", ""),
    ]
