"""Reports the metrics of a training as they come. Needs nothing but Python.

    from orchestrator import report

    report(step=epoch, loss=loss, accuracy=accuracy)

prints one line, which `sweep` finds in the log and makes into learning curves and results:

    [sweep] step=3 loss=0.25 accuracy=0.91

All ranks may call it; rank 0's word counts. The same numbers go to MLflow if it is installed and MLFLOW_TRACKING_URI is
set, and to Weights & Biases if it is installed and WANDB_API_KEY or WANDB_MODE is. What goes wrong there is said once,
and the training goes on.
"""

from __future__ import annotations

import json
import os
import re
from importlib.util import find_spec
from typing import TYPE_CHECKING

from orchestrator.training.process import rank, write_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, SupportsFloat

    Log = Callable[[dict[str, float], int | None], None]

_SEPARATORS = re.compile(r"[\s=]+")
"""Characters that a name may not hold: they separate names and values in the line."""

_said: set[str] = set()
"""Warnings that were written already."""


def report(step: int | None = None, **metrics: SupportsFloat) -> None:
    """Report numbers, and what can be made one: arrays and tensors of one element too.

    Without a `step`, reports of the same metric are counted. What is no number is left out, and said once.
    """
    if rank() != 0:
        return
    values = _numbers(metrics)
    words = [] if step is None else [f"step={int(step)}"]
    words += [f"{name}={value:.10g}" for name, value in values.items()]
    write_line(" ".join(["[sweep]", *words]))
    _forward(values, step)


def _forward(values: dict[str, float], step: int | None) -> None:
    """Send the values to each tracker that is set up and installed. A tracker that fails is not called again."""
    for name, (variables, begin) in _TRACKERS.items():
        wanted = any(os.environ.get(variable) for variable in variables)
        if name in _given_up or not wanted or find_spec(name) is None:
            continue
        try:
            if name not in _begun:
                _begun[name] = begin()
            _begun[name](values, step)
        except Exception as error:  # noqa: BLE001  whatever a tracker raises, the training matters more
            _given_up.add(name)
            reason = " ".join(str(error).split())
            _say_once(f"{name}: {type(error).__name__}: {reason}; nothing more is sent there")


def _mlflow() -> Log:
    # By itself it tries for minutes to reach a server that is not there.
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "10")
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2")
    import mlflow

    if mlflow.active_run() is None:
        mlflow.start_run(run_name=os.environ.get("TRAINING_JOB_NAME"))
        mlflow.log_params(_hyperparameters())
    return lambda values, step: mlflow.log_metrics(values, step=step)


def _wandb() -> Log:
    import wandb

    if wandb.run is None:
        wandb.init(name=os.environ.get("TRAINING_JOB_NAME"), config=_hyperparameters())
    return lambda values, step: wandb.log(values, step=step)


_TRACKERS = {
    "mlflow": (("MLFLOW_TRACKING_URI",), _mlflow),
    "wandb": (("WANDB_API_KEY", "WANDB_MODE"), _wandb),
}
"""Trackers by their module's name, each with the variables that say it is wanted, and the function that begins."""
_begun: dict[str, Log] = {}
_given_up: set[str] = set()


def _numbers(metrics: Mapping[str, SupportsFloat]) -> dict[str, float]:
    numbers = {}
    for name, value in metrics.items():
        try:
            numbers[_SEPARATORS.sub("_", name)] = float(value)
        except (TypeError, ValueError):
            _say_once(f"{name} is not a number and is left out")
    return numbers


def _hyperparameters() -> dict[str, Any]:
    values: dict[str, Any] = json.loads(os.environ.get("SM_HPS") or "{}")
    return values


def _say_once(text: str) -> None:
    if text not in _said:
        _said.add(text)
        write_line(f"report: {text}")
