"""The nodes of a cluster, as managed node groups bring them: instances with a type, a purchase, a zone and devices.

A node that is taken away is replaced by a new one of its group, unless there is no capacity for it.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.eks.kubernetes.pods import set_condition
from orchestrator.localcloud.services.eks.kubernetes.resources import NODES
from orchestrator.localcloud.services.market.price_table import REGIONS

if TYPE_CHECKING:
    from orchestrator.localcloud.services.eks.kubernetes.store import Store

Body = dict[str, Any]

GPU = "nvidia.com/gpu"
EFA = "vpc.amazonaws.com/efa"
INSTANCE_TYPE = "node.kubernetes.io/instance-type"
CAPACITY_TYPE = "eks.amazonaws.com/capacityType"
ZONE = "topology.kubernetes.io/zone"


@dataclass(frozen=True)
class Machine:
    """What a node's instance type is made of."""

    vcpus: int
    memory_gib: int
    gpus: int = 0
    interfaces: int = 0
    """Interfaces for EFA."""


MACHINES = {
    "c5.xlarge": Machine(4, 8),
    "g5.xlarge": Machine(4, 16, gpus=1),
    "p4d.24xlarge": Machine(96, 1152, gpus=8, interfaces=4),
}


@dataclass(frozen=True)
class Group:
    """A managed node group: so many instances of a type."""

    instance_type: str
    spot: bool
    size: int

    @property
    def name(self) -> str:
        return f"{self.instance_type.replace('.', '-')}-{'spot' if self.spot else 'on-demand'}"


GROUPS = (
    Group("c5.xlarge", spot=False, size=8),
    Group("c5.xlarge", spot=True, size=8),
    Group("g5.xlarge", spot=False, size=4),
    Group("g5.xlarge", spot=True, size=4),
    Group("p4d.24xlarge", spot=False, size=2),
)
"""The groups of each cluster."""


def make_node(store: Store, region: str, group: Group) -> Body:
    """Let a new instance of a group join, and return its node."""
    machine = MACHINES[group.instance_type]
    zones = [name for name, _ in REGIONS[region].zones] if region in REGIONS else [f"{region}a"]
    address = ".".join(str(byte) for byte in (10, *hashlib.sha256(secrets.token_bytes(8)).digest()[:3]))
    name = f"ip-{address.replace('.', '-')}.{region}.compute.internal"
    devices = {GPU: machine.gpus, EFA: machine.interfaces}
    # What EKS keeps back for itself: docs.aws.amazon.com/eks/latest/userguide/choosing-instance-type.html
    allocatable = {
        "cpu": f"{machine.vcpus * 1000 - 80}m",
        "memory": f"{machine.memory_gib * 1024 - 1200}Mi",
        "pods": "58",
        **{device: str(count) for device, count in devices.items() if count},
    }
    node = {
        "metadata": {
            "name": name,
            "labels": {
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
                "eks.amazonaws.com/nodegroup": group.name,
                INSTANCE_TYPE: group.instance_type,
                CAPACITY_TYPE: "SPOT" if group.spot else "ON_DEMAND",
                ZONE: zones[len(store.all(NODES)) % len(zones)],
                "topology.kubernetes.io/region": region,
            },
        },
        "spec": {"taints": [{"key": GPU, "value": "present", "effect": "NoSchedule"}] if machine.gpus else []},
        "status": {"allocatable": allocatable, "capacity": dict(allocatable), "conditions": []},
    }
    set_condition(node, "Ready", True, store.now(), "KubeletReady", "kubelet is posting ready status")
    return store.add(NODES, node)


def is_spot(node: Body) -> bool:
    return bool(node["metadata"]["labels"].get(CAPACITY_TYPE) == "SPOT")
