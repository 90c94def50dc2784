"""Savings plans: so many dollars an hour that an account has promised, and what it pays for that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.aws.answers import understood
from orchestrator.aws.errors import aws_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from orchestrator.aws.session import Clients

_ASKING = "read the savings plans"
ENDPOINT = "us-east-1"
"""One answers for the whole account."""
_MEMBERS = (
    "savingsPlanId",
    "savingsPlanType",
    "currency",
    "commitment",
    "start",
    "end",
    "region",
    "ec2InstanceFamily",
)
"""What AWS calls the members of `SavingsPlan`, in their order."""


class SavingsPlan(NamedTuple):
    """A savings plan of the account. What AWS writes as a text is left as it is."""

    id: str
    kind: str
    """`SageMaker`, `Compute`, `EC2Instance` or another."""
    currency: str
    per_hour: str
    """What is paid for an hour, used or not."""
    starts_at: str
    ends_at: str
    region: str = ""
    """The only Region that it is for, if its kind is EC2Instance."""
    family: str = ""
    """The only family of instance types that it is for, such as `g5`, if its kind is that."""


class PlanRate(NamedTuple):
    """What an hour of something costs under a savings plan."""

    usage_type: str
    currency: str
    rate: str


def list_savings_plans(clients: Clients) -> Iterator[SavingsPlan]:
    """Yield the account's savings plans that are in force, or will be."""
    client, states = clients.client("savingsplans", ENDPOINT), ["active", "queued", "payment-pending"]
    for plan in _pages(lambda token: client.describe_savings_plans(states=states, **token), "savingsPlans"):
        yield SavingsPlan(*(str(plan.get(name) or "") for name in _MEMBERS))


def list_rates(clients: Clients, plan: str, service: str, region: str, **kinds: str) -> Iterator[PlanRate]:
    """Yield what a service's products of a Region cost under a savings plan, each by its usage type.

    `kinds` are more of AWS's filters: `tenancy="shared"`, say.
    """
    client = clients.client("savingsplans", ENDPOINT)
    filters = {"region": region, "serviceCode": service, **kinds}
    asked = {"savingsPlanId": plan, "filters": [{"name": name, "values": [one]} for name, one in filters.items()]}
    for rate in _pages(lambda token: client.describe_savings_plan_rates(**asked, **token), "searchResults"):
        yield PlanRate(*(str(rate.get(name, "")) for name in ("usageType", "currency", "rate")))


def _pages(ask: Callable[[dict[str, str]], dict[str, Any]], member: str) -> Iterator[dict[str, Any]]:
    """Yield what all pages hold, each asked for by the token of the one before: boto3 has no paginator for them."""
    token: dict[str, str] = {}
    while True:
        with aws_errors(_ASKING, where=ENDPOINT), understood(_ASKING, where=ENDPOINT):
            page = ask(token)
            found = [dict(one) for one in page[member]]
        yield from found
        if not page.get("nextToken"):
            return
        token = {"nextToken": page["nextToken"]}
