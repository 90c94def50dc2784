"""Savings plans that cover trainings: dollars that are paid for every hour, used or not."""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING

from orchestrator.aws.account.price_list import list_products
from orchestrator.aws.account.savings_plans import ENDPOINT, list_rates, list_savings_plans
from orchestrator.platforms.feed import Feed, Reading

if TYPE_CHECKING:
    from datetime import datetime

    from orchestrator.aws.account.savings_plans import SavingsPlan
    from orchestrator.aws.session import Clients

_KIND = "SageMaker"
_SERVICE = "AmazonSageMaker"
_EVERY = "*"


def read(clients: Clients, region: str, now: datetime) -> Reading:  # noqa: ARG001 (all Regions have the same plans)
    """Return the account's savings plans that cover trainings. They hold in all Regions, and for all types."""
    rows, left_out = [], []
    on_demand: dict[str, float] = {}
    for plan in list_savings_plans(clients):
        if plan.kind != _KIND:
            left_out.append(f"the savings plan {plan.id} is of kind {plan.kind}, which covers no trainings")
            continue
        if plan.currency != "USD":
            left_out.append(f"the savings plan {plan.id} is in {plan.currency}")
            continue
        on_demand = on_demand or _on_demand(clients)
        discount = _discount(clients, plan, on_demand)
        if discount is None:
            left_out.append(f"the savings plan {plan.id} has no rate of trainings in {ENDPOINT}")
            continue
        rows.append(_row(plan, discount))
    return Reading(tuple(rows), tuple(left_out))


def _on_demand(clients: Clients) -> dict[str, float]:
    """Return what trainings cost on demand in one Region, by usage type."""
    asked = {"productFamily": "ML Instance", "component": "Training", "regionCode": ENDPOINT}
    found = {}
    for product in list_products(clients, _SERVICE, asked):
        dollars = [usd for tier in product.tiers if (usd := _dollars(tier.usd)) is not None]
        if len(dollars) == 1:
            found[product.attributes.get("usagetype", "")] = dollars[0]
    return found


def _discount(clients: Clients, plan: SavingsPlan, on_demand: dict[str, float]) -> float | None:
    """Return what a plan's hours cost less: the median of the types that train in one Region; None if it tells none.

    Each type has a discount of its own, and a plan of the catalog has one.
    """
    parts = []
    for rate in list_rates(clients, plan.id, _SERVICE, ENDPOINT):
        usd, full = _dollars(rate.rate), on_demand.get(rate.usage_type)
        if usd is not None and full is not None and rate.currency == "USD" and usd <= full:
            parts.append(1 - usd / full)
    return round(median(parts), 4) if parts else None


def _dollars(text: str) -> float | None:
    try:
        usd = float(text)
    except ValueError:
        return None
    return usd if math.isfinite(usd) and usd > 0 else None


def _row(plan: SavingsPlan, discount: float) -> dict[str, object]:
    return {
        "commitment": plan.id,
        "kind": "savings_plan",
        "platform": "sagemaker",
        "region": _EVERY,
        "instance_type": _EVERY,
        "slots": None,
        "usd_per_hour": plan.per_hour,
        "discount": discount,
        "starts_at": plan.starts_at,
        "ends_at": plan.ends_at,
        "arn": None,
    }


FEED = Feed(
    name="savings-plans",
    kind="commitments",
    about="dollars that are paid for every hour, used or not",
    actions=("pricing:GetProducts", "savingsplans:DescribeSavingsPlanRates", "savingsplans:DescribeSavingsPlans"),
    read=read,
    may_be_empty=True,
    everywhere=True,
)
