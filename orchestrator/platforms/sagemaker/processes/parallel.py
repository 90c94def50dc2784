"""Hyperparameters that say how processes start: `sagemaker-training` reads them inside the container.

They are those that the SageMaker SDK's estimators send, with one difference: `ddp` is torchrun, where the SDK silently
turns `pytorchddp` into its own SMDDP library.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from orchestrator.errors import InvalidRequest
from orchestrator.training.starter.words import option_name
from orchestrator.wire.shapes import shape

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from orchestrator.wire.task import Scalar

_PROCESSES = "sagemaker_mpi_num_of_processes_per_host"


@dataclass(frozen=True)
class Processes:
    """The processes of one training, as the sweep file wants them."""

    per_instance: int | Literal["auto"] | None = None
    """Processes on each instance; `auto` depends on the place. None leaves it to the toolkit, which starts one a GPU,
    or a single one where there is none."""
    mpi_options: str = ""

    @property
    def per_instance_hyperparameter(self) -> dict[str, Any]:
        """The hyperparameter that says how many; nothing where the toolkit is to choose."""
        return {} if self.per_instance is None else {_PROCESSES: self.per_instance}


PARALLEL: dict[str, Callable[[Processes], dict[str, Any]]] = {
    "single": lambda _: {},
    "mpi": lambda processes: {
        "sagemaker_mpi_enabled": True,
        **processes.per_instance_hyperparameter,
        "sagemaker_mpi_custom_mpi_options": processes.mpi_options,
    },
    "torchrun": lambda processes: {
        "sagemaker_torch_distributed_enabled": True,
        **processes.per_instance_hyperparameter,
    },
    "smddp": lambda processes: {
        "sagemaker_distributed_dataparallel_enabled": True,
        "sagemaker_distributed_dataparallel_custom_mpi_options": processes.mpi_options,
    },
}

"""Hyperparameters of each way to start processes, by the name that `train.parallel` gives it."""

_AUTO = json.dumps("auto")
_NEEDS_INSTANCE_TYPE = {"sagemaker_torch_distributed_enabled", "sagemaker_distributed_dataparallel_enabled"}


def encode(values: Mapping[str, Scalar | Any]) -> dict[str, str]:
    """Return every value as JSON, as the toolkit expects: text carries its own quotes."""
    return {name: json.dumps(value) for name, value in values.items()}


def restyle(values: Mapping[str, Any], style: str) -> dict[str, Any]:
    """Return parameters under the names of their options: AWS's toolkit makes an option of each name as it is."""
    return {option_name(name, style): value for name, value in values.items()}


def names_instance_type(parallel: str) -> bool:
    """Return whether the toolkit has to be told the instance type, to start processes in this way."""
    return bool(_NEEDS_INSTANCE_TYPE & set(PARALLEL[parallel](Processes())))


def place_hyperparameters(shared: Mapping[str, str], instance_type: str) -> dict[str, str]:
    """Return the hyperparameters that depend on the instance type, given those that all tasks share.

    Raise InvalidRequest when `auto` processes are wanted on a type whose GPUs are not known.
    """
    found: dict[str, Any] = {}
    if _NEEDS_INSTANCE_TYPE & set(shared):
        found["sagemaker_instance_type"] = instance_type
    if shared.get(_PROCESSES) == _AUTO:
        found[_PROCESSES] = _one_per_gpu(instance_type)
    return encode(found)


def _one_per_gpu(instance_type: str) -> int:
    known = shape(instance_type)
    if known is None or known.kind == "neuron":
        raise InvalidRequest(
            f"how many processes `auto` is on {instance_type} is not known here",
            hint="write processes_per_instance as a number, or leave it out",
        )
    return known.gpus or 1
