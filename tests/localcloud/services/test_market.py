"""Prices, quotas and spot markets in AWS's own shapes, so that whatever reads them can be tried from end to end.

Sources: API reference of each operation; the figures are nobody's.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.localcloud import LocalCloud

    Client = Callable[..., Any]

TRAINING = {
    "productFamily": "ML Instance",
    "component": "Training",
    "instanceName": "ml.g5.2xlarge",
    "regionCode": "us-east-1",
}


def products(client: Client, service: str, **fields: str) -> list[dict[str, Any]]:
    filters = [{"Type": "TERM_MATCH", "Field": name, "Value": value} for name, value in fields.items()]
    pages = client("pricing").get_paginator("get_products").paginate(ServiceCode=service, Filters=filters)
    return [json.loads(text) for page in pages for text in page["PriceList"]]


def price(product: dict[str, Any]) -> float:
    (term,) = product["terms"]["OnDemand"].values()
    (dimension,) = term["priceDimensions"].values()
    return float(dimension["pricePerUnit"]["USD"])


# Price List


def test_a_product_is_a_json_string_with_one_price_on_demand(client: Client) -> None:
    """Price List API, GetProducts."""
    (found,) = products(client, "AmazonSageMaker", **TRAINING)
    assert found["product"]["attributes"]["usagetype"] == "USE1-Train:ml.g5.2xlarge"
    assert found["product"]["sku"] in next(iter(found["terms"]["OnDemand"]))
    assert 0.1 < price(found) < 10


def test_an_instance_has_a_product_for_each_component(client: Client) -> None:
    without = {name: value for name, value in TRAINING.items() if name != "component"}
    components = {each["product"]["attributes"]["component"] for each in products(client, "AmazonSageMaker", **without)}
    assert components == {"Training", "Hosting", "Processing"}


def test_products_come_at_most_100_a_page(client: Client) -> None:
    page = client("pricing").get_products(ServiceCode="AmazonSageMaker")
    assert (len(page["PriceList"]), bool(page["NextToken"])) == (100, True)
    assert len(products(client, "AmazonSageMaker", component="Training")) > 100


@pytest.mark.parametrize(
    ("kind", "value", "fits"),
    [
        ("EQUALS", "ml.p3.2xlarge", {"ml.p3.2xlarge"}),
        ("CONTAINS", "ml.p3.", {"ml.p3.2xlarge", "ml.p3.8xlarge", "ml.p3.16xlarge"}),
        ("ANY_OF", "ml.p3.2xlarge,ml.c5.large", {"ml.p3.2xlarge", "ml.c5.large"}),
    ],
)
def test_filters_are_of_several_types(client: Client, kind: str, value: str, fits: set[str]) -> None:
    filters = [
        {"Type": "TERM_MATCH", "Field": "component", "Value": "Training"},
        {"Type": "TERM_MATCH", "Field": "regionCode", "Value": "eu-west-1"},
        {"Type": kind, "Field": "instanceName", "Value": value},
    ]
    page = client("pricing", "eu-central-1").get_products(ServiceCode="AmazonSageMaker", Filters=filters)
    assert {json.loads(text)["product"]["attributes"]["instanceName"] for text in page["PriceList"]} == fits


def test_a_gigabyte_between_two_regions_has_a_price(client: Client) -> None:
    route = {"fromRegionCode": "us-east-1", "toRegionCode": "eu-west-1", "transferType": "InterRegion Outbound"}
    (found,) = products(client, "AWSDataTransfer", **route)
    assert found["product"]["attributes"]["usagetype"] == "USE1-EU-AWS-Out-Bytes"
    assert 0 < price(found) < 0.2


def test_a_gigabyte_in_s3_has_three_tiers(client: Client) -> None:
    found = products(client, "AmazonS3", productFamily="Storage", regionCode="eu-west-1")
    assert {each["product"]["attributes"]["usagetype"] for each in found} == {
        "EU-TimedStorage-ByteHrs",
        "EU-TimedStorage-INT-IA-ByteHrs",
    }
    (terms,) = found[0]["terms"]["OnDemand"].values()
    tiers = list(terms["priceDimensions"].values())
    assert [(tier["beginRange"], tier["endRange"]) for tier in tiers] == [
        ("0", "51200"),
        ("51200", "512000"),
        ("512000", "Inf"),
    ]


def test_pricing_has_three_endpoints(client: Client) -> None:
    with pytest.raises(ClientError, match="us-east-1, eu-central-1, ap-south-1"):
        client("pricing", "eu-west-1").describe_services()
    assert {each["ServiceCode"] for each in client("pricing").describe_services()["Services"]} >= {"AmazonEC2"}


# Spot


def history(client: Client, hours: float, **more: Any) -> list[dict[str, Any]]:
    since = datetime.now(timezone.utc) - timedelta(hours=hours)
    pages = (
        client("ec2")
        .get_paginator("describe_spot_price_history")
        .paginate(InstanceTypes=["g5.2xlarge"], StartTime=since, **more)
    )
    return [row for page in pages for row in page["SpotPriceHistory"]]


def test_spot_prices_change_and_stay_below_the_price_on_demand(client: Client) -> None:
    """EC2 API, DescribeSpotPriceHistory: also the last change before the time asked for."""
    fields = {"instanceType": "g5.2xlarge", "regionCode": "us-east-1", "operatingSystem": "Linux"}
    (on_demand,) = products(client, "AmazonEC2", **fields)
    rows = history(client, 24 * 30, ProductDescriptions=["Linux/UNIX"])
    assert {row["AvailabilityZoneId"] for row in rows} == {f"use1-az{number}" for number in range(1, 7)}
    prices = {float(row["SpotPrice"]) for row in rows}
    assert len(prices) > 50
    assert max(prices) <= price(on_demand)
    assert min(row["Timestamp"] for row in rows) <= datetime.now(timezone.utc) - timedelta(days=30)


def test_spot_prices_are_kept_for_90_days_and_come_in_pages(client: Client) -> None:
    rows = history(client, 24 * 365, ProductDescriptions=["Linux/UNIX"], PaginationConfig={"PageSize": 100})
    assert 6 * 270 <= len(rows) <= 6 * 273
    assert rows == sorted(rows, key=lambda row: row["Timestamp"], reverse=True)


@pytest.mark.parametrize("region", ["us-east-1", "us-west-2", "eu-west-1", "eu-central-1"])
def test_every_zone_in_which_instances_may_be_launched_has_a_spot_price(client: Client, region: str) -> None:
    ec2 = client("ec2", region)
    told = ec2.describe_spot_price_history(InstanceTypes=["c5.xlarge"], StartTime=datetime.now(timezone.utc))
    subnets = ec2.describe_subnets()["Subnets"]
    named = {(subnet["AvailabilityZone"], subnet["AvailabilityZoneId"]) for subnet in subnets}
    assert named <= {(each["AvailabilityZone"], each["AvailabilityZoneId"]) for each in told["SpotPriceHistory"]}


def test_placement_scores_are_1_to_10(client: Client) -> None:
    """EC2 API, GetSpotPlacementScores: at most 10 Regions."""
    ec2 = client("ec2")
    wish = {"InstanceTypes": ["g5.2xlarge", "g6.2xlarge", "g4dn.2xlarge"], "TargetCapacity": 10}
    scores = ec2.get_spot_placement_scores(**wish, RegionNames=["us-east-1", "eu-west-1"])["SpotPlacementScores"]
    assert {each["Region"] for each in scores} == {"us-east-1", "eu-west-1"}
    zones = ec2.get_spot_placement_scores(**wish, SingleAvailabilityZone=True)["SpotPlacementScores"]
    assert len({each["AvailabilityZoneId"] for each in zones}) == 6
    assert all(1 <= each["Score"] <= 10 for each in (*scores, *zones))
    with pytest.raises(ClientError, match="10 Regions"):
        ec2.get_spot_placement_scores(**wish, RegionNames=["us-east-1"] * 11)


def test_the_rest_of_ec2_is_still_there(client: Client) -> None:
    assert client("ec2").describe_instance_types(InstanceTypes=["c5.large"])["InstanceTypes"]


# Service Quotas


def quotas(client: Client, region: str = "us-east-1") -> dict[str, float]:
    pages = client("service-quotas", region).get_paginator("list_service_quotas").paginate(ServiceCode="sagemaker")
    return {each["QuotaName"]: each["Value"] for page in pages for each in page["Quotas"]}


def test_quotas_are_those_that_sagemaker_keeps_to(client: Client, cloud: LocalCloud) -> None:
    """Service Quotas API, ListServiceQuotas."""
    before = quotas(client)
    assert before["ml.g5.2xlarge for training job usage"] == 100
    lowered = {"region": "us-east-1", "instance_type": "ml.g5.2xlarge", "purchase": "spot", "value": 3}
    with cloud.fault("quota", **lowered):
        assert quotas(client)["ml.g5.2xlarge for spot training job usage"] == 3
        assert quotas(client, "eu-west-1")["ml.g5.2xlarge for spot training job usage"] == 100
    assert quotas(client) == before


def test_a_quota_has_a_code(client: Client) -> None:
    """Service Quotas API, GetServiceQuota."""
    api = client("service-quotas")
    first = api.list_service_quotas(ServiceCode="sagemaker", MaxResults=1)["Quotas"][0]
    assert first["QuotaCode"].startswith("L-")
    assert api.get_service_quota(ServiceCode="sagemaker", QuotaCode=first["QuotaCode"])["Quota"] == first
    with pytest.raises(ClientError) as caught:
        api.get_service_quota(ServiceCode="sagemaker", QuotaCode="L-NONE")
    assert caught.value.response["Error"]["Code"] == "NoSuchResourceException"


# What is paid for already, and how often spot is taken back


def test_an_account_that_has_promised_nothing_says_so(client: Client) -> None:
    """ListTrainingPlans, DescribeSavingsPlans."""
    assert client("sagemaker").list_training_plans()["TrainingPlanSummaries"] == []
    assert client("savingsplans").describe_savings_plans()["savingsPlans"] == []
    with pytest.raises(ClientError, match="Could not find savings plan"):
        client("savingsplans").describe_savings_plan_rates(savingsPlanId="00000000-0000-0000-0000-000000000000")


def test_the_spot_advisor_s_file_is_for_everybody_and_nothing_else_is(cloud: LocalCloud) -> None:
    with urllib.request.urlopen(f"{cloud.endpoint}/spot-advisor-data.json") as answer:
        document = json.load(answer)
    labels = {band["index"]: band["label"] for band in document["ranges"]}
    bands = document["spot_advisor"]["us-east-1"]["Linux"]
    assert {labels[advice["r"]] for advice in bands.values()} >= {"<5%", ">20%"}
    with pytest.raises(urllib.error.HTTPError):
        urllib.request.urlopen(f"{cloud.endpoint}/spot-advisor-data.csv")
