"""`promote`: when a newly trained model takes the place of the workload's champion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field, model_validator

from orchestrator.errors import did_you_mean
from orchestrator.spec.model import Model, Number, wrong

if TYPE_CHECKING:
    from orchestrator.spec.train.train import Train


class Guard(Model):
    """A metric beside the objective that may not get worse."""

    minimize: str | None = Field(default=None, description="a metric's name: smaller is better")
    maximize: str | None = Field(default=None, description="a metric's name: larger is better")
    tolerance: Number = Field(default=0, ge=0, description="by how much it may be worse than the champion's")

    @model_validator(mode="after")
    def _one_of_two(self) -> Guard:
        if (self.minimize is None) == (self.maximize is None):
            raise wrong("a guard is either minimize or maximize", hint="write `- {maximize: recall}`")
        return self

    @property
    def metric(self) -> str:
        return self.minimize or self.maximize or ""


class Promote(Model):
    """The rules by which the best task of a run is held against the champion."""

    min_delta: Number = Field(default=0, ge=0, description="by how much the objective must be better at least")
    floor: Number | None = Field(default=None, description="the worst value of the objective that a champion may have")
    guards: list[Guard] = Field(default=[], description="other metrics, which may not get worse")
    evaluation: str | None = Field(
        default=None,
        description="the channel of train.channels with the data that every model is measured on; unless said, each is "
        "measured on what its training holds back",
    )

    @model_validator(mode="after")
    def _guards_differ(self) -> Promote:
        seen: set[str] = set()
        for index, guard in enumerate(self.guards):
            if guard.metric in seen:
                raise wrong(f"{guard.metric!r} has two guards", hint="keep one", at=("guards", index))
            seen.add(guard.metric)
        return self


def check_promote(rules: Promote | None, train: Train, *, has_objective: bool) -> None:
    """Raise `wrong` for rules that nobody could go by: what they name must be measured, or brought by a channel."""
    if rules is None:
        return
    if not has_objective:
        hint = "write `objective: {minimize: loss}`"
        raise wrong("without an objective nobody can tell which model is better", hint=hint, at=("promote",))
    for index, guard in enumerate(rules.guards):
        if guard.metric not in train.metrics:
            hint = did_you_mean(guard.metric, list(train.metrics)) or "train.metrics is empty"
            key = "minimize" if guard.minimize else "maximize"
            at = ("promote", "guards", index, key)
            raise wrong(f"{guard.metric!r} is not a metric of train.metrics", hint=hint, at=at)
    if rules.evaluation is not None and rules.evaluation not in train.channels:
        hint = did_you_mean(rules.evaluation, list(train.channels)) or "train.channels is empty"
        message = f"{rules.evaluation!r} is not a channel of train.channels"
        raise wrong(message, hint=hint, at=("promote", "evaluation"))
