"""Savings plans that cover trainings: dollars that are paid for every hour, used or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.aws.account.price_list import list_products
from orchestrator.aws.account.savings_plans import ENDPOINT, list_rates, list_savings_plans
from orchestrator.platforms.feed import Feed, Reading
from orchestrator.platforms.savings_rows import EVERY, find_discount, make_row, price_by_usage

if TYPE_CHECKING:
    from datetime import datetime

    from orchestrator.aws.session import Clients

_KIND = "SageMaker"
_SERVICE = "AmazonSageMaker"
_TRAINING = {"productFamily": "ML Instance", "component": "Training", "regionCode": ENDPOINT}


def read(clients: Clients, region: str, now: datetime) -> Reading:  # noqa: ARG001 (all Regions have the same plans)
    """Return the account's savings plans that cover trainings. They hold in all Regions, and for all types.

    The discount is that of one Region.
    """
    rows, left_out = [], []
    on_demand: dict[str, float] = {}
    for plan in list_savings_plans(clients):
        if plan.kind != _KIND:
            left_out.append(
                f"the savings plan {plan.id} is of kind {plan.kind}, which covers no trainings of SageMaker's"
            )
            continue
        if plan.currency != "USD":
            left_out.append(f"the savings plan {plan.id} is in {plan.currency}")
            continue
        on_demand = on_demand or price_by_usage(list_products(clients, _SERVICE, _TRAINING))
        discount = find_discount(list_rates(clients, plan.id, _SERVICE, ENDPOINT), on_demand)
        if discount is None:
            left_out.append(f"the savings plan {plan.id} has no rate of trainings in {ENDPOINT}")
            continue
        rows.append(make_row(plan, "sagemaker", (EVERY, EVERY), discount))
    return Reading(tuple(rows), tuple(left_out))


FEED = Feed(
    name="savings-plans",
    kind="commitments",
    about="dollars that are paid for every hour, used or not",
    actions=("pricing:GetProducts", "savingsplans:DescribeSavingsPlanRates", "savingsplans:DescribeSavingsPlans"),
    read=read,
    may_be_empty=True,
    everywhere=True,
)
