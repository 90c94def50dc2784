"""Which zone of a Region is asked for spot instances first: each has a price of its own, and the bill is that price."""

from __future__ import annotations

import logging
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from orchestrator.aws.answers import understood
from orchestrator.aws.errors import aws_errors
from orchestrator.errors import AccessDenied

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from orchestrator.aws.session import Clients

log = logging.getLogger(__name__)

_ASKING = "read the spot prices"


def find_zone_prices(clients: Clients, region: str, types: Collection[str]) -> dict[str, dict[str, float]]:
    """Return what an hour of spot costs now, by instance type and zone.

    It is empty where prices may not be read: zones are asked in another order then, and nothing else changes.
    """
    found: dict[str, dict[str, tuple[datetime, float]]] = {}
    asked = {"InstanceTypes": sorted(types), "ProductDescriptions": ["Linux/UNIX"]}
    try:
        with aws_errors(_ASKING, where=region), understood(_ASKING, where=region):
            pages = clients.client("ec2", region).get_paginator("describe_spot_price_history")
            for page in pages.paginate(**asked, StartTime=datetime.now(timezone.utc)):
                for one in page["SpotPriceHistory"]:
                    by_zone = found.setdefault(one["InstanceType"], {})
                    price = one["Timestamp"], float(one["SpotPrice"])
                    by_zone[one["AvailabilityZone"]] = max(price, by_zone.get(one["AvailabilityZone"], price))
    except AccessDenied as error:
        log.info("zones are not ordered by their prices: %s", error.message)
        return {}
    return {name: {zone: usd for zone, (_, usd) in sorted(zones.items())} for name, zones in sorted(found.items())}


def in_order(subnets: Mapping[str, str], prices: Mapping[str, float]) -> list[str]:
    """Return subnets, whose zones are given, the cheapest zone first. Those without a price come last."""
    return sorted(subnets, key=lambda subnet: (prices.get(subnets[subnet], float("inf")), subnet))
