"""A cluster's nodes, and those that may join: node groups by their sizes, Karpenter's pools by their limits.

The answers are made as docs.aws.amazon.com/eks/latest/APIReference/API_Nodegroup.html and
karpenter.sh/docs/concepts/nodepools show them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.errors import AccessDenied, NotFound
from orchestrator.platforms.eks.feeds import count_cluster
from orchestrator.platforms.eks.kube.api import NODES, PODS, POOLS
from orchestrator.platforms.eks.kube.quantities import read_quantity
from orchestrator.platforms.eks.supply import read_supply

if TYPE_CHECKING:
    from collections.abc import Iterator


class Cluster:
    """Stands for a cluster's API, and for EKS where its node groups are asked for."""

    region, cluster = "eu-west-1", "prod"

    def __init__(self, nodes: list[Any], groups: list[Any], pools: list[Any] | None = None) -> None:
        self.objects = {NODES: nodes, PODS: [], POOLS: pools}
        self.groups = {group["nodegroupName"]: group for group in groups}
        self.hidden = False

    def list(self, kind: str, **_: str) -> Iterator[Any]:
        if self.objects[kind] is None:
            raise NotFound("the server could not find the requested resource")
        return iter(self.objects[kind] or ())

    def client(self, *_: str) -> Any:
        if self.hidden:
            raise AccessDenied("may not list node groups")
        return self

    def get_paginator(self, _: str) -> Any:
        return self

    def paginate(self, **_: str) -> Any:
        return [{"nodegroups": list(self.groups)}]

    def describe_nodegroup(self, clusterName: str, nodegroupName: str) -> Any:  # noqa: N803
        assert clusterName == "prod"
        return {"nodegroup": self.groups[nodegroupName]}

    def count(self) -> dict[str, int]:
        both: Any = self
        return count_cluster(both, read_supply(both, both))


def node(kind: str, group: str = "", spot: bool = False, gpus: int = 0, ready: bool = True) -> dict[str, Any]:
    labels = {"node.kubernetes.io/instance-type": kind, "eks.amazonaws.com/nodegroup": group}
    labels["eks.amazonaws.com/capacityType"] = "SPOT" if spot else "ON_DEMAND"
    allocatable = {"cpu": "3920m", **({"nvidia.com/gpu": str(gpus)} if gpus else {})}
    conditions = [{"type": "Ready", "status": str(ready)}]
    status = {"allocatable": allocatable, "conditions": conditions}
    return {"metadata": {"name": "n", "labels": labels}, "spec": {}, "status": status}


def group(name: str, kinds: list[str], most: int, spot: bool = False, status: str = "ACTIVE") -> dict[str, Any]:
    return {
        "nodegroupName": name,
        "instanceTypes": kinds,
        "capacityType": "SPOT" if spot else "ON_DEMAND",
        "scalingConfig": {"minSize": 0, "maxSize": most, "desiredSize": 0},
        "status": status,
    }


def pool(limits: dict[str, str], kinds: list[str], bought: list[str], used: dict[str, str]) -> dict[str, Any]:
    asked = [{"key": "karpenter.sh/capacity-type", "operator": "In", "values": bought}] if bought else []
    if kinds:
        asked.append({"key": "node.kubernetes.io/instance-type", "operator": "In", "values": kinds})
    spec = {"limits": limits, "template": {"spec": {"requirements": asked}}}
    return {"metadata": {"name": "gpus"}, "spec": spec, "status": {"resources": used}}


def test_a_group_without_nodes_has_as_many_slots_as_its_size_allows() -> None:
    cluster = Cluster([], [group("train", ["g5.12xlarge"], 3, spot=True)])
    assert cluster.count() == {"nvidia.com/gpu": 12, "g5.12xlarge/spot": 3, "g5.12xlarge/on_demand": 0}


