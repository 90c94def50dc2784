"""The Price List has hundreds of products for one instance type: the one that is meant becomes a row."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.errors import CloudError
from orchestrator.feeds import storage, transfers
from orchestrator.platforms.sagemaker.feeds import ec2_prices, training_prices
from tests.platforms.feeds.answers import Answers, price_list, product

if TYPE_CHECKING:
    from orchestrator.platforms.feed import Reading

NOW = datetime(2026, 11, 22, tzinfo=timezone.utc)


def training(usd: str | None, name: str = "ml.g5.xlarge", component: str = "Training") -> dict[str, Any]:
    return product(usd, instanceName=name, component=component, usagetype=f"USE1-Train:{name}")


def instance(usd: str | None, name: str = "g5.xlarge", usage: str = "BoxUsage") -> dict[str, Any]:
    return product(usd, instanceType=name, usagetype=f"USE1-{usage}:{name}")


def read(feed: Any, *products: dict[str, Any] | str) -> Reading:
    reading: Reading = feed.read(Answers(price_list(*products)), "us-east-1", NOW)
    return reading


def prices(reading: Reading) -> dict[object, object]:
    return {row["instance_type"]: row["usd_per_hour"] for row in reading.rows}


def test_trainings_are_asked_for_and_nothing_else() -> None:
    answers = Answers(price_list())
    training_prices.read(answers, "eu-west-1", NOW)  # type: ignore[arg-type]
    asked = {each["Field"]: each["Value"] for each in answers.asked["Filters"]}
    assert asked == {"productFamily": "ML Instance", "component": "Training", "regionCode": "eu-west-1"}
    assert answers.asked["region"] == "us-east-1"


def test_a_price_of_hosting_is_not_taken_for_training() -> None:
    reading = read(training_prices, training("1.408"), training("1.6", component="Hosting"), training("2", "g5.xlarge"))
    assert prices(reading) == {"ml.g5.xlarge": "1.408"}


def test_a_reservation_that_stands_unused_is_no_price_of_an_instance() -> None:
    assert prices(read(ec2_prices, instance("1.006"), instance("0", usage="UnusedBox"))) == {"g5.xlarge": "1.006"}


def test_one_price_on_several_products_is_one_row() -> None:
    assert prices(read(training_prices, training("1.408"), training("1.408"))) == {"ml.g5.xlarge": "1.408"}


def test_several_prices_are_left_out_and_told() -> None:
    reading = read(training_prices, training("1.408"), training("1.5"))
    assert (reading.rows, reading.left_out) == ((), ("ml.g5.xlarge has 2 prices, not one: 1.408, 1.5",))


@pytest.mark.parametrize("usd", [None, "0.0000000000", "0"])
def test_what_costs_no_dollars_is_left_out_and_told(usd: str | None) -> None:
    reading = read(training_prices, training("1.408"), training(usd, "ml.trn1.2xlarge"))
    assert prices(reading) == {"ml.g5.xlarge": "1.408"}
    assert len(reading.left_out) == 1
    assert "ml.trn1.2xlarge" in reading.left_out[0]


def test_what_is_sold_in_advance_only_is_left_out() -> None:
    reserved = {"product": {"attributes": {"instanceName": "ml.p5.48xlarge", "component": "Training"}}}
    assert read(training_prices, reserved).left_out == ("ml.p5.48xlarge has no price in dollars",)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"product": 1}', '{"product": {"attributes": []}}', "null"])
def test_an_answer_that_is_no_price_list_is_told(text: str) -> None:
    with pytest.raises(CloudError, match="could not read the prices of AmazonSageMaker: no product of the Price List"):
        read(training_prices, training("1"), text)


def test_a_transfer_has_a_row_for_each_tier() -> None:
    there = product("0.02", fromRegionCode="us-east-1", toRegionCode="eu-west-1")
    tiers = there["terms"]["OnDemand"]["t"]["priceDimensions"]
    tiers["e"] = {"beginRange": "10240", "pricePerUnit": {"USD": "0.01"}}
    nowhere = product("0.09", fromRegionCode="us-east-1", toLocation="External")
    reading = read(transfers, there, nowhere)
    assert [(row["to_region"], row["from_gb"], row["usd_per_gb"]) for row in reading.rows] == [
        ("eu-west-1", "0", "0.02"),
        ("eu-west-1", "10240", "0.01"),
    ]


def test_storage_has_a_row_for_each_tier_of_the_class_that_is_billed_by_default() -> None:
    standard = product("0.023", usagetype="EU-TimedStorage-ByteHrs")
    standard["terms"]["OnDemand"]["t"]["priceDimensions"]["e"] = {
        "beginRange": "51200",
        "pricePerUnit": {"USD": "0.022"},
    }
    rare = product("0.0125", usagetype="EU-TimedStorage-SIA-ByteHrs")
    reading = read(storage, standard, rare)
    assert [(row["from_gb"], row["usd_per_gb_month"]) for row in reading.rows] == [("0", "0.023"), ("51200", "0.022")]
