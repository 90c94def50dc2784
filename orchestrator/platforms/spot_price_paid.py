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


Changes = list[tuple[float, float]]
"""Moments in seconds since the epoch, each with the dollars of an hour from then on."""


def average_spot_prices(clients: Clients, lane: Lane, begins: float, ends: float) -> dict[str, float]:
    """Return what an hour of a lane's instance type cost on spot in each zone, on the average of a time.

    A zone without any price is left out.
    """
    changes = read_changes([lane.instance_type], clients, lane.region, begins, ends)
    return {zone: _average(told, begins, ends) for zone, told in changes.get(lane.instance_type, {}).items()}


def usual_zones(prices: Mapping[str, float], region: str) -> dict[str, float]:
    """Return the prices of a Region's own zones, such as eu-west-1a: nobody is in a local one who does not say so."""
    return {zone: usd for zone, usd in prices.items() if len(zone.removeprefix(region)) == 1}


def read_changes(
    types: Sequence[str], clients: Clients, region: str, begins: float, ends: float
) -> dict[str, dict[str, Changes]]:
    """Return the changes of the spot price, by instance type and zone, with the last one before this time."""
    found: dict[str, dict[str, Changes]] = {}
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
    return found


def usual_price(changes: Changes, begins: float, ends: float) -> float:
    """Return the price at or below which it was for half of a time: it does not change with each moment."""
    held = sorted(_spans(changes, begins, ends))
    left = sum(seconds for _, seconds in held) / 2
    for usd, seconds in held:
        left -= seconds
        if left <= 0:
            return usd
    raise AssertionError("half of the time lies within all of it")


def _average(changes: Changes, begins: float, ends: float) -> float:
    """Return the price that held on the average."""
    if ends <= begins:
        return sorted(changes)[-1][1]
    return sum(usd * seconds for usd, seconds in _spans(changes, begins, ends)) / (ends - begins)


def _spans(changes: Changes, begins: float, ends: float) -> list[tuple[float, float]]:
    """Return each price with the seconds that it held; before the first change, that one is taken to hold already."""
    ordered = sorted(changes)
    moments = [begins, *(min(max(at, begins), ends) for at, _ in ordered[1:]), ends]
    return [(usd, end - at) for (at, end), (_, usd) in zip(pairwise(moments), ordered, strict=True)]
