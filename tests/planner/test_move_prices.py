"""A plan tells what it costs to bring a checkpoint from a place to the other Regions of its task."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from orchestrator.catalog.market import TRANSFERS, table
from orchestrator.planner.solve import solve
from tests.fixtures.sweeps import candidate, make_market, make_sweep

if TYPE_CHECKING:
    from orchestrator.catalog.market import Market

ONE: dict[str, Any] = {"space": {}, "runtime": 1}
SAVES = {**ONE, "train__checkpoints": {"every": "10m"}}
PRICES = [
    ("us-east-1", "us-west-2", 0.0, 0.02),
    ("us-east-1", "us-west-2", 100.0, 0.01),
    ("us-east-1", "eu-west-1", 0.0, 0.03),
    ("us-west-2", "us-east-1", 0.0, 0.02),
    ("us-west-2", "eu-west-1", 0.0, 0.02),
    ("us-east-1", "sa-east-1", 0.0, 0.9),
]


def market() -> Market:
    regions = {"us-east-1": 1.0, "us-west-2": 1.1, "eu-west-1": 1.2}
    made = make_market(*(candidate(region=region, usd_per_hour=usd) for region, usd in regions.items()))
    return replace(made, transfers=table(sorted(PRICES), TRANSFERS))


def test_the_dearest_of_the_regions_that_it_may_go_to_counts() -> None:
    (share,) = solve(make_sweep(**SAVES), market()).shares
    found = {place.lane.region: place.leave_usd_per_gb for place in share.places}
    # Nobody knows what leaves eu-west-1 costs, and no task goes to sa-east-1.
    assert found == {"us-east-1": 0.03, "us-west-2": 0.02, "eu-west-1": None}


def test_a_plan_whose_trainings_keep_no_checkpoints_or_stay_in_their_region_says_nothing() -> None:
    (share,) = solve(make_sweep(**ONE), market()).shares
    assert {place.leave_usd_per_gb for place in share.places} == {None}
    (share,) = solve(make_sweep(**SAVES), make_market(candidate())).shares
    assert {place.leave_usd_per_gb for place in share.places} == {None}
