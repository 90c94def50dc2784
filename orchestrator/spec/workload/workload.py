"""What a sweep file says of its workload: of all runs of its name together, and not of one of them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from orchestrator.spec.model import Model
from orchestrator.spec.warm import Warm
from orchestrator.spec.workload.budget import Budget, keep_runs_to_budget
from orchestrator.spec.workload.notify import Notify
from orchestrator.spec.workload.promote import Promote


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

    warm_start: Literal["parameters", "champion"] | None = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="parameters: the champion's are tried too; champion: trainings are given its model as well",
    )
    warm: SkipJsonSchema[Warm | None] = Field(default=None, exclude_if=lambda value: value is None)

    @model_validator(mode="before")
    @classmethod
    def _runs_keep_to_the_budget(cls, body: Any) -> Any:
        return keep_runs_to_budget(body)
