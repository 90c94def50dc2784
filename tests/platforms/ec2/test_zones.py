"""What spot costs in each zone, as EC2 tells it; zones without a price come last."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from orchestrator.platforms.ec2.zones import find_zone_prices, in_order

if TYPE_CHECKING:
    import pytest

    from orchestrator.aws.session import Clients

REGION = "eu-west-1"


class Pages:
    """Pages of the spot market's history, or a refusal."""

    def __init__(self, *rows: dict[str, Any], refusal: str = "") -> None:
        self.rows = rows
        self.refusal = refusal

    def paginate(self, **_: Any) -> list[dict[str, Any]]:
        if self.refusal:
            raise ClientError({"Error": {"Code": self.refusal, "Message": "no"}}, "DescribeSpotPriceHistory")
        return [{"SpotPriceHistory": [row]} for row in self.rows]


def row(zone: str, usd: str, hour: int) -> dict[str, Any]:
    at = datetime(2026, 11, 22, hour, tzinfo=timezone.utc)
    return {"InstanceType": "g5.xlarge", "AvailabilityZone": zone, "SpotPrice": usd, "Timestamp": at}


def test_the_newest_price_of_each_zone_counts(clients: Clients, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = Pages(row("eu-west-1a", "0.40", 9), row("eu-west-1a", "0.60", 11), row("eu-west-1b", "0.50", 10))
    monkeypatch.setattr(clients.client("ec2", REGION), "get_paginator", lambda _: pages)
    found = find_zone_prices(clients, REGION, ["g5.xlarge"])
    assert found == {"g5.xlarge": {"eu-west-1a": 0.6, "eu-west-1b": 0.5}}


def test_without_the_permission_zones_have_no_order(clients: Clients, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = Pages(refusal="UnauthorizedOperation")
    monkeypatch.setattr(clients.client("ec2", REGION), "get_paginator", lambda _: pages)
    assert find_zone_prices(clients, REGION, ["g5.xlarge"]) == {}


def test_a_zone_without_a_price_comes_last() -> None:
    subnets = {"subnet-a": "eu-west-1a", "subnet-b": "eu-west-1b", "subnet-c": "eu-west-1c"}
    assert in_order(subnets, {"eu-west-1c": 0.4, "eu-west-1b": 0.5}) == ["subnet-c", "subnet-b", "subnet-a"]
    assert in_order(subnets, {}) == ["subnet-a", "subnet-b", "subnet-c"]
