"""Offers to one small sweep, and savings plans for them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from orchestrator.catalog.market import POOLS, table
from orchestrator.planner.hours.runtimes import expected_runtimes
from orchestrator.planner.offer.cohorts import cohorts
from orchestrator.planner.offer.instance_counts import on_each_count
from orchestrator.planner.offer.offer import offer
from orchestrator.planner.offer.spot_prices import as_learned
from tests.fixtures.sweeps import candidate, make_market, make_sweep

if TYPE_CHECKING:
    from orchestrator.catalog.market import Market
    from orchestrator.planner.offer.offer import Offer

TYPES = ["ml.g5.xlarge", "ml.g5.2xlarge"]


def offered(*candidates: dict[str, Any], market: Market | None = None, **changes: Any) -> Offer:
    """Return the offer to a sweep of one dataset, with tasks of one size that take two hours."""
    sweep = make_sweep(**{"runtime": 2.0, "where__instance_types": TYPES} | changes)
    market = market or make_market(*candidates)
    runtimes = expected_runtimes(sweep, [10**9], market.history)
    groups = cohorts(runtimes.hours, runtimes.data_factor, sweep.points.points_per_size)
    candidates = as_learned(market).assign(dataset=0)
    candidates = on_each_count(candidates, sweep.train.instance_counts, runtimes.pace)
    return offer(sweep, groups, runtimes, candidates, market)


def market_with(*savings_plans: tuple[Any, ...]) -> Market:
    """Return two on-demand lanes and a spot lane in one Region, an on-demand lane in another, and savings plans."""
    market = make_market(
        candidate(),
        candidate(instance_type=TYPES[1], usd_per_hour=3.0, on_demand_usd_per_hour=3.0),
        candidate(purchase="spot", usd_per_hour=0.5),
        candidate(region="eu-west-1"),
    )
    return replace(market, pools=table(savings_plans, POOLS))


def savings_plan(
    region: str = "*", instance_type: str = "*", opens: float = 0.0, closes: float = 100.0
) -> tuple[Any, ...]:
    """Return a savings plan of $10 an hour that takes a fifth off."""
    return ("one", "sagemaker", region, instance_type, 10.0, 0.2, opens, closes)
