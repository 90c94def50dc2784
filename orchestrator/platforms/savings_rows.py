"""Savings plans as rows of the catalog: what one takes off hours on demand, as one part of all that it covers."""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from orchestrator.aws.account.price_list import Product
    from orchestrator.aws.account.savings_plans import PlanRate, SavingsPlan

EVERY = "*"
"""Every Region, or every instance type."""


def price_by_usage(products: Iterable[Product]) -> dict[str, float]:
    """Return what an hour of each product costs on demand, by usage type; without those that have no one price."""
    found = {}
    for product in products:
        dollars = [usd for tier in product.tiers if (usd := read_dollars(tier.usd)) is not None]
        if len(dollars) == 1:
            found[product.attributes.get("usagetype", "")] = dollars[0]
    return found


def find_discount(rates: Iterable[PlanRate], on_demand: Mapping[str, float]) -> float | None:
    """Return what a plan's hours cost less: the median of what has both prices; None if nothing has.

    Each type has a discount of its own, and a plan of the catalog has one.
    """
    parts = []
    for rate in rates:
        usd, full = read_dollars(rate.rate), on_demand.get(rate.usage_type)
        if usd is not None and full is not None and rate.currency == "USD" and usd <= full:
            parts.append(1 - usd / full)
    return round(median(parts), 4) if parts else None


def read_dollars(text: str) -> float | None:
    """Return the dollars that AWS has written; None for what is no price."""
    try:
        usd = float(text)
    except ValueError:
        return None
    return usd if math.isfinite(usd) and usd > 0 else None


def make_row(plan: SavingsPlan, platform: str, of: tuple[str, str], discount: float) -> dict[str, object]:
    """Return a plan's row of commitments. `of` are the Region and the instance types that it is for."""
    region, instance_type = of
    return {
        "commitment": plan.id,
        "kind": "savings_plan",
        "platform": platform,
        "region": region,
        "instance_type": instance_type,
        "slots": None,
        "usd_per_hour": plan.per_hour,
        "discount": discount,
        "starts_at": plan.starts_at,
        "ends_at": plan.ends_at,
        "arn": None,
    }
