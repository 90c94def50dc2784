"""Makes rows of prices from products of the Price List: dollars an hour, one for each instance type."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from orchestrator.platforms.feed import Reading
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from orchestrator.aws.account.price_list import Product


class Listed(NamedTuple):
    """A platform in a Region, at the moment when its prices are read."""

    platform: str
    region: str
    now: datetime


def read_hourly(products: Iterable[tuple[str, Product]], listed: Listed) -> Reading:
    """Return a row for each instance type that has one price in dollars; what has none, or several, is left out."""
    prices: dict[str, set[str]] = {}
    for instance_type, product in products:
        prices.setdefault(instance_type, set()).update(tier.usd for tier in product.tiers)
    rows, left_out = [], []
    for instance_type, found in sorted(prices.items()):
        usd = {price for price in found if not _is_zero(price)}
        if len(usd) == 1:
            rows.append(_row(instance_type, usd.pop(), listed))
        elif found:
            left_out.append(f"{instance_type} has {len(usd)} prices, not one: {', '.join(sorted(found))}")
        else:
            left_out.append(f"{instance_type} has no price in dollars")
    return Reading(tuple(rows), tuple(left_out))


def _row(instance_type: str, usd: str, listed: Listed) -> Mapping[str, object]:
    return {
        "platform": listed.platform,
        "region": listed.region,
        "instance_type": instance_type,
        "purchase": Purchase.ON_DEMAND.value,
        "usd_per_hour": usd,
        "observed_at": listed.now,
    }


def _is_zero(price: str) -> bool:
    """Return whether a price is $0, as the Price List has for what is paid otherwise."""
    return not price.strip("0.")
