"""Savings plans that cover EC2's instances: Compute plans all of them, EC2 Instance plans one family in one Region."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from orchestrator.aws.account.price_list import list_linux_instances
from orchestrator.aws.account.savings_plans import ENDPOINT, list_rates, list_savings_plans
from orchestrator.platforms.feed import Feed, Reading
from orchestrator.platforms.savings_rows import EVERY, find_discount, make_row, price_by_usage

if TYPE_CHECKING:
    from datetime import datetime

    from orchestrator.aws.account.savings_plans import SavingsPlan
    from orchestrator.aws.session import Clients

_COMPUTE, _OF_A_FAMILY = "Compute", "EC2Instance"
_LINUX = {"productDescription": "Linux/UNIX", "tenancy": "shared"}


def read(clients: Clients, region: str, now: datetime) -> Reading:  # noqa: ARG001 (all Regions have the same plans)
    """Return the account's savings plans that cover instances of EC2, each with one discount."""
    rows, left_out = [], []

    @cache
    def on_demand(region: str) -> dict[str, float]:
        return price_by_usage(product for _, product in list_linux_instances(clients, region))

    for plan in list_savings_plans(clients):
        where = _covered(plan)
        if where is None:
            left_out.append(f"the savings plan {plan.id} is of kind {plan.kind}, which covers no instances of EC2")
            continue
        if plan.currency != "USD":
            left_out.append(f"the savings plan {plan.id} is in {plan.currency}")
            continue
        of_rates = ENDPOINT if where[0] == EVERY else where[0]
        discount = find_discount(list_rates(clients, plan.id, "AmazonEC2", of_rates, **_LINUX), on_demand(of_rates))
        if discount is None:
            left_out.append(f"the savings plan {plan.id} has no rate of instances in {of_rates}")
            continue
        rows.append(make_row(plan, "ec2", where, discount))
    return Reading(tuple(rows), tuple(left_out))


def _covered(plan: SavingsPlan) -> tuple[str, str] | None:
    """Return the Region and the instance types that a plan covers; None if it covers no instances of EC2."""
    if plan.kind == _COMPUTE:
        return EVERY, EVERY
    if plan.kind == _OF_A_FAMILY and plan.region and plan.family:
        return plan.region, f"{plan.family}.*"
    return None


FEED = Feed(
    name="ec2-savings-plans",
    kind="commitments",
    about="dollars that are paid for every hour of EC2's instances, used or not",
    actions=("pricing:GetProducts", "savingsplans:DescribeSavingsPlanRates", "savingsplans:DescribeSavingsPlans"),
    read=read,
    may_be_empty=True,
    everywhere=True,
)
