"""What a pod asks for, so that it has an instance of its own type for itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.wire.shapes import shape

if TYPE_CHECKING:
    from orchestrator.wire.shapes import Shape

GPU, NEURON, EFA = "nvidia.com/gpu", "aws.amazon.com/neuron", "vpc.amazonaws.com/efa"
_SHARE = 0.75
"""The share of an instance's processors and memory that a pod asks for: no two share an instance then, and what the
cluster itself runs on each has room."""
_HUGE_PAGES = "5120Mi"
"""What libfabric takes on each instance: docs.aws.amazon.com/eks/latest/userguide/node-efa.html"""


def device_of(known: Shape | None) -> str:
    """Return what Kubernetes calls an instance's accelerators; empty if it has none."""
    if known is None or known.chip is None:
        return ""
    return GPU if known.chip.kind == "gpu" else NEURON


def amounts(instance_type: str, interfaces: int) -> dict[str, dict[str, str]]:
    """Return requests and limits of a pod on an instance of this type, with so many interfaces for EFA.

    A type that is not known here asks for nothing: Kubernetes may then put several pods on one.
    """
    known = shape(instance_type)
    if known is None:
        return {}
    requests = {
        "cpu": f"{int(known.vcpus * 1000 * _SHARE)}m",
        "memory": f"{int(known.memory_gib * 1024 * _SHARE)}Mi",
    }
    devices = {device_of(known): str(known.chip.count)} if known.chip else {}
    if interfaces:
        devices |= {EFA: str(interfaces), "hugepages-2Mi": _HUGE_PAGES}
    return {"requests": {**requests, **devices}, **({"limits": devices} if devices else {})}
