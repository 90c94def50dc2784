"""Knows which zones of a Region are asked, and in which order: each has machines, and a price for spot, of its own."""

from __future__ import annotations

import logging
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from orchestrator.aws.answers import understood
from orchestrator.aws.errors import aws_errors
from orchestrator.errors import AccessDenied, AccessError, CloudError
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from orchestrator.aws.session import Clients
    from orchestrator.wire.task import Place
    from orchestrator.wire.template import Template

log = logging.getLogger(__name__)

_ASKING = "read the spot prices"


def sites_now(clients: Clients, template: Template, place: Place) -> tuple[str, ...]:
    """Return the zones of a place that has none yet, in the order in which they should be asked.

    On the spot market it is the order of their prices now; of those at submit, where EC2 does not tell.
    """
    if place.site or place.lane.purchase is Purchase.COMMITTED:
        return ()
    body, lane = template.body["ec2"], place.lane
    subnets, prices = subnets_for(body, lane.instance_type), body.get("zone_prices", {}).get(lane.instance_type, {})
    if lane.purchase is not Purchase.SPOT:
        prices = {}
    elif len(set(subnets.values())) > 1:
        prices = _prices_now(clients, lane.region, lane.instance_type) or prices
    return tuple(dict.fromkeys(subnets[subnet] for subnet in in_order(subnets, prices)))


def subnets_for(body: Mapping[str, Any], instance_type: str) -> dict[str, str]:
    """Return the run's subnets with their zones, of those zones that offer a type, as far as that was told at submit.

    `body` is what is EC2's own of a template.
    """
    offered = body.get("offered", {}).get(instance_type)
    return {subnet: zone for subnet, zone in body["subnets"].items() if offered is None or zone in offered}


def find_offers(clients: Clients, region: str, types: Collection[str]) -> dict[str, list[str]] | None:
    """Return the zones that offer each type, by its name; None where EC2 may not be asked."""
    asking = "look which zones have instance types"
    found: dict[str, list[str]] = {name: [] for name in sorted(types)}
    asked = {"LocationType": "availability-zone", "Filters": [{"Name": "instance-type", "Values": sorted(types)}]}
    try:
        with aws_errors(asking, where=region), understood(asking, where=region):
            pages = clients.client("ec2", region).get_paginator("describe_instance_type_offerings")
            for page in pages.paginate(**asked):
                for one in page["InstanceTypeOfferings"]:
                    found.setdefault(one["InstanceType"], []).append(one["Location"])
    except AccessDenied as error:
        log.info("zones are asked whether they offer a type or not: %s", error.message)
        return None
    return {name: sorted(zones) for name, zones in found.items()}


def _prices_now(clients: Clients, region: str, instance_type: str) -> dict[str, float]:
    try:
        return find_zone_prices(clients, region, [instance_type]).get(instance_type, {})
    except (AccessError, CloudError) as error:
        log.info("zones are asked in the order of their prices at submit: %s", error.message)
        return {}


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
