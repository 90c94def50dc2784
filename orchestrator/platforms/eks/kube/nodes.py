"""Reads from a cluster's nodes what each is made of, and how it is paid for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from orchestrator.platforms.eks.kube.quantities import read_quantity
from orchestrator.platforms.eks.sent.amounts import GPU, NEURON
from orchestrator.wire.task import Purchase

Body = dict[str, Any]

TYPE = "node.kubernetes.io/instance-type"
GROUP = "eks.amazonaws.com/nodegroup"
ZONE = "topology.kubernetes.io/zone"
SPOT_LABELS = (("eks.amazonaws.com/capacityType", "SPOT"), ("karpenter.sh/capacity-type", "spot"))
"""Labels of spot nodes: those of managed node groups, and those of Karpenter and Auto Mode."""


@dataclass(frozen=True)
class Node:
    """One node, as its cluster shows it."""

    instance_type: str
    """Empty for one that carries no label of it: nothing can be planned there."""
    purchase: Purchase
    group: str
    """The managed node group that it belongs to; empty if it belongs to none."""
    is_ready: bool
    """It takes pods."""
    devices: dict[str, int]
    """Its accelerators, by the name that pods ask for."""
    zone: str = ""
    """The zone that it is in; empty if it does not say so."""


def read_node(body: Body) -> Node:
    """Return what a node's labels and its status say."""
    labels = body["metadata"].get("labels") or {}
    status = body.get("status") or {}
    conditions = status.get("conditions") or ()
    ready = any((one["type"], one["status"]) == ("Ready", "True") for one in conditions)
    there = status.get("allocatable") or {}
    devices = {name: int(read_quantity(there.get(name, 0))) for name in (GPU, NEURON)}
    return Node(
        instance_type=str(labels.get(TYPE, "")),
        purchase=Purchase.SPOT if any(labels.get(key) == value for key, value in SPOT_LABELS) else Purchase.ON_DEMAND,
        group=str(labels.get(GROUP, "")),
        is_ready=ready and not body["spec"].get("unschedulable"),
        devices={name: count for name, count in devices.items() if count},
        zone=str(labels.get(ZONE, "")),
    )
