"""EC2's prices on demand: what its spot prices are a part of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.aws.account.price_list import list_products
from orchestrator.platforms.feed import Feed
from orchestrator.platforms.sagemaker.feeds.hourly import Listed, read_hourly

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from orchestrator.aws.account.price_list import Product
    from orchestrator.aws.session import Clients
    from orchestrator.platforms.feed import Reading

PLAIN_LINUX = {
    "operatingSystem": "Linux",
    "preInstalledSw": "NA",
    "tenancy": "Shared",
    "capacitystatus": "Used",
    "locationType": "AWS Region",
}
"""What tells the one price that is meant from an instance type's hundreds."""


def read(clients: Clients, region: str, now: datetime) -> Reading:
    """Return the price of each instance type that EC2 has in this Region."""
    return read_hourly(_instances(clients, region), Listed("ec2", region, now))


def _instances(clients: Clients, region: str) -> Iterator[tuple[str, Product]]:
    for product in list_products(clients, "AmazonEC2", {**PLAIN_LINUX, "regionCode": region}):
        name, usage = (product.attributes.get(key, "") for key in ("instanceType", "usagetype"))
        if name and "BoxUsage" in usage:  # a reservation that stands unused has a product, too
            yield name, product


FEED = Feed(
    name="ec2-prices",
    kind="prices",
    about="what an hour of an EC2 instance costs on demand",
    actions=("pricing:GetProducts",),
    read=read,
)
