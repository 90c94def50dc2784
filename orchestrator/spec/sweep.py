"""The sweep file's model: what may be written in it. Unknown keys are errors."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from orchestrator.errors import did_you_mean
from orchestrator.spec.data import Data
from orchestrator.spec.duration import DAY, MINUTE, between
from orchestrator.spec.goal import Goal
from orchestrator.spec.model import Model, listed_once, shown, wrong
from orchestrator.spec.schedule.schedule import Schedule
from orchestrator.spec.space.axes import Axis, Choice, columns
from orchestrator.spec.space.parameters import Parameter, parameters
from orchestrator.spec.space.runtime_expression import Expression, check_runtime, parse
from orchestrator.spec.space.space import Space
from orchestrator.spec.tags import Tags
from orchestrator.spec.train.filled_in import check_filled_in
from orchestrator.spec.train.framework import Framework
from orchestrator.spec.train.train import Checkpoints, Train, parameter_name
from orchestrator.spec.warm import cold
from orchestrator.spec.where import Where
from orchestrator.spec.workload.promote import check_promote
from orchestrator.spec.workload.workload import Workload
from orchestrator.wire.names import valid_run_name

if TYPE_CHECKING:
    from collections.abc import Iterable


__all__ = ["Checkpoints", "Data", "Framework", "Goal", "Objective", "Sweep", "Train", "Where"]

MAX_POINTS = 10**12
ANY_TYPE = ""
"""The key of a runtime that holds for all instance types."""
INSTANCES_NAME = "instances"
"""The name that stands for the number of instances in a runtime, unless a parameter is called so."""


class Objective(Model):
    """Exactly one of the two: the metric that ranks the results."""

    minimize: str | None = Field(default=None, description="a metric's name: the smallest is best")
    maximize: str | None = Field(default=None, description="a metric's name: the largest is best")
    of: Literal["last", "best"] = Field(
        default="last", description="the value that counts: a training's last one, or the best that it ever had"
    )

    @model_validator(mode="after")
    def _one_of_two(self) -> Objective:
        if (self.minimize is None) == (self.maximize is None):
            raise wrong("an objective is either minimize or maximize", hint="write `objective: {minimize: loss}`")
        return self

    @property
    def metric(self) -> str:
        return self.minimize or self.maximize or ""


PAUSE_AFTER = 5
"""The first tasks that may fail alike, unless the file says another number."""


def _name(name: str) -> str:
    if not valid_run_name(name):
        raise wrong(
            f"{shown(name)} cannot name a sweep",
            hint="at most 40 small letters, digits and single hyphens, such as nightly-grid",
        )
    return name


def _no_number(values: Any) -> str:
    """Return what a hyperparameter is, or one of the values of an axis, if it is no number; else nothing."""
    if isinstance(values, Choice):
        return "text" if any(isinstance(value, str) for value in values.values) else ""
    return "text" if isinstance(values, str) else shown(values) if isinstance(values, list | dict) else ""


class Sweep(Workload):
    """One sweep: data × space, and how each training runs."""

    name: Annotated[str, AfterValidator(_name)] = Field(description="small letters, digits and single hyphens")
    data: Data = Data()
    train: Train
    space: dict[str, Axis] = Field(default={}, description="parameter → its values; every combination is a point")
    where: Where
    objective: Objective | None = Field(default=None, description="the metric that ranks the results")
    plan: Goal = Goal()
    runtime: Annotated[float | str | dict[str, float | str] | None, BeforeValidator(check_runtime)] = Field(
        default=None,
        description="hours on one instance: a number, an expression of parameters such as 0.4 * epochs, or one of "
        "these for some instance types; with the name `instances` in it, hours on so many of them; learned from "
        "earlier runs of the same name unless said",
    )
    sizes: Annotated[list[str], AfterValidator(listed_once)] = Field(
        default=[], description="without a runtime: the parameters that it depends on"
    )
    timeout: Annotated[str, between(MINUTE, 28 * DAY)] = Field(
        default="24h", description="the longest one training may run"
    )
    retries: int = Field(default=0, ge=0, le=10, description="how often a task that failed by itself is tried again")
    pause_after: int = Field(
        default=PAUSE_AFTER,
        ge=0,
        le=1000,
        exclude_if=lambda value: value == PAUSE_AFTER,
        description="no more is begun once the first so many tasks to fail by themselves have done so alike, and none "
        "is done; 0 for never",
    )
    canary: int = Field(
        default=0,
        ge=0,
        le=10,
        exclude_if=lambda value: value == 0,
        description="so many tasks of each lane go ahead; the others begin once these are done, and never if one fails",
    )
    patience: Annotated[str, between(0, DAY)] = Field(
        default="30m", description="how long a place may refuse capacity before the next is tried"
    )
    tags: Tags = Field(default={}, description="tags of your own on everything that is started, such as a cost centre")
    platforms: dict[str, dict[str, Any]] = Field(
        default={}, description="platform → what only this one can honour; it says itself what may stand here"
    )
    schedule: Schedule | None = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="when it is trained again by itself: `sweep schedule create`",
    )
    folder: SkipJsonSchema[Path] = Field(default=Path(), exclude=True)
    """The folder that `source` is relative to. It is not part of what the user asks."""

    @cached_property
    def points(self) -> Space:
        """The space, numbered with its size parameters first."""
        used = [name for expression in self.runtimes.values() for name in expression.names]
        return Space(self.space, used or self.sizes, self.warm.point if self.warm else None)

    @cached_property
    def runtimes(self) -> dict[str, Expression]:
        """The hours on one instance, by instance type; under ANY_TYPE if the file does not tell types apart.

        Empty if the file leaves them to be learned.
        """
        if self.runtime is None:
            return {}
        given = self.runtime if isinstance(self.runtime, dict) else {ANY_TYPE: self.runtime}
        return {name: parse(str(hours)) for name, hours in given.items()}

    def counts_instances(self, runtime: Expression) -> bool:
        """Return True if this runtime says itself how long tasks take on several instances, by their number."""
        return INSTANCES_NAME in runtime.names and INSTANCES_NAME not in self._named

    def with_types(self, names: Iterable[str]) -> Sweep:
        """Return a copy with these instance types in `where`: those that were found for `where.resources`."""
        return self.model_copy(update={"where": self.where.with_types(names)})

    def as_written(self) -> Sweep:
        """Return the sweep as its file has it, before `with_types` and a warm start."""
        written = {"where": self.where.as_written(), "train": cold(self.train, self.warm), "warm": None}
        return self.model_copy(update=written)

    @property
    def source_folder(self) -> Path | None:
        """The folder of the training's code, as far as this machine has it; None if a training has no code of ours."""
        return None if self.train.source is None else self.folder / self.train.source

    @property
    def source_is_meant(self) -> bool:
        """True unless the code lies outside the sweep's folder, by its name or by a link, and nobody says so."""
        if self.source_folder is None:
            return True
        source, folder = (Path(os.path.realpath(each)) for each in (self.source_folder, self.folder))
        return self.train.source_outside or source.is_relative_to(folder)

    @property
    def weighs_spot(self) -> bool:
        """True if launchers weigh spot against machines on demand: for a deadline, by checkpoints."""
        return self.plan.deadline is not None and self.train.checkpoints is not None

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What every task gets as options: the parameters of the space, and then the hyperparameters."""
        return tuple(parameters(self.space, self.train.hyperparameters))

    @model_validator(mode="after")
    def _parameters_are_distinct(self) -> Sweep:
        names: set[str] = set()
        for parameter in parameters(self.space, {}):
            name, at = parameter.name, parameter.at
            try:
                parameter_name(name)
            except type(wrong("")) as error:
                context = error.context or {}
                raise wrong(context["message"], hint=context["hint"], at=at) from error
            if name in names:
                raise wrong(f"parameter {name!r} is in two axes", at=at)
            if name in self.train.hyperparameters:
                raise wrong(f"parameter {name!r} is also in train.hyperparameters", hint="keep one", at=at)
            names.add(name)
        return self

    @model_validator(mode="after")
    def _trainings_can_be_started(self) -> Sweep:
        self.train.check_stall(self.timeout)
        check_filled_in(self.train, self.parameters)
        return self

    @model_validator(mode="after")
    def _space_can_be_numbered(self) -> Sweep:
        points = self.points.sizes * self.points.points_per_size
        if points > MAX_POINTS:
            raise wrong(f"{points:.1e} points are too many", hint=f"at most {MAX_POINTS:.0e}", at=("space",))
        return self

    @model_validator(mode="after")
    def _runtime_is_known(self) -> Sweep:
        known, written = self._named, self.as_written().where.instance_types
        known.setdefault(INSTANCES_NAME, 1)
        for instance_type, expression in self.runtimes.items():
            at = ("runtime", instance_type) if instance_type else ("runtime",)
            if instance_type and written and instance_type not in written:
                hint = did_you_mean(instance_type, written)
                raise wrong(f"{instance_type} is not in where.instance_types", hint=hint, at=at)
            for name, offset in expression.names.items():
                if name not in known:
                    hint = did_you_mean(name, list(known)) if len(known) > 1 else "there are no parameters"
                    raise wrong(f"unknown name {name!r} in the runtime", hint=hint, at=at, offset=offset)
                if kind := _no_number(known[name]):
                    raise wrong(f"{name} is {kind}, not a number", at=at, offset=offset)
        return self

    @model_validator(mode="after")
    def _scaling_is_said_once(self) -> Sweep:
        for instance_type, runtime in self.runtimes.items():
            if INSTANCES_NAME not in runtime.names:
                continue
            at = ("runtime", instance_type) if instance_type else ("runtime",)
            offset = runtime.names[INSTANCES_NAME]
            if not self.counts_instances(runtime) and len(self.train.instance_counts) > 1:
                raise wrong(
                    "`instances` is a parameter here, and not the number that the plan chooses",
                    hint="give the parameter another name",
                    at=at,
                    offset=offset,
                )
            if self.counts_instances(runtime) and self.train.efficiency is not None:
                raise wrong(
                    "the runtime says already what several instances are worth",
                    hint="keep one of train.efficiency and `instances` in the runtime",
                    at=at,
                    offset=offset,
                )
        return self

    @model_validator(mode="after")
    def _sizes_are_parameters(self) -> Sweep:
        if self.sizes and self.runtime is not None:
            raise wrong(
                "the runtime says already what it depends on", hint="keep one of runtime and sizes", at=("sizes",)
            )
        known = self._in_space
        for index, name in enumerate(self.sizes):
            if name not in known:
                hint = did_you_mean(name, list(known)) or "there are no parameters"
                raise wrong(f"{name!r} is not in the space", hint=hint, at=("sizes", index))
            if kind := _no_number(known[name]):
                raise wrong(f"{name} is {kind}, not a number", at=("sizes", index))
        return self

    @property
    def _named(self) -> dict[str, Any]:
        """Every parameter with its values, those that are equal for all tasks included."""
        return self._in_space | self.train.hyperparameters

    @property
    def _in_space(self) -> dict[str, Any]:
        """Every parameter of the space, with its values."""
        return {name: values for axis in self.space for name, values in columns(axis, self.space[axis]).items()}

    @model_validator(mode="after")
    def _objective_is_measured(self) -> Sweep:
        if self.objective and self.objective.metric not in self.train.metrics:
            raise wrong(
                f"{self.objective.metric!r} is not a metric of train.metrics",
                hint=did_you_mean(self.objective.metric, list(self.train.metrics)) or "train.metrics is empty",
                at=("objective", "minimize" if self.objective.minimize else "maximize"),
            )
        return self

    @model_validator(mode="after")
    def _promotion_can_be_decided(self) -> Sweep:
        check_promote(self.promote, self.train, has_objective=self.objective is not None)
        return self
