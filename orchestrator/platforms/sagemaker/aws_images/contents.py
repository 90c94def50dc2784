"""What AWS's own images carry, by framework and version, as AWS's documents and images say.

The SageMaker SDK's lists differ in places, where they are out of date: it refuses torchrun in PyTorch 2.4.0, and SMDDP
in PyTorch 2.3.0, both of which run.
"""

from __future__ import annotations

import re

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
"""The versions that carry the SMDDP library."""
_NO_HOROVOD_SINCE = {"pytorch": (2, 0), "tensorflow": (2, 12)}
_NO_MPI4PY_SINCE = (2, 11)
_TORCHRUN_SINCE = (1, 13)
_METRICS_SINCE = {"pytorch": (1, 3), "tensorflow": (1, 15), "huggingface": (0, 0)}
_TENSORFLOW = re.compile(r"[^/]+\.dkr\.ecr\.[^/]+/(tensorflow-training|sagemaker-tensorflow-scriptmode)[:@].*")
_TRAINIUM = ((1, 11), (2, 0))
"""The first and the last version for Trainium. They start torchrun there."""


def carries_smddp(framework: str, version: str) -> bool:
    """Return True if the images of this version carry the SMDDP library. 2.0 is short for every 2.0.x."""
    is_short = version.count(".") == 1
    return any(each == version or (is_short and each.startswith(f"{version}.")) for each in SMDDP_VERSIONS[framework])


def lacks_horovod(framework: str, version: str) -> bool:
    """Return True if the images of this version are without Horovod."""
    since = _NO_HOROVOD_SINCE.get(framework)
    return since is not None and _numbers(version) >= since


def lacks_mpi4py(framework: str, version: str) -> bool:
    """Return True if the images of this version for GPUs are without mpi4py."""
    return framework == "pytorch" and _numbers(version) >= _NO_MPI4PY_SINCE


def starts_torchrun(version: str) -> bool:
    """Return True if the PyTorch images of this version start torchrun, except on Trainium."""
    return _numbers(version) >= _TORCHRUN_SINCE


def runs_on_trainium(framework: str, version: str) -> bool:
    """Return True if there are images of this version for Trainium."""
    oldest, newest = _TRAINIUM
    return framework == "pytorch" and oldest <= _numbers(version) <= newest


def measures_over_time(framework: str, version: str) -> bool:
    """Return True if the SageMaker SDK asks for metrics over time with images of this version."""
    return _numbers(version) >= _METRICS_SINCE.get(framework, (99, 0))


def is_tensorflow(image: str) -> bool:
    """Return True if an image is AWS's for TensorFlow, or a mirror of it in a registry of one's own."""
    return _TENSORFLOW.fullmatch(image) is not None


def _numbers(version: str) -> tuple[int, int]:
    """Return the major and minor number of a version such as 2.8.0."""
    major, minor = version.split(".")[:2]
    return int(major), int(minor.partition("-")[0])
