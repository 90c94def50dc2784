"""`where.resources`: what an instance must have, and whether one of some shape has it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from orchestrator.spec.model import Model, listed_once, shown, wrong
from orchestrator.wire.shapes import gpu_names

if TYPE_CHECKING:
    from orchestrator.wire.shapes import Chip, Shape

_SIZE = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) ?(GB|GiB)", re.ASCII)
_BYTES = {"GB": 10**9, "GiB": 2**30}


def gib(size: str) -> float:
    """Return how many GiB a text such as 64GB or 64GiB means. Raise ValueError if it is no such size."""
    match = _SIZE.fullmatch(size)
    if match is None:
        raise ValueError(size)
    return float(match[1]) * _BYTES[match[2]] / 2**30


def _size(value: Any) -> Any:
    """Check a size, and leave it as it is written."""
    hint = "write it like 64GB or 64GiB"
    if not isinstance(value, str):
        raise wrong(f"expected a size of memory, got {shown(value)}", hint=hint)
    try:
        size = gib(value)
    except ValueError:
        raise wrong(f"not a size of memory: {shown(value)}", hint=hint) from None
    if size <= 0:
        raise wrong(f"a size of {value} is not above 0", hint=hint)
    return value


def _gpu(value: str) -> str:
    """Return the name of a GPU as AWS's is known here, for any spelling of it; as it is, if it may be a platform's."""
    known = {name.lower(): name for name in gpu_names()}
    return known.get(value.lower(), value)


_Size = Annotated[
    str, BeforeValidator(_size, json_schema_input_type=Annotated[str, Field(pattern=f"^{_SIZE.pattern}$")])
]
_Gpu = Annotated[str, AfterValidator(_gpu)]


class Resources(Model):
    """What an instance must have. What is not written does not matter."""

    gpus: int | None = Field(
        default=None, ge=0, description="GPUs of an instance, exactly so many: as many processes start; 0 is none"
    )
    gpu_memory: _Size | None = Field(default=None, description="of each GPU, at least: such as 16GB or 16GiB")
    gpu: Annotated[list[_Gpu], AfterValidator(listed_once)] = Field(
        default=[], description="names of GPUs such as [A10G, L4]: any of these"
    )
    cpus: int | None = Field(default=None, ge=1, description="vCPUs of an instance, at least")
    memory: _Size | None = Field(default=None, description="of an instance, at least: such as 64GB or 64GiB")
    efa: bool = Field(default=False, description="true: only instances with an Elastic Fabric Adapter")

    @model_validator(mode="after")
    def _something_is_asked_for(self) -> Resources:
        if not self.asked:
            raise wrong("where.resources: there is nothing in it", hint="write `resources: {gpus: 1}`")
        if self.gpus == 0 and (self.gpu or self.gpu_memory):
            raise wrong("0 GPUs have no name and no memory", hint="leave out gpu and gpu_memory", at=("gpus",))
        return self

    @property
    def asked(self) -> dict[str, Any]:
        """What is asked for, by its key in the file."""
        return self.model_dump(exclude_defaults=True)

    def __str__(self) -> str:
        return ", ".join(f"{key}: {_written(value)}" for key, value in self.asked.items())


def _written(value: Any) -> str:
    """Return a value as the sweep file has it."""
    if isinstance(value, list):
        return f"[{', '.join(value)}]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def matches(shape: Shape, resources: Resources) -> bool:
    """Return True if an instance of this shape has all that is asked for.

    Types with Trainium never match: the images for GPUs and CPUs do not run there, so they must be named.
    """
    enough_cpus = resources.cpus is None or shape.vcpus >= resources.cpus
    enough_memory = resources.memory is None or shape.memory_gib >= gib(resources.memory)
    network = shape.efa or not resources.efa
    return shape.kind != "neuron" and enough_cpus and enough_memory and network and _gpus_match(shape, resources)


def _gpus_match(shape: Shape, resources: Resources) -> bool:
    if resources.gpus is not None and shape.gpus != resources.gpus:
        return False
    if not resources.gpu and resources.gpu_memory is None:
        return True
    return shape.chip is not None and _is_such_a_gpu(shape.chip, resources)


def _is_such_a_gpu(chip: Chip, resources: Resources) -> bool:
    named = not resources.gpu or chip.name.lower() in map(str.lower, resources.gpu)
    # A GPU sold as 24 GB has 22.35 GiB, which the table of shapes rounds down: so is what is asked for.
    return named and (resources.gpu_memory is None or chip.memory_gib >= int(gib(resources.gpu_memory)))
