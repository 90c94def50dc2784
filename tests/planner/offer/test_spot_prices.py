"""Spot costs what was really paid for it before, the more so the oftener."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.catalog.market import CANDIDATES, DISCOUNTS, Seen, table
from orchestrator.planner.offer.spot_prices import PRIOR_HOURS, price_spot
from orchestrator.planner.solve import solve
from tests.fixtures.sweeps import candidate, make_market, make_sweep

if TYPE_CHECKING:
    from collections.abc import Sequence

SPOT = candidate(purchase="spot", usd_per_hour=0.5, on_demand_usd_per_hour=1.0)


def prices(candidates: Sequence[dict[str, Any]], *discounts: tuple[Any, ...]) -> list[float]:
    rows = pd.DataFrame(list(candidates), columns=list(CANDIDATES))
    found: list[float] = price_spot(rows, table(discounts, DISCOUNTS), Seen())["usd_per_hour"].tolist()
    return found


def own(hours: float, usd: float, region: str = "us-east-1") -> tuple[Any, ...]:
    """A row of DISCOUNTS."""
    return ("sagemaker", region, "ml.g5.xlarge", hours, usd)


def test_without_a_past_the_catalog_is_believed() -> None:
    assert prices([SPOT]) == [0.5]
    assert prices([SPOT], own(50, 0.1, region="eu-west-1")) == [0.5]


def test_own_bills_weigh_as_many_hours_as_they_are_for() -> None:
    assert prices([SPOT], own(PRIOR_HOURS, 0.3)) == pytest.approx([0.4])
    assert prices([SPOT], own(10**7, 0.3)) == pytest.approx([0.3], rel=1e-4)


def test_a_first_small_run_does_not_turn_a_plan_over() -> None:
    """A dozen tasks of an hour each paid a quarter more than the catalog says; the next Region is an eighth dearer."""
    market = make_market(SPOT, SPOT | {"region": "eu-west-1", "usd_per_hour": 0.5625})
    small, large = (replace(market, discounts=table([own(hours, 0.625)], DISCOUNTS)) for hours in (12.0, 1_200.0))
    regions = [solve(make_sweep(), each).shares[0].places[0].lane.region for each in (market, small, large)]
    assert regions == ["us-east-1", "us-east-1", "eu-west-1"]


@given(st.floats(0.01, 10), st.floats(0.01, 10), st.floats(0.01, 10**6), st.floats(0, 10))
def test_what_was_billed_is_never_dearer_than_on_demand(spot: float, rate: float, hours: float, paid: float) -> None:
    found = prices([SPOT | {"usd_per_hour": spot, "on_demand_usd_per_hour": rate}], own(hours, paid))[0]
    assert min(spot, rate, paid) * (1 - 1e-9) <= found <= rate


def test_only_spot_of_the_same_platform_is_paid_so() -> None:
    others = [candidate(), SPOT | {"platform": "ec2"}, candidate(purchase="committed", usd_per_hour=0.0)]
    assert prices(others, own(10**6, 0.3)) == [1.0, 0.5, 0.0]


def test_a_spot_price_above_on_demand_stays_where_nothing_else_is_known() -> None:
    assert prices([SPOT | {"usd_per_hour": 1.5}]) == [1.5]


def test_missing_prices_stay_missing() -> None:
    assert pd.isna(prices([SPOT | {"usd_per_hour": None}], own(9, 0.3))[0])
    assert prices([SPOT | {"on_demand_usd_per_hour": None}], own(9, 0.3)) == [0.5]


def test_a_plan_s_lots_say_the_price_it_was_made_with() -> None:
    market = make_market(SPOT, candidate(usd_per_hour=0.45, purchase="on_demand"))
    market = replace(market, discounts=table([own(PRIOR_HOURS, 0.3)], DISCOUNTS))
    lots = {str(lot.lane).split("/")[-1]: lot.usd_per_hour for lot in solve(make_sweep(), market).lots}
    assert sorted(lots.values()) == pytest.approx([0.4, 0.45])
