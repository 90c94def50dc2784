"""AWS's Price List: what things cost on demand, as AWS itself publishes it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orchestrator.aws.answers import understood
from orchestrator.aws.errors import aws_errors
from orchestrator.errors import CloudError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from orchestrator.aws.session import Clients

ENDPOINT = "us-east-1"
"""One of the Regions that answer for the prices of all Regions."""
_PLAIN_LINUX = {
    "operatingSystem": "Linux",
    "preInstalledSw": "NA",
    "tenancy": "Shared",
    "capacitystatus": "Used",
    "locationType": "AWS Region",
}
"""What tells the one price that is meant from an instance type's hundreds."""


@dataclass(frozen=True)
class Tier:
    """A price from some amount on."""

    begins: str
    usd: str
    """The dollars for one unit, as AWS writes them: a text that may be no number."""


@dataclass(frozen=True)
class Product:
    """Something that AWS sells, and its prices on demand."""

    attributes: Mapping[str, str]
    tiers: tuple[Tier, ...]
    """The prices in dollars, the first tier first; none if it is sold in another currency, or only in advance."""


def list_products(clients: Clients, service: str, attributes: Mapping[str, str]) -> Iterator[Product]:
    """Yield the products of a service that have all these attributes.

    Raise CloudError if what AWS answers is no price list.
    """
    filters = [{"Type": "TERM_MATCH", "Field": field, "Value": value} for field, value in attributes.items()]
    asking = f"read the prices of {service}"
    with aws_errors(asking, where=ENDPOINT):
        pages = clients.client("pricing", ENDPOINT).get_paginator("get_products")
        for page in pages.paginate(ServiceCode=service, Filters=filters):
            with understood(asking, where=ENDPOINT):
                texts = list(page["PriceList"])
            for text in texts:
                yield _read(text, asking)


def list_linux_instances(clients: Clients, region: str) -> Iterator[tuple[str, Product]]:
    """Yield each type of EC2's in a Region, and what it costs with Linux and nothing else on it."""
    for product in list_products(clients, "AmazonEC2", {**_PLAIN_LINUX, "regionCode": region}):
        name, usage = (product.attributes.get(key, "") for key in ("instanceType", "usagetype"))
        if name and "BoxUsage" in usage:  # a reservation that stands unused has a product, too
            yield name, product


def _read(text: str, asking: str) -> Product:
    try:
        document = json.loads(text)
        attributes = {str(name): str(value) for name, value in document["product"]["attributes"].items()}
        terms = document.get("terms", {}).get("OnDemand", {}).values()
        tiers = [_tier(dimension) for term in terms for dimension in term["priceDimensions"].values()]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CloudError(
            f"could not {asking}: no product of the Price List: {str(text)[:80]!r}",
            where=ENDPOINT,
            hint="an answer not known here: try again later",
        ) from error
    return Product(attributes, tuple(tier for tier in tiers if tier is not None))


def _tier(dimension: Mapping[str, Any]) -> Tier | None:
    usd = dimension["pricePerUnit"].get("USD")
    return None if usd is None else Tier(str(dimension.get("beginRange") or "0"), str(usd))
