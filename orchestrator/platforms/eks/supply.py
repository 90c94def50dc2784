"""Counts the nodes that a cluster has, and those that its autoscaler may make: one without any may still have slots."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from orchestrator.aws.answers import understood
from orchestrator.aws.errors import aws_errors
from orchestrator.errors import AccessError, NotFound, Unreachable
from orchestrator.platforms.eks.kube.api import NODES, POOLS
from orchestrator.platforms.eks.kube.node_pools import read_pool
from orchestrator.platforms.eks.kube.nodes import read_node
from orchestrator.platforms.eks.sent.amounts import GPU, NEURON, device_of
from orchestrator.wire.shapes import shape
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from orchestrator.aws.session import Clients
    from orchestrator.platforms.eks.kube.api import KubeApi
    from orchestrator.platforms.eks.kube.nodes import Node

Kind = tuple[str, Purchase]
"""An instance type, and how its nodes are paid for."""


@dataclass
class Supply:
    """The nodes that a cluster has and may have."""

    now: Counter[Kind] = field(default_factory=Counter)
    """The nodes of each kind that take pods now."""
    most: Counter[Kind] = field(default_factory=Counter)
    """The nodes of each kind that there may be, with those that are there."""
    devices: Counter[str] = field(default_factory=Counter)
    """The accelerators that there may be, by the name that pods ask for."""
    open_pools: list[str] = field(default_factory=list)
    """Pools that may make nodes, and do not say of which types or how many."""
    left_out: list[str] = field(default_factory=list)
    """What could not be counted, a line each."""
    zones: set[str] = field(default_factory=set)
    """The zones in which nodes are."""

    def grow(self, instance_type: str, purchases: Iterable[Purchase], nodes: int) -> None:
        """Let there be so many more nodes of a type, however they are paid for."""
        for purchase in purchases:
            self.most[instance_type, purchase] += nodes

    def bring(self, instance_type: str, nodes: int) -> None:
        """Let there be the accelerators of so many more nodes of a type."""
        known = shape(instance_type)
        if known is not None and known.chip is not None:
            self.devices[device_of(known)] += nodes * known.chip.count


def read_supply(clients: Clients, api: KubeApi) -> Supply:
    """Return what a cluster has and may have. Raise AccessDenied for who may not look at its nodes."""
    supply = Supply()
    nodes = [read_node(body) for body in api.list(NODES)]
    for node in nodes:
        if node.is_ready and node.instance_type:
            supply.now[node.instance_type, node.purchase] += 1
            supply.most[node.instance_type, node.purchase] += 1
            supply.devices.update(node.devices)
            supply.zones |= {node.zone} - {""}
    for what, add in (("node groups", _add_groups), ("node pools", _add_pools)):
        try:
            add(supply, nodes, clients, api)
        except (AccessError, Unreachable) as error:
            supply.left_out.append(f"the {what} of the cluster {api.cluster}: {error.message}")
    return supply


def _add_groups(supply: Supply, nodes: Sequence[Node], clients: Clients, api: KubeApi) -> None:
    """Add what managed node groups may have besides what they have."""
    there = Counter(node.group for node in nodes)
    for group in _groups(clients, api.region, api.cluster):
        name, purchase = group["nodegroupName"], Purchase.SPOT
        if group.get("capacityType") != "SPOT":
            purchase = Purchase.ON_DEMAND
        types = list(group.get("instanceTypes") or dict.fromkeys(n.instance_type for n in nodes if n.group == name))
        more = int((group.get("scalingConfig") or {}).get("maxSize") or 0) - there[name]
        if group.get("status") not in ("ACTIVE", "UPDATING") or more <= 0:
            more = 0
        if more and not types:
            supply.left_out.append(f"the node group {name} of {api.cluster} does not say its instance types")
        for kind in types:
            supply.grow(kind, (purchase,), more)
        for kind in types[:1]:  # a group of several types takes the first where it can
            supply.bring(kind, more)


def _groups(clients: Clients, region: str, cluster: str) -> Iterator[dict[str, Any]]:
    asking = f"look at the node groups of {cluster}"
    eks = clients.client("eks", region)
    with aws_errors(asking, where=region), understood(asking, where=region):
        pages = eks.get_paginator("list_nodegroups").paginate(clusterName=cluster)
        for name in [name for page in pages for name in page["nodegroups"]]:
            yield eks.describe_nodegroup(clusterName=cluster, nodegroupName=name)["nodegroup"]


def _add_pools(supply: Supply, nodes: Sequence[Node], clients: Clients, api: KubeApi) -> None:  # noqa: ARG001
    """Add what the limits of Karpenter's node pools leave: those of a cluster in Auto Mode are such pools, too."""
    try:
        pools = [read_pool(body) for body in api.list(POOLS)]
    except NotFound:
        return  # the cluster has no Karpenter
    for pool in pools:
        if not pool.types or not pool.left:
            supply.open_pools.append(pool.name)
            limited = {name: int(left) for name, left in pool.left.items() if name in (GPU, NEURON)}
            supply.devices.update({name: max(0, left) for name, left in limited.items()})
            continue
        rooms = {kind: pool.room(kind) for kind in pool.types}
        for kind, more in rooms.items():
            supply.grow(kind, pool.purchases, more)
        # All types of a pool share its limits: the accelerators are those of the type that brings most.
        best = max(rooms, key=lambda kind: rooms[kind] * _chips(kind))
        supply.bring(best, rooms[best])


def _chips(instance_type: str) -> int:
    known = shape(instance_type)
    return known.chip.count if known is not None and known.chip is not None else 0
