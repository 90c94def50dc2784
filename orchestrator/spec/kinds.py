"""What each way of starting processes needs of its image and instances: known before anything is sent.

What cannot work is refused, with the list of what would; what works, but perhaps not as meant, is a caution of the
plan. The lists are AWS's documents' and images'. The SageMaker SDK's own differ in places, where it is out of date:
it refuses torchrun on CPU instances and in PyTorch 2.4.0, and SMDDP in PyTorch 2.3.0, all of which run.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.spec.model import wrong
from orchestrator.wire.shapes import shape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from orchestrator.spec.train import Framework, Train
    from orchestrator.wire.shapes import Shape

AUTO = "auto"
OWN_IMAGE = "set train.image to an image of your own: containers/horovod builds one"

SMDDP_TYPES = ("ml.p3.16xlarge", "ml.p3dn.24xlarge", "ml.p4d.24xlarge", "ml.p4de.24xlarge")
SMDDP_VERSIONS = {
    "pytorch": (
        *("1.6.0", "1.7.1", "1.8.0", "1.8.1", "1.9.0", "1.9.1", "1.10.0", "1.10.2", "1.11.0", "1.12.0", "1.12.1"),
        *("1.13.1", "2.0.0", "2.0.1", "2.1.0", "2.2.0", "2.3.0"),
    ),
    "tensorflow": (
        *("2.3.1", "2.3.2", "2.4.1", "2.4.3", "2.5.0", "2.5.1", "2.6.0", "2.6.2", "2.6.3", "2.7.1", "2.8.0", "2.8.3"),
        *("2.9.1", "2.9.2", "2.10.1", "2.11.0"),
    ),
}
"""Of AWS's images that carry the SMDDP library."""
_NO_HOROVOD = {"pytorch": (2, 0), "tensorflow": (2, 12)}
"""From here on, AWS's images are without Horovod."""
_NO_MPI4PY = (2, 11)
"""From here on, AWS's PyTorch images for GPUs are without mpi4py."""
_TORCHRUN = (1, 13)
"""AWS's images start torchrun from here on; for Trainium, from 1.11 to 2.0."""
_TRAINIUM = ((1, 11), (2, 0))


def version_of(text: str) -> tuple[int, int]:
    major, minor = text.split(".")[:2]
    return int(major), int(minor)


def lacks_horovod(framework: Any, version: Any) -> bool:
    """Of a framework as written, which may be nonsense: that is told elsewhere."""
    if not (isinstance(framework, str) and isinstance(version, str) and re.match(r"\d+\.\d+", version)):
        return False
    first = _NO_HOROVOD.get(framework)
    return first is not None and version_of(version) >= first


def check(train: Train, instance_types: Sequence[str]) -> None:
    """Refuse what cannot start, at the line that says so."""
    if train.framework is not None:
        _check_framework(train, train.framework)
    for index, name in enumerate(instance_types):
        found = _obstacle(train, name)
        if found is not None:
            raise wrong(found.message, hint=found.hint, at=("where", "instance_types", index))


def _check_framework(train: Train, framework: Framework) -> None:
    at = ("train", "framework")
    if train.parallel == "torchrun" and framework.name != "pytorch":
        raise wrong("torchrun needs PyTorch", hint="for TensorFlow there are mpi and single", at=(*at, "name"))
    if train.parallel == "smddp":
        there = SMDDP_VERSIONS[framework.name]
        if not any(version == framework.version or _begins(version, framework.version) for version in there):
            raise wrong(
                f"AWS's {framework.name} {framework.version} images have no smddp",
                hint=f"these have: {', '.join(there)}; or use torchrun",
                at=(*at, "version"),
            )


def _begins(version: str, text: str) -> bool:
    """Whether `text` is short for a version: 2.0 for 2.0.1."""
    return text.count(".") == 1 and version.startswith(f"{text}.")


class _Obstacle(NamedTuple):
    message: str
    hint: str


