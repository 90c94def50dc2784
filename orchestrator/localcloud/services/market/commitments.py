"""What an account has promised to pay: nothing, as that of a newcomer. Savings plans cannot be bought here."""

from __future__ import annotations

from typing import Any

from orchestrator.localcloud.http.answers import AwsError

Body = dict[str, Any]


class SavingsPlans:
    """Savings plans of the account. Each operation is a method: it has boto3's name, and takes a request."""

    def describe_savings_plans(self, _: Body) -> Body:
        return {"savingsPlans": []}

    def describe_savings_plan_rates(self, body: Body) -> Body:
        raise AwsError("ResourceNotFoundException", f"Could not find savings plan: {body.get('savingsPlanId')}", 404)
