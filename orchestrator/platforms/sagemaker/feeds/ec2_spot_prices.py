"""EC2's spot prices: the median over a Region's zones and the last hours.

SageMaker publishes no price of its managed spot; what EC2's spot costs beside EC2's on demand is what it is guessed by.
One moment's price in one zone would make plans change with the hour, so all zones count, each price for as long as it
was the price.
"""

from __future__ import annotations

import math
from datetime import timedelta
from typing import TYPE_CHECKING

from orchestrator.platforms.feed import Feed, Reading
from orchestrator.platforms.sagemaker.feeds.spot_history import price_changes
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from orchestrator.aws.session import Clients
    from orchestrator.platforms.sagemaker.feeds.spot_history import Change

WINDOW = timedelta(hours=6)


def read(clients: Clients, region: str, now: datetime) -> Reading:
    """Return the median price of each instance type that has been on the market in this Region."""
    begins = now - WINDOW
    markets: dict[str, dict[str, list[tuple[datetime, float]]]] = {}
    left_out = []
    for change in price_changes(clients, region, begins, now):
        usd = _dollars(change)
        if usd is None:
            left_out.append(f"{change.instance_type} in {change.market} has no price: {change.usd!r}")
            continue
        of_type = markets.setdefault(change.instance_type, {})
        of_type.setdefault(change.market, []).append((max(change.at, begins), usd))
    rows = tuple(
        {
            "platform": "ec2",
            "region": region,
            "instance_type": instance_type,
            "purchase": Purchase.SPOT.value,
            "usd_per_hour": median_price(of_type.values(), now),
            "observed_at": now,
        }
        for instance_type, of_type in sorted(markets.items())
    )
    return Reading(rows, tuple(left_out))


def median_price(markets: Iterable[list[tuple[datetime, float]]], now: datetime) -> float:
    """Return the price below which all markets together were for half of the time.

    Each market is its changes, in any order, as moments and prices; a price holds until the market's next change.
    """
    held: dict[float, float] = {}
    for changes in markets:
        ordered = sorted(changes)
        ends = [at for at, _ in ordered[1:]] + [max(now, ordered[-1][0])]
        for (at, usd), end in zip(ordered, ends, strict=True):
            held[usd] = held.get(usd, 0.0) + (end - at).total_seconds()
    half, so_far = sum(held.values()) / 2, 0.0
    for usd in sorted(held):
        so_far += held[usd]
        if so_far >= half:
            return usd
    raise AssertionError("half of the time lies within all of it")


def _dollars(change: Change) -> float | None:
    try:
        usd = float(change.usd)
    except ValueError:
        return None
    return usd if math.isfinite(usd) and usd > 0 else None


FEED = Feed(
    name="ec2-spot-prices",
    kind="prices",
    about="what an hour of an EC2 instance costs on the spot market",
    actions=("ec2:DescribeSpotPriceHistory",),
    read=read,
    is_spot=True,
)
