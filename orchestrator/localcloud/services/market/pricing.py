"""AWS's Price List: products with their prices, as JSON strings, a page at a time."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.http.answers import AwsError
from orchestrator.localcloud.services.market.price_table import (
    REGIONS,
    VCPUS,
    is_offered,
    on_demand_price,
    storage_tiers,
    transfer_price,
)

if TYPE_CHECKING:
    from collections.abc import Callable

Body = dict[str, Any]

ENDPOINTS = ("us-east-1", "eu-central-1", "ap-south-1")
_MOST = 100
_SINCE = "2026-10-01T00:00:00Z"


class Pricing:
    """The Price List's API, which says the same at each of its endpoints. An operation is a method of boto3's name."""

    def describe_services(self, body: Body) -> Body:
        wanted = body.get("ServiceCode")
        codes = [code for code in _SERVICES if wanted in (None, code)]
        if not codes:
            raise AwsError("NotFoundException", f"No service found for service code {wanted}")
        found = [{"ServiceCode": code, "AttributeNames": sorted(_attribute_names(code))} for code in codes]
        return {"FormatVersion": "aws_v1", **_page("Services", found, body)}

    def get_attribute_values(self, body: Body) -> Body:
        name = body["AttributeName"]
        values = {each["product"]["attributes"].get(name) for each in _products(body["ServiceCode"])} - {None}
        return _page("AttributeValues", [{"Value": value} for value in sorted(values)], body)

    def get_products(self, body: Body) -> Body:
        filters = body.get("Filters", [])
        found = [each for each in _products(body["ServiceCode"]) if all(_fits(each["product"], one) for one in filters)]
        page = _page("PriceList", found, body)
        page["PriceList"] = [json.dumps(each) for each in page["PriceList"]]
        return {"FormatVersion": "aws_v1", **page}


def _fits(product: Body, condition: Body) -> bool:
    """Say whether a product matches a filter of GetProducts."""
    attributes = {**product["attributes"], "productFamily": product["productFamily"], "sku": product["sku"]}
    value, wanted = attributes.get(condition["Field"], ""), condition["Value"]
    several = [each.strip() for each in wanted.split(",")]
    tests: dict[str, Callable[[], bool]] = {
        "TERM_MATCH": lambda: value == wanted,
        "EQUALS": lambda: value == wanted,
        "CONTAINS": lambda: wanted in value,
        "ANY_OF": lambda: value in several,
        "NONE_OF": lambda: value not in several,
    }
    if condition["Type"] not in tests:
        raise AwsError("InvalidParameterException", f"Filter type {condition['Type']} is not one of {', '.join(tests)}")
    return tests[condition["Type"]]()


def _page(member: str, everything: list[Any], body: Body) -> Body:
    token = body.get("NextToken") or "0"
    if not token.isdecimal():
        raise AwsError("InvalidNextTokenException", "Invalid NextToken")
    stop = int(token) + min(body.get("MaxResults") or _MOST, _MOST)
    answer: Body = {member: everything[int(token) : stop]}
    if stop < len(everything):
        answer["NextToken"] = str(stop)
    return answer


def _attribute_names(service: str) -> set[str]:
    return {"productFamily"}.union(*(each["product"]["attributes"] for each in _products(service)))


@cache
def _products(service: str) -> list[Body]:
    if service not in _SERVICES:
        raise AwsError("InvalidParameterException", f"Invalid ServiceCode: {service}")
    return _SERVICES[service]()


def _trainings() -> list[Body]:
    """Return a product for each component of SageMaker: who does not ask for Training finds several prices."""
    return [
        _product(
            "AmazonSageMaker",
            "ML Instance",
            {
                "instanceName": f"ml.{name}",
                "component": component,
                "usagetype": f"{region.prefix}-{usage}:ml.{name}",
                "operation": "RunInstance",
                "vCpu": str(VCPUS[name]),
                "location": region.location,
                "locationType": "AWS Region",
                "regionCode": region.name,
            },
            ("Hrs", on_demand_price(name, region.name, training=True), 0),
        )
        for region in REGIONS.values()
        for name in VCPUS
        if is_offered(name, region.name)
        for component, usage in (("Training", "Train"), ("Hosting", "Host"), ("Processing", "Processing"))
    ]


def _instances() -> list[Body]:
    return [
        _product(
            "AmazonEC2",
            "Compute Instance",
            {
                "instanceType": name,
                "vcpu": str(VCPUS[name]),
                "operatingSystem": system,
                "preInstalledSw": "NA",
                "tenancy": "Shared",
                "capacitystatus": "Used",
                "usagetype": f"{region.prefix}-BoxUsage:{name}",
                "location": region.location,
                "locationType": "AWS Region",
                "regionCode": region.name,
            },
            ("Hrs", on_demand_price(name, region.name) * (1.0 if system == "Linux" else 1.4), 0),
        )
        for region in REGIONS.values()
        for name in VCPUS
        if is_offered(name, region.name)
        for system in ("Linux", "Windows")
    ]


def _transfers() -> list[Body]:
    return [
        _product(
            "AWSDataTransfer",
            "Data Transfer",
            {
                "transferType": "InterRegion Outbound",
                "fromLocation": source.location,
                "fromRegionCode": source.name,
                "toLocation": destination.location,
                "toRegionCode": destination.name,
                "usagetype": f"{source.prefix}-{destination.prefix}-AWS-Out-Bytes",
            },
            ("GB", transfer_price(source.name, destination.name), 0),
        )
        for source in REGIONS.values()
        for destination in REGIONS.values()
        if source is not destination
    ]


def _storage() -> list[Body]:
    """Return S3 Standard in each Region, with its three tiers, and a class that is billed alike and is another."""
    classes = (
        ("Standard", "General Purpose", "TimedStorage-ByteHrs", 1.0),
        ("Standard", "Intelligent-Tiering", "TimedStorage-INT-IA-ByteHrs", 0.55),
    )
    return [
        _product(
            "AmazonS3",
            "Storage",
            {
                "volumeType": volume,
                "storageClass": name,
                "usagetype": f"{region.prefix}-{usage}",
                "location": region.location,
                "locationType": "AWS Region",
                "regionCode": region.name,
            },
            *(("GB-Mo", round(part * usd, 4), begins) for begins, usd in storage_tiers(region.name)),
        )
        for region in REGIONS.values()
        for volume, name, usage, part in classes
    ]


_SERVICES: dict[str, Callable[[], list[Body]]] = {
    "AmazonSageMaker": _trainings,
    "AmazonEC2": _instances,
    "AWSDataTransfer": _transfers,
    "AmazonS3": _storage,
}


def _product(service: str, family: str, attributes: dict[str, str], *prices: tuple[str, float, int]) -> Body:
    """Return a product with its prices on demand: unit, dollars, and where the tier begins. Its SKU is 16 signs."""
    sku = hashlib.sha256(json.dumps(attributes).encode()).hexdigest()[:16].upper()
    term = f"{sku}.JRTCKXETXF"
    ends = [*(str(begins) for _, _, begins in prices[1:]), "Inf"]
    dimensions = {}
    for number, ((unit, usd, begins), end) in enumerate(zip(prices, ends, strict=True)):
        rate = f"{term}.6YS6EN2CT{7 + number}"
        dimensions[rate] = {
            "rateCode": rate,
            "unit": unit,
            "beginRange": str(begins),
            "endRange": end,
            "description": f"${usd:.4f} per {unit}",
            "appliesTo": [],
            "pricePerUnit": {"USD": f"{usd:.10f}"},
        }
    on_demand_term = {
        "sku": sku,
        "offerTermCode": "JRTCKXETXF",
        "effectiveDate": _SINCE,
        "termAttributes": {},
        "priceDimensions": dimensions,
    }
    return {
        "product": {"productFamily": family, "attributes": {"servicecode": service, **attributes}, "sku": sku},
        "serviceCode": service,
        "terms": {"OnDemand": {term: on_demand_term}},
        "version": "20261001000000",
        "publicationDate": _SINCE,
    }
