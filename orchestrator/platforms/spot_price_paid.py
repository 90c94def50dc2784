"""What an hour of spot has cost in each zone, on the average of the time for which instances had lived there."""

from __future__ import annotations

from datetime import datetime, timezone
from itertools import pairwise
from typing import TYPE_CHECKING

from orchestrator.aws.answers import understood
from orchestrator.aws.errors import aws_errors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orchestrator.aws.session import Clients
    from orchestrator.wire.task import Lane


def average_spot_prices(clients: Clients, lane: Lane, begins: float, ends: float) -> dict[str, float]:
    """Return what an hour of a lane's instance type cost on spot in each zone, on the average of a time.

    A zone without any price is left out.
    """
    return average_prices_of([lane.instance_type], clients, lane.region, begins, ends).get(lane.instance_type, {})


def usual_zones(prices: Mapping[str, float], region: str) -> dict[str, float]:
    """Return the prices of a Region's own zones, such as eu-west-1a: nobody is in a local one who does not say so."""
    return {zone: usd for zone, usd in prices.items() if len(zone.removeprefix(region)) == 1}


def average_prices_of(
    types: Sequence[str], clients: Clients, region: str, begins: float, ends: float
) -> dict[str, dict[str, float]]:
    """Return the same of several instance types, by their names."""
    found: dict[str, dict[str, list[tuple[float, float]]]] = {}
    asking = "read the spot prices"
    with aws_errors(asking, where=region), understood(asking, where=region):
        pages = (
            clients.client("ec2", region)
            .get_paginator("describe_spot_price_history")
            .paginate(
                InstanceTypes=list(types),
                ProductDescriptions=["Linux/UNIX"],
                StartTime=datetime.fromtimestamp(begins, timezone.utc),
                EndTime=datetime.fromtimestamp(ends, timezone.utc),
            )
        )
        for page in pages:
            for one in page["SpotPriceHistory"]:
                changes = found.setdefault(one["InstanceType"], {}).setdefault(one["AvailabilityZone"], [])
                changes.append((one["Timestamp"].timestamp(), float(one["SpotPrice"])))
    return {
        name: {zone: _average(changes, begins, ends) for zone, changes in zones.items()}
        for name, zones in found.items()
    }


def _average(changes: list[tuple[float, float]], begins: float, ends: float) -> float:
    """Return the price that held on the average; before the first change, that one is taken to hold already."""
    ordered = sorted(changes)
    moments = [min(max(at, begins), ends) for at, _ in ordered] + [ends]
    moments[0] = begins
    if ends <= begins:
        return ordered[-1][1]
    spans = zip(pairwise(moments), ordered, strict=True)
    return sum((end - at) * usd for (at, end), (_, usd) in spans) / (ends - begins)
