"""EC2's prices on demand: what its spot prices are a part of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.aws.account.price_list import list_linux_instances
from orchestrator.platforms.feed import Feed
from orchestrator.platforms.sagemaker.feeds.hourly import Listed, read_hourly

if TYPE_CHECKING:
    from datetime import datetime

    from orchestrator.aws.session import Clients
    from orchestrator.platforms.feed import Reading


def read(clients: Clients, region: str, now: datetime) -> Reading:
    """Return the price of each instance type that EC2 has in this Region."""
    return read_hourly(list_linux_instances(clients, region), Listed("ec2", region, now))


FEED = Feed(
    name="ec2-prices",
    kind="prices",
    about="what an hour of an EC2 instance costs on demand",
    actions=("pricing:GetProducts",),
    read=read,
)
