"""What spot nodes have cost: the dearest zone's price while the pods ran, and never more than the rate."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

import pytest

from orchestrator.errors import AccessDenied
from orchestrator.platforms.eks.bill import at_spot_price
from orchestrator.wire.result import Outcome, TaskState
from orchestrator.wire.task import Lane, Purchase
from tests.platforms.eks.made import ATTEMPT

SPOT = Lane.parse("eks/eu-west-1/g5.xlarge/spot")
DONE = Outcome(
    1, SPOT, "nightly-7-1", TaskState.DONE, billable_s=1800.0, usd=2.0, started_at=1000.0, ended_at=2800.0, instances=2
)


class Prices:
    """EC2 with one spot price in each zone."""

    def __init__(self, **prices: float) -> None:
        self.prices = prices

    def client(self, service: str, region: str) -> Any:
        assert (service, region) == ("ec2", "eu-west-1")
        if not self.prices:
            raise AccessDenied("may not look at spot prices")
        return self

    def get_paginator(self, _: str) -> Any:
        return self

    def paginate(self, **asked: Any) -> list[dict[str, Any]]:
        assert asked["InstanceTypes"] == ["g5.xlarge"]
        early = datetime.fromtimestamp(0, timezone.utc)
        rows = [
            {"AvailabilityZone": zone, "Timestamp": early, "SpotPrice": str(usd)} for zone, usd in self.prices.items()
        ]
        return [{"SpotPriceHistory": rows}]


@pytest.mark.parametrize(
    ("prices", "usd"),
    [({"a": 0.4, "b": 0.6}, 0.6), ({"a": 3.0}, 2.0), ({}, 2.0)],  # at 0.6 for half an hour of two; the rate; as it was
)
def test_the_dearest_zone_counts_and_never_more_than_the_rate(prices: dict[str, float], usd: float) -> None:
    clients: Any = Prices(**prices)
    assert at_spot_price(clients, ATTEMPT, DONE).usd == pytest.approx(usd)


def test_on_demand_is_billed_at_the_rate_and_what_never_ran_costs_nothing() -> None:
    clients: Any = Prices(a=0.4)
    on_demand = replace(ATTEMPT, lane=replace(SPOT, purchase=Purchase.ON_DEMAND))
    assert at_spot_price(clients, on_demand, DONE) == DONE
    never = replace(DONE, started_at=None, ended_at=2800.0, usd=0.0)
    assert at_spot_price(clients, ATTEMPT, never).usd == 0.0
