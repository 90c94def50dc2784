"""Which zones are asked, and in which order: by their prices for spot now, and never where a type is not offered."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from orchestrator.platforms.ec2.sent.request import make_request
from orchestrator.platforms.ec2.zones import find_zone_prices, in_order, sites_now
from orchestrator.wire.task import Purchase
from tests.platforms.ec2.ec2_sweeps import place, task, template

if TYPE_CHECKING:
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


def history(*rows: dict[str, Any], refusal: str = "") -> Any:
    """Return clients whose EC2 tells of these prices, or refuses to."""

    class Ec2:
        def get_paginator(self, _: str) -> Pages:
            return Pages(*rows, refusal=refusal)

    class Told:
        def client(self, *_: object, **__: object) -> Ec2:
            return Ec2()

    return Told()


AT_SUBMIT = {"g5.xlarge": {"eu-west-1a": 0.40, "eu-west-1b": 0.50}}


def test_spot_is_asked_for_in_the_order_of_its_prices_now() -> None:
    """They have changed since the run was submitted: the bill is what they are now."""
    made = template(zone_prices=AT_SUBMIT)
    now = history(row("eu-west-1a", "0.90", 12), row("eu-west-1b", "0.45", 12))
    assert sites_now(now, made, place(purchase=Purchase.SPOT)) == ("eu-west-1b", "eu-west-1a")


@pytest.mark.parametrize("refusal", ["UnauthorizedOperation", "RequestLimitExceeded"])
def test_where_prices_are_not_told_now_those_at_submit_order_the_zones(refusal: str) -> None:
    made = template(zone_prices={"g5.xlarge": {"eu-west-1a": 0.50, "eu-west-1b": 0.40}})
    assert sites_now(history(refusal=refusal), made, place(purchase=Purchase.SPOT)) == ("eu-west-1b", "eu-west-1a")


def test_on_demand_asks_nobody_for_a_price() -> None:
    nobody: Any = None
    assert sites_now(nobody, template(zone_prices=AT_SUBMIT), place()) == ("eu-west-1a", "eu-west-1b")


def test_a_zone_that_does_not_offer_the_type_is_not_asked() -> None:
    nobody: Any = None
    made = template(offered={"g5.xlarge": ["eu-west-1b", "eu-west-1c"]})
    assert sites_now(nobody, made, place(purchase=Purchase.SPOT)) == ("eu-west-1b",)
    assert sites_now(nobody, made, place("p5.48xlarge")) == ("eu-west-1a", "eu-west-1b")


def test_several_subnets_of_a_zone_are_one_site() -> None:
    nobody: Any = None
    made = template(subnets={"subnet-a": "eu-west-1a", "subnet-b": "eu-west-1a"})
    assert sites_now(nobody, made, place()) == ("eu-west-1a",)


def test_a_reservation_and_a_place_with_a_zone_have_no_others() -> None:
    nobody: Any = None
    assert sites_now(nobody, template(), place(purchase=Purchase.COMMITTED, site="arn:…/cr-1")) == ()
    assert sites_now(nobody, template(), place(site="eu-west-1b")) == ()


def test_every_zone_that_is_asked_can_be_requested_and_is_a_request_of_its_own() -> None:
    nobody: Any = None
    zones = sites_now(nobody, template(), place())
    asked = [make_request(template(), task(), place(site=zone), 1, 3600) for zone in zones]
    assert [one.body["run"]["SubnetId"] for one in asked] == ["subnet-a", "subnet-b"]
    assert len({one.body["run"]["ClientToken"] for one in asked}) == 2
