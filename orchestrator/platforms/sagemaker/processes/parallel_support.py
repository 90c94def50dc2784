"""Which images and instance types can start processes in which way: known before anything is sent.

What cannot work is complained of, with the list of what would. What works, but perhaps not as meant, is a caution of
the plan. The SageMaker SDK also refuses torchrun on CPU instances, which runs.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.platforms.base import Complaint
from orchestrator.platforms.sagemaker.aws_images.contents import (
    SMDDP_VERSIONS,
    carries_smddp,
    lacks_horovod,
    lacks_mpi4py,
    runs_on_trainium,
    starts_torchrun,
)
from orchestrator.platforms.sagemaker.aws_images.named import named_image
from orchestrator.spec.train.train import AUTO
from orchestrator.wire.shapes import shape as shape_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from orchestrator.platforms.sagemaker.aws_images.named import Named
    from orchestrator.spec.train.train import Train
    from orchestrator.wire.shapes import Shape

SMDDP_TYPES = ("ml.p3.16xlarge", "ml.p3dn.24xlarge", "ml.p4d.24xlarge", "ml.p4de.24xlarge")


def check_parallel(train: Train, instance_types: Mapping[int, str]) -> Iterator[Complaint]:
    """Yield a complaint for each line that asks for what cannot start.

    The instance types are those of `where.instance_types` that are SageMaker's, by their index there.
    """
    image = named_image(train)
    if image is not None:
        yield from _check_image(train, image)
    for index, name in instance_types.items():
        found = _obstacle(train, image, name)
        if found is not None:
            yield Complaint(found.message, found.hint, ("where", "instance_types", index))


def _check_image(train: Train, image: Named) -> Iterator[Complaint]:
    if train.wants_horovod and lacks_horovod(image.name, image.version):
        hint = "set train.image to an image of your own: containers/horovod builds one"
        yield Complaint(f"{image.called} have no Horovod", hint, image.at)
    if train.parallel == "torchrun" and image.name != "pytorch":
        yield Complaint("torchrun needs PyTorch", "for TensorFlow there are mpi and single", image.at_name)
    if train.parallel == "smddp" and not carries_smddp(image.name, image.version):
        hint = f"these have: {', '.join(SMDDP_VERSIONS[image.name])}; or use torchrun"
        yield Complaint(f"{image.called} have no smddp", hint, image.at)


class _Obstacle(NamedTuple):
    """Why processes cannot start on an instance type, and what to do."""

    message: str
    hint: str


def _obstacle(train: Train, image: Named | None, name: str) -> _Obstacle | None:
    known = shape_of(name)
    if train.parallel == "smddp" and name not in SMDDP_TYPES:
        return _Obstacle(f"smddp does not run on {name}", f"it runs on {', '.join(SMDDP_TYPES)}; or use torchrun")
    if train.processes_per_instance == AUTO and (known is None or known.kind == "neuron"):
        reason = "nothing is known of it" if known is None else "its NeuronCores are left to the image"
        return _Obstacle(
            f"processes_per_instance: auto does not know {name}: {reason}", "write a number, or leave the line out"
        )
    if known is not None and known.kind == "neuron":
        return _on_trainium(train, image, name)
    return _without_torchrun(train, image, name)


def _on_trainium(train: Train, image: Named | None, name: str) -> _Obstacle | None:
    if train.parallel not in ("single", "torchrun"):
        return _Obstacle(f"{train.parallel} does not run on {name}", "Trainium takes torchrun, or single")
    if image and (image.by_uri or not runs_on_trainium(image.name, image.version)):
        return _Obstacle(
            f"{image.called} do not run on {name}",
            "PyTorch 1.11 to 2.0 do as a framework; for newer ones set train.image to one of AWS's "
            "pytorch-training-neuronx",
        )
    return None


def _without_torchrun(train: Train, image: Named | None, name: str) -> _Obstacle | None:
    if train.parallel == "torchrun" and image and image.name == "pytorch" and not starts_torchrun(image.version):
        hint = "those from 1.13.1 do; or set train.image"
        return _Obstacle(f"{image.called} do not start torchrun on {name}", hint)
    return None


def cautions(train: Train, instance_types: Iterable[str]) -> tuple[str, ...]:
    """Return what a plan should warn of: trainings that start, but perhaps not as they were meant to."""
    return tuple(_cautions(train, {name: shape_of(name) for name in instance_types}))


def _cautions(train: Train, shapes: dict[str, Shape | None]) -> Iterator[str]:
    several = [count for count in train.instance_counts if count > 1]
    alone = train.parallel == "single" and not several
    known = {name: shape for name, shape in shapes.items() if shape is not None}
    unknown = [name for name in shapes if name not in known]
    if unknown and not alone:
        yield f"nothing is known of {', '.join(unknown)}: its GPUs and network are not checked, EFA is not set up"
    yield from _too_many_processes(train, known)
    if re.search("[\"']", train.mpi_options):
        yield "mpi_options has quotes: AWS's toolkit splits it at spaces only, and mpirun gets them as they are"
    if several:
        for name, shape in known.items():
            if shape.efa:
                continue
            speed = f", at most {shape.gbps:g} Gbps" if shape.gbps else ""
            yield f"{' or '.join(map(str, several))} instances of {name} talk over plain TCP{speed}: it has no EFA"
    without_gpu = [name for name, shape in known.items() if shape.kind == "cpu"]
    if train.parallel == "torchrun" and without_gpu:
        yield f"no GPU in {', '.join(without_gpu)}: there torch.distributed needs the backend gloo, not nccl"
    image = named_image(train)
    if train.parallel == "mpi" and image and lacks_mpi4py(image.name, image.version):
        yield (
            f"mpi starts scripts with mpi4py, which AWS's PyTorch {image.version} images for GPUs have not: "
            "name it in requirements.txt"
        )


def _too_many_processes(train: Train, known: dict[str, Shape]) -> Iterator[str]:
    processes = train.processes_per_instance
    if not isinstance(processes, int):
        return
    for name, shape in known.items():
        if shape.kind != "neuron" and processes > (shape.gpus or shape.vcpus):
            yield f"processes_per_instance is {processes}, but {name} has {_processors(shape)}"


def _processors(shape: Shape) -> str:
    if not shape.gpus:
        return f"{shape.vcpus} vCPUs"
    return "1 GPU" if shape.gpus == 1 else f"{shape.gpus} GPUs"
