"""Knows in which zones a training's pods are, or were: a spot node costs what its own zone asks.

A server of Kubernetes 1.35 or newer gives pods the label of their node. Of older ones a node itself tells, to whoever
may look at it. Pods and nodes go: what was seen of them is remembered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.errors import AccessError, NotFound
from orchestrator.platforms.eks.kube.api import NODES
from orchestrator.platforms.eks.kube.nodes import read_node

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from orchestrator.platforms.eks.kube.api import KubeApi
    from orchestrator.platforms.eks.kube.pods import Pod

TOLD_SINCE = (1, 35)
"""The version of Kubernetes from which on pods tell their zone."""


class Zones:
    """What one process has seen of the zones of trainings."""

    def __init__(self) -> None:
        self._of_trainings: dict[str, dict[int, set[str]]] = {}
        self._of_nodes: dict[str, str] = {}
        """The zones of nodes, by cluster and name; empty of those that we may not look at."""

    def note(self, training: str, pods: Iterable[Pod], api: KubeApi) -> None:
        """Note where these pods of a training are."""
        found = self._of_trainings.setdefault(training, {})
        for pod in pods:
            zone = pod.zone or self._ask(pod.node, api)
            if zone:
                found.setdefault(pod.index, set()).add(zone)

    def of(self, training: str) -> Mapping[int, set[str]]:
        """Return the zones of each instance, by its index: several, where its pod was made again elsewhere."""
        return self._of_trainings.get(training, {})

    def _ask(self, node: str, api: KubeApi) -> str:
        key = f"{api.region}/{api.cluster}/{node}"
        if node and key not in self._of_nodes:
            try:
                self._of_nodes[key] = read_node(api.get(NODES, "", node).body).zone
            except (AccessError, NotFound):
                self._of_nodes[key] = ""
        return self._of_nodes.get(key, "")