def _obstacle(train: Train, name: str) -> _Obstacle | None:
    known = shape(name)
    if train.parallel == "smddp" and name not in SMDDP_TYPES:
        return _Obstacle(f"smddp does not run on {name}", f"it runs on {', '.join(SMDDP_TYPES)}; or use torchrun")
    if train.processes_per_instance == AUTO and (known is None or known.kind == "neuron"):
        reason = "nothing is known of it" if known is None else "its NeuronCores are left to the image"
        return _Obstacle(
            f"processes_per_instance: auto does not know {name}: {reason}", "write a number, or leave the line out"
        )
    if known is not None and known.kind == "neuron":
        return _on_trainium(train, name)
    return _without_torchrun(train, name)


def _on_trainium(train: Train, name: str) -> _Obstacle | None:
    if train.parallel not in ("single", "torchrun"):
        return _Obstacle(f"{train.parallel} does not run on {name}", "Trainium takes torchrun, or single")
    first, last = _TRAINIUM
    framework = train.framework
    if framework and (framework.name != "pytorch" or not first <= version_of(framework.version) <= last):
        return _Obstacle(
            f"AWS's {framework.name} {framework.version} images do not run on {name}",
            "PyTorch 1.11 to 2.0 do; for newer ones set train.image to one of AWS's pytorch-training-neuronx",
        )
    return None


def _without_torchrun(train: Train, name: str) -> _Obstacle | None:
    framework = train.framework
    if train.parallel == "torchrun" and framework and version_of(framework.version) < _TORCHRUN:
        return _Obstacle(
            f"AWS's pytorch {framework.version} images do not start torchrun on {name}",
            "those from 1.13.1 do; or set train.image",
        )
    return None


def cautions(train: Train, instance_types: Sequence[str]) -> tuple[str, ...]:
    """What a plan had better say of how these trainings start."""
    return tuple(_cautions(train, {name: shape(name) for name in instance_types}))


def _cautions(train: Train, shapes: dict[str, Shape | None]) -> Iterator[str]:
    alone = train.parallel == "single" and train.instances == 1
    known = {name: one for name, one in shapes.items() if one is not None}
    unknown = [name for name in shapes if name not in known]
    if unknown and not alone:
        yield f"nothing is known of {_listed(unknown)}: its GPUs and network are not checked, EFA is not set up"
    yield from _too_many_processes(train, known)
    if re.search("[\"']", train.mpi_options):
        yield "mpi_options has quotes: AWS's toolkit splits it at spaces only, and mpirun gets them as they are"
    if train.instances > 1:
        for name in _those(known, lambda one: not one.efa):
            speed = f", at most {known[name].gbps:g} Gbps" if known[name].gbps else ""
            yield f"{train.instances} instances of {name} talk over plain TCP{speed}: it has no EFA"
    without = _those(known, lambda one: one.kind == "cpu")
    if train.parallel == "torchrun" and without:
        yield f"no GPU in {_listed(without)}: there torch.distributed needs the backend gloo, not nccl"
    framework = train.framework
    if train.parallel == "mpi" and framework and _lacks_mpi4py(framework):
        yield (
            f"mpi starts scripts with mpi4py, which AWS's PyTorch {framework.version} images for GPUs have not: "
            "name it in requirements.txt"
        )


def _lacks_mpi4py(framework: Framework) -> bool:
    return framework.name == "pytorch" and version_of(framework.version) >= _NO_MPI4PY


def _too_many_processes(train: Train, known: dict[str, Shape]) -> Iterator[str]:
    processes = train.processes_per_instance
    if not isinstance(processes, int):
        return
    for name in _those(known, lambda one: processes > (one.gpus or one.vcpus) and one.kind != "neuron"):
        one = known[name]
        has = f"{one.gpus} GPU{'s' * (one.gpus > 1)}" if one.gpus else f"{one.vcpus} vCPUs"
        yield f"processes_per_instance is {processes}, but {name} has {has}"


def _those(known: dict[str, Shape], are: Callable[[Shape], bool]) -> list[str]:
    return [name for name, one in known.items() if are(one)]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)
