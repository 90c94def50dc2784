"""Variables for libfabric about the network between a training's instances, if these have an Elastic Fabric Adapter.

They are AWS's own presets for NCCL over EFA. The user's environment goes before them. NCCL_PROTO and
NCCL_SOCKET_IFNAME are not among them: the toolkit sets both, for it knows the interface's name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.wire.shapes import shape

if TYPE_CHECKING:
    from collections.abc import Mapping

_EFA = {
    "FI_PROVIDER": "efa",
    # Data loaders fork: huge pages run out then, and older kernels corrupt what the adapter reads.
    "FI_EFA_USE_HUGE_PAGE": "0",
    "FI_EFA_FORK_SAFE": "1",
}
_RDMA = {"FI_EFA_USE_DEVICE_RDMA": "1"}
"""Set only for adapters that can do it: with others, libfabric gives up."""


def add_network_variables(given: Mapping[str, str], instance_type: str, instances: int) -> dict[str, str]:
    """Return the user's environment, and before it what the network between so many instances needs."""
    known = shape(instance_type)
    if instances == 1 or known is None or not known.efa:
        return dict(given)
    rdma = _RDMA if known.rdma else {}
    return {**_EFA, **rdma, **given}