def test_what_a_group_has_counts_once_and_what_goes_or_is_not_ready_is_no_room() -> None:
    nodes = [node("g5.xlarge", "a", gpus=1), node("g5.xlarge", "a", gpus=1, ready=False), node("c5.xlarge")]
    gone = group("old", ["g5.xlarge"], 9, status="DELETING")
    counted = Cluster(nodes, [group("a", ["g5.xlarge"], 5), gone]).count()
    # One is ready, one is there and not ready, three may join.
    assert (counted["nvidia.com/gpu"], counted["g5.xlarge/on_demand"]) == (4, 4)
    assert (counted["c5.xlarge"], counted["c5.xlarge/on_demand"], counted["c5.xlarge/spot"]) == (1, 1, 0)


def test_a_group_of_several_types_may_grow_by_each_and_its_accelerators_are_those_of_the_first() -> None:
    counted = Cluster([], [group("mixed", ["g5.xlarge", "g5.12xlarge"], 2)]).count()
    assert (counted["g5.xlarge/on_demand"], counted["g5.12xlarge/on_demand"]) == (2, 2)
    assert counted["nvidia.com/gpu"] == 2


@pytest.mark.parametrize(
    ("limits", "used", "nodes"),
    [
        ({"nvidia.com/gpu": "8"}, {}, 2),
        ({"nvidia.com/gpu": "8"}, {"nvidia.com/gpu": "4"}, 1),
        ({"cpu": "100", "memory": "10Ti"}, {}, 2),  # 48 processors each
        ({"nodes": "1", "cpu": "1000"}, {}, 1),
        ({"nvidia.com/gpu": "4"}, {"nvidia.com/gpu": "8"}, 0),
    ],
)
def test_a_pool_may_make_as_many_nodes_as_its_limits_leave(
    limits: dict[str, str], used: dict[str, str], nodes: int
) -> None:
    counted = Cluster([], [], [pool(limits, ["g5.12xlarge"], ["spot"], used)]).count()
    assert counted.get("nvidia.com/gpu", 0) == 4 * nodes
    assert (counted["g5.12xlarge/spot"], counted["g5.12xlarge/on_demand"]) == (nodes, 0)


def test_a_pool_without_limits_or_types_bounds_no_type_but_what_it_says_of_accelerators_counts() -> None:
    there = [node("c5.xlarge"), node("g5.xlarge", gpus=1)]
    assert Cluster(there, [], [pool({}, ["c5.xlarge"], [], {})]).count() == {"nvidia.com/gpu": 1}
    limited = Cluster(there, [], [pool({"nvidia.com/gpu": "8"}, [], [], {"nvidia.com/gpu": "1"})])
    assert limited.count() == {"nvidia.com/gpu": 8}


def test_what_pods_of_others_hold_is_not_ours() -> None:
    cluster = Cluster([node("g5.12xlarge", gpus=4)], [])
    busy = {"spec": {"nodeName": "n", "containers": [{"resources": {"limits": {"nvidia.com/gpu": "3"}}}]}}
    cluster.objects[PODS] = [busy]
    assert cluster.count()["nvidia.com/gpu"] == 1


def test_groups_that_may_not_be_looked_at_are_told_and_nodes_count_all_the_same() -> None:
    cluster: Any = Cluster([node("c5.xlarge")], [group("a", ["c5.xlarge"], 9)])
    cluster.hidden = True
    supply = read_supply(cluster, cluster)
    assert supply.left_out == ["the node groups of the cluster prod: may not list node groups"]
    assert sum(supply.most.values()) == 1


@pytest.mark.parametrize(
    ("text", "number"),
    [("500m", 0.5), ("6Gi", 6 * 2**30), ("4", 4.0), ("1.5k", 1500.0), ("12e3", 12000.0), ("100n", 1e-7), ("2E", 2e18)],
)
def test_a_quantity_is_read_as_kubernetes_writes_it(text: str, number: float) -> None:
    assert read_quantity(text) == pytest.approx(number)


@pytest.mark.parametrize("text", ["", "4 Gi", "x", "1e", "Gi"])
def test_what_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no quantity"):
        read_quantity(text)
