"""What can be asked about EKS: what an hour of a node costs, and how much of what its clusters have."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from orchestrator.aws.account.price_list import list_linux_instances
from orchestrator.errors import AccessError, Unreachable
from orchestrator.platforms.eks.kube.api import NODES, PODS
from orchestrator.platforms.eks.kube.clusters import list_clusters, open_cluster
from orchestrator.platforms.eks.sent.amounts import GPU, NEURON
from orchestrator.platforms.eks.sent.words import RUN
from orchestrator.platforms.feed import Feed, Reading
from orchestrator.wire.shapes import shape
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from datetime import datetime

    from orchestrator.aws.session import Clients
    from orchestrator.platforms.eks.kube.api import KubeApi

_TYPE = "node.kubernetes.io/instance-type"


def read_prices(clients: Clients, region: str, now: datetime) -> Reading:
    """Return what EC2 asks for an hour on demand of each type that pods can be planned on: nodes are such instances.

    Where the account has no cluster there are no nodes, and nothing has a price.
    """
    if not list_clusters(clients, region):
        return Reading(())
    found: dict[str, set[str]] = {}
    for name, product in list_linux_instances(clients, region):
        if shape(name) is not None:
            found.setdefault(name, set()).update(tier.usd for tier in product.tiers if tier.usd.strip("0."))
    rows = (
        {
            "platform": "eks",
            "region": region,
            "instance_type": name,
            "purchase": Purchase.ON_DEMAND.value,
            "usd_per_hour": next(iter(prices)),
            "observed_at": now,
        }
        for name, prices in sorted(found.items())
        if len(prices) == 1
    )
    left_out = (
        f"{name} has {len(prices)} prices, not one" for name, prices in sorted(found.items()) if len(prices) != 1
    )
    return Reading(tuple(rows), tuple(left_out))


def read_nodes(clients: Clients, region: str, now: datetime) -> Reading:
    """Return what the nodes of each cluster have now, less what pods of others hold: nodes of a type, and devices."""
    rows, left_out = [], []
    for name in list_clusters(clients, region):
        try:
            held = count_cluster(open_cluster(clients, region, name))
        except (AccessError, Unreachable) as error:
            left_out.append(f"the cluster {name}: {error.message}")
            continue
        of_region = {"platform": "eks", "region": region, "observed_at": now}
        rows += [{**of_region, "quota": f"{name}/{what}", "units": units} for what, units in sorted(held.items())]
    return Reading(tuple(rows), tuple(left_out))


def count_cluster(api: KubeApi) -> dict[str, int]:
    """Return how many nodes of each type without devices a cluster has for us, and how many devices."""
    free: Counter[str] = Counter()
    types: dict[str, str] = {}
    for node in api.list(NODES):
        ready = any((one["type"], one["status"]) == ("Ready", "True") for one in node["status"].get("conditions", ()))
        if not ready or node["spec"].get("unschedulable"):
            continue
        devices = {name: int(node["status"]["allocatable"].get(name, 0)) for name in (GPU, NEURON)}
        free.update({name: count for name, count in devices.items() if count})
        if not any(devices.values()):
            types[node["metadata"]["name"]] = node["metadata"].get("labels", {}).get(_TYPE, "")
    free.update(kind for kind in types.values() if kind)
    for pod in api.list(PODS, labelSelector=f"!{RUN}"):
        if pod.get("status", {}).get("phase") in ("Succeeded", "Failed") or not pod["spec"].get("nodeName"):
            continue
        for container in pod["spec"]["containers"]:
            limits = (container.get("resources") or {}).get("limits") or {}
            for name in (GPU, NEURON):
                free[name] -= int(limits.get(name, 0))
    return {name: max(0, units) for name, units in free.items()}


FEEDS = (
    Feed(
        name="eks-prices",
        kind="prices",
        about="what an hour of a node costs on demand",
        actions=("eks:ListClusters", "pricing:GetProducts"),
        read=read_prices,
        may_be_empty=True,
    ),
    Feed(
        name="eks-nodes",
        kind="quotas",
        about="what the nodes of its clusters have",
        actions=("eks:ListClusters", "eks:DescribeCluster"),
        read=read_nodes,
        may_be_empty=True,
    ),
)
