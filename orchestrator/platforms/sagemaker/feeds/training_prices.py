"""SageMaker's prices of training on demand. There is no price list of its spot: see `ec2_spot_prices.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.aws.account.price_list import list_products
from orchestrator.platforms.feed import Feed
from orchestrator.platforms.sagemaker.feeds.hourly import Listed, read_hourly
from orchestrator.platforms.sagemaker.instance_types import PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from orchestrator.aws.account.price_list import Product
    from orchestrator.aws.session import Clients
    from orchestrator.platforms.feed import Reading


def read(clients: Clients, region: str, now: datetime) -> Reading:
    """Return the price of each instance type that trains in this Region."""
    return read_hourly(_trainings(clients, region), Listed("sagemaker", region, now))


def _trainings(clients: Clients, region: str) -> Iterator[tuple[str, Product]]:
    """Yield each instance type with its product for training: hosting, notebooks and others have their own."""
    asked = {"productFamily": "ML Instance", "component": "Training", "regionCode": region}
    for product in list_products(clients, "AmazonSageMaker", asked):
        name = product.attributes.get("instanceName", "")
        if name.startswith(PREFIX) and product.attributes.get("component") == "Training":
            yield name, product


FEED = Feed(
    name="sagemaker-prices",
    kind="prices",
    about="what an hour of training costs on demand",
    actions=("pricing:GetProducts",),
    read=read,
)
