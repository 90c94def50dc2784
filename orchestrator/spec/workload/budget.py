"""`budget`: what a workload may cost, a run and a month."""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from orchestrator.spec.goal import Dollars, dollars
from orchestrator.spec.model import Model, wrong


class Budget(Model):
    """The most dollars of a run, and of all runs of a month together."""

    per_run: Dollars | None = Field(default=None, description="$ that a run may cost at most: `plan.budget` of each")
    per_month: Dollars | None = Field(
        default=None, description="$ that all runs which are submitted in a calendar month (UTC) may cost at most"
    )

    @model_validator(mode="after")
    def _says_something(self) -> Budget:
        if self.per_run is None and self.per_month is None:
            raise wrong("a budget without an amount", hint="write `budget: {per_run: 200, per_month: 4000}`")
        if self.per_run is not None and self.per_month is not None and self.per_run > self.per_month:
            message = f"a run's ${self.per_run:,.2f} are more than the month's ${self.per_month:,.2f}"
            raise wrong(message, at=("per_run",))
        return self


def keep_runs_to_budget(body: Any) -> Any:
    """Return a sweep's mapping with the budget of a run as that of its plan, unless the plan's own is smaller.

    The plan stays the cheapest one, unless something else is asked for. What is no mapping, or no amount, stays as it
    is: whoever checks the values complains of it.
    """
    budget = body.get("budget") if isinstance(body, dict) else None
    plan = body.get("plan", {}) if isinstance(body, dict) else None
    if not isinstance(budget, dict) or not isinstance(plan, dict) or budget.get("per_run") is None:
        return body
    try:
        most = dollars(budget["per_run"])
        own = None if plan.get("budget") is None else dollars(plan["budget"])
    except PydanticCustomError:
        return body
    kept = {"budget": most if own is None else min(own, most)}
    if own is None and plan.get("minimize") is None:
        kept["minimize"] = "cost"
    return body | {"plan": plan | kept}
