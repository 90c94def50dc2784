"""What an hour of spot has cost in each zone, on the average of the time for which instances had lived there."""

from __future__ import annotations

from datetime import datetime, timezone
from itertools import pairwise
from typing import TYPE_CHECKING

from orchestrator.aws.errors import aws_errors

if TYPE_CHECKING:
    from orchestrator.aws.session import Clients
    from orchestrator.wire.task import Lane


def average_spot_prices(clients: Clients, lane: Lane, begins: float, ends: float) -> dict[str, float]:
    """Return what an hour of a lane's instance type cost on spot in each zone, on the average of a time.

    A zone without any price is left out.
    """
    region, found = lane.region, dict[str, list[tuple[float, float]]]()
    with aws_errors("read the spot prices", where=region):
        pages = (
            clients.client("ec2", region)
            .get_paginator("describe_spot_price_history")
            .paginate(
                InstanceTypes=[lane.instance_type],
                ProductDescriptions=["Linux/UNIX"],
                StartTime=datetime.fromtimestamp(begins, timezone.utc),
                EndTime=datetime.fromtimestamp(ends, timezone.utc),
            )
        )
        for page in pages:
            for one in page["SpotPriceHistory"]:
                changes = found.setdefault(one["AvailabilityZone"], [])
                changes.append((one["Timestamp"].timestamp(), float(one["SpotPrice"])))
    return {zone: _average(changes, begins, ends) for zone, changes in found.items()}


def _average(changes: list[tuple[float, float]], begins: float, ends: float) -> float:
    """Return the price that held on the average; before the first change, that one is taken to hold already."""
    ordered = sorted(changes)
    moments = [min(max(at, begins), ends) for at, _ in ordered] + [ends]
    moments[0] = begins
    if ends <= begins:
        return ordered[-1][1]
    spans = zip(pairwise(moments), ordered, strict=True)
    return sum((end - at) * usd for (at, end), (_, usd) in spans) / (ends - begins)
