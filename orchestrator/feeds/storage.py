"""What it costs to keep data in S3 for a month, with its tiers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.aws.account.price_list import list_products
from orchestrator.platforms.feed import Feed, Reading

if TYPE_CHECKING:
    from datetime import datetime

    from orchestrator.aws.session import Clients

_BYTES_FOR_HOURS = "TimedStorage-ByteHrs"
"""The end of what S3 Standard's bytes are billed as, behind the Region's letters."""


def read(clients: Clients, region: str, now: datetime) -> Reading:  # noqa: ARG001 (a feed is told the moment)
    """Return the price of a gigabyte in S3 Standard in this Region, from each tier on."""
    asked = {"productFamily": "Storage", "volumeType": "Standard", "regionCode": region}
    rows, left_out = {}, []
    for product in list_products(clients, "AmazonS3", asked):
        if not product.attributes.get("usagetype", "").endswith(_BYTES_FOR_HOURS):
            continue
        if not product.tiers:
            left_out.append("S3 Standard: no price in dollars")
        for tier in product.tiers:
            rows[tier.begins] = {"region": region, "from_gb": tier.begins, "usd_per_gb_month": tier.usd}
    return Reading(tuple(rows[begins] for begins in sorted(rows)), tuple(left_out))


FEED = Feed(
    name="storage-prices",
    kind="storage_prices",
    about="what a gigabyte costs in S3 for a month",
    actions=("pricing:GetProducts",),
    read=read,
    at_home=True,
)
