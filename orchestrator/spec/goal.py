"""The goal under `plan`: what a plan should be best at, and within which bounds."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from orchestrator.spec.duration import DAY, HOUR, MINUTE, between, seconds
from orchestrator.spec.model import Model, shown, wrong

_MOST_DOLLARS = 1e15
_Duration = Annotated[str, between(MINUTE, 365 * DAY)]


def dollars(value: Any) -> Any:
    """Return an amount of dollars, written as 2000 or as "$2,000"."""
    if isinstance(value, str):
        try:
            value = float(value.strip().removeprefix("$").replace(",", ""))
        except ValueError:
            raise wrong(f"not an amount of dollars: {shown(value)}", hint="write it like 2000") from None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong(f"expected an amount of dollars, got {shown(value)}")
    if value != value or abs(value) > _MOST_DOLLARS:
        raise wrong(f"a budget of {shown(value)} is no amount of dollars", hint="write it like 2000; or leave it out")
    if value <= 0:
        raise wrong(f"a budget of {shown(value)} is not above 0")
    return float(value)


Dollars = Annotated[float, BeforeValidator(dollars, json_schema_input_type=float | str)]
"""An amount of dollars above 0."""


class Goal(Model):
    """The cheapest plan within a day, unless something else is asked for."""

    minimize: Literal["cost", "time"] | None = Field(
        default=None, description="cost, unless there is a budget: then time"
    )
    deadline: _Duration | None = Field(default=None, description="all tasks end within this time")
    budget: Dollars | None = Field(default=None, description="$ that all tasks and copies together may cost at most")
    horizon: _Duration | None = Field(
        default=None, description="without a deadline: how far ahead instances are planned for, 24h unless said"
    )

    spot_loss: _Duration | None = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="what interruptions of spot may cost a task that saves no checkpoints, 4h unless said",
    )

    @model_validator(mode="after")
    def _one_time(self) -> Goal:
        if self.deadline is not None and self.horizon is not None:
            raise wrong("a deadline is the horizon", hint="keep one of them", at=("horizon",))
        return self

    @property
    def hours(self) -> float:
        """The hours within which all tasks must fit: the deadline, or the horizon."""
        return seconds(self.deadline or self.horizon or "24h") / HOUR

    @property
    def most_lost(self) -> str:
        """The time that interruptions may be expected to cost a task that saves no checkpoints."""
        return self.spot_loss or "4h"

    @property
    def fastest(self) -> bool:
        """True if the plan should take the least time, False if it should cost the least."""
        if self.minimize is None:
            return self.budget is not None
        return self.minimize == "time"
