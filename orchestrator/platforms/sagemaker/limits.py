"""What CreateTrainingJob takes of a sweep, at most: how many parameters, variables and metrics, and how long."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from orchestrator.platforms.base import Complaint
from orchestrator.spec.train.environment import plain_variables, references
from orchestrator.training.starter.words import as_text, fill

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from orchestrator.spec.sweep import Sweep

MAX_HYPERPARAMETERS = 90
"""SageMaker takes 100 a training; up to 10 of them say where the code is and how processes start."""
MAX_VALUE = 2_500
"""Characters of a hyperparameter's value as JSON."""
MAX_VARIABLES = 94
"""SageMaker takes 100 a training; up to 4 of them set up the network between instances, two say when and where to
save."""
MAX_VARIABLE = 512
"""Characters of a variable's value."""
_LONG_REGION = "ap-southeast-1"
MAX_METRICS = 40
MAX_REGEX = 500
"""Characters of a metric's regex."""


def check_limits(sweep: Sweep) -> Iterator[Complaint]:
    """Yield a complaint for each part of the sweep that is more than SageMaker takes, or less than it needs."""
    if sweep.train.image is None and sweep.train.framework is None:
        hint = "add `image: <uri>` or `framework: {name: pytorch, version: '2.8.0'}` under train"
        yield Complaint("no image", hint, ("train",))
    yield from _check_environment(sweep)
    yield from _check_metrics(sweep.train.metrics)
    yield from _check_parameters(sweep)


def _check_environment(sweep: Sweep) -> Iterator[Complaint]:
    at, variables = ("train", "environment"), sweep.train.environment
    longest = {one.name: max(map(as_text, one.values), key=len, default="") for one in sweep.parameters}
    if len(variables) > MAX_VARIABLES:
        hint = f"SageMaker takes 100, and sweep needs 6 of them: at most {MAX_VARIABLES}"
        yield Complaint(f"{len(variables)} environment variables", hint, at)
    written = {name: str(one) for name, one in references(variables, _LONG_REGION, "0" * 12).items()}
    filled = {name: fill(text, lambda one: longest.get(one, "")) for name, text in plain_variables(variables).items()}
    for name, value in {**filled, **written}.items():
        if len(value) > MAX_VARIABLE:
            yield Complaint(f"{len(value)} characters are too many", f"SageMaker takes {MAX_VARIABLE}", (*at, name))


def _check_metrics(patterns: Mapping[str, str]) -> Iterator[Complaint]:
    at = ("train", "metrics")
    if len(patterns) > MAX_METRICS:
        yield Complaint(f"{len(patterns)} metrics", f"SageMaker takes {MAX_METRICS}", at)
    for name, regex in patterns.items():
        if len(regex) > MAX_REGEX:
            message = f"a regex of {len(regex)} characters is too long"
            yield Complaint(message, f"SageMaker takes {MAX_REGEX}", (*at, name))


def _check_parameters(sweep: Sweep) -> Iterator[Complaint]:
    for parameter in sweep.parameters:
        if parameter.name.startswith("sagemaker_"):
            # The line of a hyperparameter's name is that of all of them: a path leads to its value only.
            at = parameter.at if parameter.at[0] == "space" else ("train", "hyperparameters")
            taken = "is taken: names that begin with sagemaker_ or sweep_ are not passed to your code"
            yield Complaint(f"{parameter.name!r} {taken}", "", at)
        for index, value in enumerate(parameter.values):
            if isinstance(value, str | list | dict) and len(json.dumps(value)) > MAX_VALUE:
                size = len(value) if isinstance(value, str) else len(json.dumps(value))
                hint = f"SageMaker takes {MAX_VALUE} as JSON"
                yield Complaint(f"{size} characters are too many", hint, parameter.value_at(index))
    total = len(sweep.parameters)
    if total > MAX_HYPERPARAMETERS:
        yield Complaint(
            f"{total} parameters and hyperparameters",
            f"SageMaker takes 100, and sweep needs 10 of them: at most {MAX_HYPERPARAMETERS}",
            ("space",),
        )
