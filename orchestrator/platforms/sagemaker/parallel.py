"""How processes start: the hyperparameters that `sagemaker-training` reads inside the container.

They are those that the SageMaker SDK's estimators send, with one difference: `ddp` is torchrun, where the SDK silently
turns `pytorchddp` into its own SMDDP library.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from orchestrator.errors import InvalidRequest
from orchestrator.wire.shapes import shape

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from orchestrator.wire.task import Scalar

_PROCESSES = "sagemaker_mpi_num_of_processes_per_host"


@dataclass(frozen=True)
class Start:
    """What one training's processes are to be."""

    processes: int | Literal["auto"] | None = None
    """On each instance; `auto` is decided by place. None leaves it to the toolkit, which starts one a GPU, or one where
    there is none."""
    mpi_options: str = ""

    @property
    def on_each_instance(self) -> dict[str, Any]:
        return {} if self.processes is None else {_PROCESSES: self.processes}


PARALLEL: dict[str, Callable[[Start], dict[str, Any]]] = {
    "single": lambda _: {},
    "mpi": lambda start: {
        "sagemaker_mpi_enabled": True,
        **start.on_each_instance,
        "sagemaker_mpi_custom_mpi_options": start.mpi_options,
    },
    "torchrun": lambda start: {"sagemaker_torch_distributed_enabled": True, **start.on_each_instance},
    "smddp": lambda _: {
        "sagemaker_distributed_dataparallel_enabled": True,
        "sagemaker_distributed_dataparallel_custom_mpi_options": "",
    },
}

_AUTO = json.dumps("auto")
_NEEDS_INSTANCE_TYPE = {"sagemaker_torch_distributed_enabled", "sagemaker_distributed_dataparallel_enabled"}


def encode(values: Mapping[str, Scalar | Any]) -> dict[str, str]:
    """Every value as JSON, as the toolkit expects: text carries its own quotes."""
    return {name: json.dumps(value) for name, value in values.items()}


def of_place(hyperparameters: Mapping[str, str], instance_type: str) -> dict[str, str]:
    """What only the place decides, among it what the template leaves open."""
    decided: dict[str, Any] = {}
    if _NEEDS_INSTANCE_TYPE & set(hyperparameters):
        decided["sagemaker_instance_type"] = instance_type
    if hyperparameters.get(_PROCESSES) == _AUTO:
        decided[_PROCESSES] = _one_a_gpu(instance_type)
    return encode(decided)


def _one_a_gpu(instance_type: str) -> int:
    known = shape(instance_type)
    if known is None or known.kind == "neuron":
        raise InvalidRequest(
            f"how many processes `auto` is on {instance_type} is not known here",
            hint="write processes_per_instance as a number, or leave it out",
        )
    return known.gpus or 1
