"""What can be asked about EKS: what an hour of a node costs, and how much of what its clusters have."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from orchestrator.aws.account.price_list import list_linux_instances
from orchestrator.errors import AccessError, SettingsError, Unreachable
from orchestrator.platforms.eks.kube.api import PODS
from orchestrator.platforms.eks.kube.clusters import list_clusters, open_cluster
from orchestrator.platforms.eks.sent.amounts import GPU, NEURON, device_of
from orchestrator.platforms.eks.sent.words import RUN
from orchestrator.platforms.eks.spot_prices import read_spot_prices
from orchestrator.platforms.eks.supply import read_supply
from orchestrator.platforms.feed import Feed, Reading
from orchestrator.wire.shapes import shape
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from datetime import datetime

    from orchestrator.aws.session import Clients
    from orchestrator.platforms.eks.kube.api import KubeApi
    from orchestrator.platforms.eks.supply import Supply


def read_prices(clients: Clients, region: str, now: datetime) -> Reading:
    """Return what EC2 asks for an hour on demand of each type that nodes here have or may have.

    Where a pool or a cluster does not say which types it may have, all that pods can be planned on have a price. Where
    the account has no cluster there are no nodes, and nothing has one.
    """
    names = list_clusters(clients, region)
    if not names:
        return Reading(())
    types, left_out = _types(clients, region, names)
    found: dict[str, set[str]] = {}
    for name, product in list_linux_instances(clients, region):
        if shape(name) is not None and (types is None or name in types):
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
    left_out += [
        f"{name} has {len(prices)} prices, not one" for name, prices in sorted(found.items()) if len(prices) != 1
    ]
    return Reading(tuple(rows), tuple(left_out))


def _types(clients: Clients, region: str, names: list[str]) -> tuple[set[str] | None, list[str]]:
    """Return the instance types that nodes have or may have, and what was not looked at; None for any type."""
    types: set[str] = set()
    left_out: list[str] = []
    is_open = False
    for name in names:
        try:
            supply = read_supply(clients, open_cluster(clients, region, name))
        except (AccessError, Unreachable, SettingsError) as error:
            left_out.append(f"the cluster {name}: {error.message}")
            is_open = True
            continue
        is_open = is_open or bool(supply.open_pools)
        types |= {kind for kind, _ in supply.most}
    return (None if is_open else types), left_out


def read_nodes(clients: Clients, region: str, now: datetime) -> Reading:
    """Return what the nodes of each cluster have and may have, less what pods of others hold.

    Nodes are counted by their type, and by type and purchase; those with devices by these besides.
    """
    rows, left_out = [], []
    for name in list_clusters(clients, region):
        try:
            api = open_cluster(clients, region, name)
            supply = read_supply(clients, api)
            held = count_cluster(api, supply)
        except (AccessError, Unreachable, SettingsError) as error:
            left_out.append(f"the cluster {name}: {error.message}")
            continue
        left_out += supply.left_out
        open_pools = ", ".join(supply.open_pools)
        if open_pools:
            left_out.append(f"the cluster {name}: what {open_pools} may make; limits and types would tell")
        of_region = {"platform": "eks", "region": region, "observed_at": now}
        rows += [{**of_region, "quota": f"{name}/{what}", "units": units} for what, units in sorted(held.items())]
    return Reading(tuple(rows), tuple(left_out))


def count_cluster(api: KubeApi, supply: Supply) -> dict[str, int]:
    """Return the units of each quota of a cluster: devices that others leave, types, and types as they are bought.

    Where a pool does not say what it may make, types have no quota: more of them may join than are known of.
    """
    free: Counter[str] = Counter(supply.devices)
    for pod in api.list(PODS, labelSelector=f"!{RUN}"):
        if pod.get("status", {}).get("phase") in ("Succeeded", "Failed") or not pod["spec"].get("nodeName"):
            continue
        for container in pod["spec"]["containers"]:
            limits = (container.get("resources") or {}).get("limits") or {}
            for name in (GPU, NEURON):
                free[name] -= int(limits.get(name, 0))
    for kind in set() if supply.open_pools else {kind for kind, _ in supply.most}:
        counts = {purchase: supply.most[kind, purchase] for purchase in (Purchase.SPOT, Purchase.ON_DEMAND)}
        free.update({f"{kind}/{purchase.value}": count for purchase, count in counts.items()})
        if not device_of(shape(kind)):
            free[kind] += sum(counts.values())
    return {name: max(0, units) for name, units in free.items() if name not in (GPU, NEURON) or supply.devices[name]}


_LOOK = ("eks:ListClusters", "eks:DescribeCluster", "eks:ListNodegroups", "eks:DescribeNodegroup")
FEEDS = (
    Feed(
        name="eks-prices",
        kind="prices",
        about="what an hour of a node costs on demand",
        actions=(*_LOOK, "pricing:GetProducts"),
        read=read_prices,
        may_be_empty=True,
    ),
    Feed(
        name="eks-spot-prices",
        kind="prices",
        about="what an hour of a spot node is expected to be billed at",
        actions=(*_LOOK, "ec2:DescribeSpotPriceHistory"),
        read=read_spot_prices,
        may_be_empty=True,
        is_spot=True,
    ),
    Feed(
        name="eks-nodes",
        kind="quotas",
        about="what the nodes of its clusters have, and may have",
        actions=_LOOK,
        read=read_nodes,
        may_be_empty=True,
    ),
)
