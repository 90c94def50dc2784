"""What a sweep file says of its workload: of all runs of its name together, and not of one of them."""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from orchestrator.spec.budget import Budget, keep_runs_to_budget
from orchestrator.spec.model import Model
from orchestrator.spec.notify import Notify
from orchestrator.spec.promote import Promote


class Workload(Model):
    """The part of a sweep that holds from run to run."""

    promote: Promote | None = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="when the best task of a run becomes the workload's champion",
    )
    budget: Budget | None = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="what a run, and all runs of a month, may cost",
    )

    notify: Notify | None = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="who is told what becomes of runs, beside whom sweep.toml names",
    )

    @model_validator(mode="before")
    @classmethod
    def _runs_keep_to_the_budget(cls, body: Any) -> Any:
        return keep_runs_to_budget(body)
