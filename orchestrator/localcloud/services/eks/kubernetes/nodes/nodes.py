"""The nodes of a cluster, as managed node groups bring them: instances with a type, a purchase, a zone and devices.

A node that is taken away is replaced by a new one of its group, unless there is no capacity for it.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.eks.kubernetes.pods.pods import set_condition
from orchestrator.localcloud.services.eks.kubernetes.resources import NODES
from orchestrator.localcloud.services.market.price_table import REGIONS

if TYPE_CHECKING:
    from orchestrator.localcloud.services.eks.kubernetes.store import Store

Body = dict[str, Any]

GPU = "nvidia.com/gpu"
EFA = "vpc.amazonaws.com/efa"
INSTANCE_TYPE = "node.kubernetes.io/instance-type"
CAPACITY_TYPE = "eks.amazonaws.com/capacityType"
GROUP = "eks.amazonaws.com/nodegroup"
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
    "c5.2xlarge": Machine(8, 16),
    "m5.xlarge": Machine(4, 16),
    "g5.xlarge": Machine(4, 16, gpus=1),
    "p4d.24xlarge": Machine(96, 1152, gpus=8, interfaces=4),
}
"""The types that nodes can have here."""


@dataclass
class Group:
    """A managed node group: instances of one type, as many as are wanted, between two limits."""

    name: str
    instance_type: str
    spot: bool
    wanted: int
    most: int
    least: int = 0


def usual_groups() -> list[Group]:
    """Return the groups of the cluster that each Region has from the start."""
    sizes = (("c5.xlarge", False, 8), ("c5.xlarge", True, 8), ("g5.xlarge", False, 4), ("g5.xlarge", True, 4))
    return [
        Group(f"{kind.replace('.', '-')}-{'spot' if spot else 'on-demand'}", kind, spot, size, size)
        for kind, spot, size in (*sizes, ("p4d.24xlarge", False, 2))
    ]


def make_node(store: Store, region: str, group: Group) -> Body:
    """Let a new instance of a group join, and return its node."""
    return store.add(NODES, describe_node(store, region, group))


def describe_node(store: Store, region: str, group: Group) -> Body:
    """Return the node that a new instance of a group would be."""
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
                GROUP: group.name,
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
    return node


def is_spot(node: Body) -> bool:
    return bool(node["metadata"]["labels"].get(CAPACITY_TYPE) == "SPOT")
