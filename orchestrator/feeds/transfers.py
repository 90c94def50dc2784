"""What it costs to bring data from one Region to another, with its tiers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.aws.account.price_list import list_products
from orchestrator.platforms.feed import Feed, Reading

if TYPE_CHECKING:
    from datetime import datetime

    from orchestrator.aws.session import Clients


def read(clients: Clients, region: str, now: datetime) -> Reading:  # noqa: ARG001 (a feed is told the moment)
    """Return the price of a gigabyte from this Region to each other: AWS bills it to the Region that sends."""
    asked = {"transferType": "InterRegion Outbound", "fromRegionCode": region}
    rows, left_out = {}, []
    for product in list_products(clients, "AWSDataTransfer", asked):
        to_region = product.attributes.get("toRegionCode", "")
        if not to_region or to_region == region:
            continue
        if not product.tiers:
            left_out.append(f"to {to_region}: no price in dollars")
        for tier in product.tiers:
            row = {"from_region": region, "to_region": to_region, "from_gb": tier.begins, "usd_per_gb": tier.usd}
            rows[to_region, tier.begins] = row
    return Reading(tuple(rows[key] for key in sorted(rows)), tuple(left_out))


FEED = Feed(
    name="transfer-prices",
    kind="transfer_prices",
    about="what a gigabyte costs from one Region to another",
    actions=("pricing:GetProducts",),
    read=read,
)
