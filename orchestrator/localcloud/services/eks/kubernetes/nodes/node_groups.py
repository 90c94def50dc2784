"""The node groups of one cluster, and the autoscaler that gives them nodes while pods wait for one.

A group has as many nodes as are wanted, and up to its most when pods would fit there. Nodes that are idle stay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.eks.kubernetes.nodes import nodes
from orchestrator.localcloud.services.eks.kubernetes.nodes.nodes import GROUP
from orchestrator.localcloud.services.eks.kubernetes.nodes.scheduler import find_node
from orchestrator.localcloud.services.eks.kubernetes.resources import NODES

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.localcloud.clock import Clock
    from orchestrator.localcloud.services.eks.kubernetes.nodes.nodes import Group
    from orchestrator.localcloud.services.eks.kubernetes.store import Store

Body = dict[str, Any]

_JOINS_S = 2.0
"""Seconds until a node has joined that the autoscaler has asked for. Here nobody wants to wait for a minute or two."""


class NodeGroups:
    """The groups of one cluster. Its methods are called by whoever holds the store's lock."""

    def __init__(self, store: Store, region: str, clock: Clock) -> None:
        self._store = store
        self._region = region
        self._clock = clock
        self._groups: dict[str, Group] = {}
        self._to_join: dict[str, int] = {}
        """Nodes of each group that are asked for, and have not joined."""
        self.is_short: Callable[[Body], bool] = lambda _: False
        """Says of a node that there is no capacity for it now."""
        self.joined: Callable[[], None] = lambda: None
        """Called after nodes have joined."""

    def all(self) -> list[Group]:
        return list(self._groups.values())

    def find(self, name: str) -> Group | None:
        return self._groups.get(name)

    def add(self, group: Group) -> None:
        """Add a group, with as many nodes as it wants."""
        self._groups[group.name] = group
        self.resize(group)

    def remove(self, name: str) -> None:
        """Forget a group. Its nodes go with it."""
        self._groups.pop(name, None)
        for node in self._nodes(name):
            self._store.remove(NODES, node)

    def resize(self, group: Group) -> None:
        """Let nodes join until a group has as many as it wants."""
        for _ in range(group.wanted - len(self._nodes(group.name))):
            nodes.make_node(self._store, self._region, group)
        self.joined()

    def replace(self, node: Body) -> None:
        """Let a new node of its group join for one that goes."""
        self._store.remove(NODES, node)
        group = self._groups.get(node["metadata"]["labels"][GROUP])
        if group is not None:
            nodes.make_node(self._store, self._region, group)

    def make_room(self, pod: Body) -> None:
        """Ask for a node on which a pod fits that waits for one, unless one is to join that it fits on."""
        fitting = [group for group in self._groups.values() if self._fits(pod, group)]
        if any(self._to_join.get(group.name) for group in fitting):
            return
        for group in fitting:
            if len(self._nodes(group.name)) < group.most:
                self._to_join[group.name] = self._to_join.get(group.name, 0) + 1
                self._clock.after(_JOINS_S, lambda group=group: self._join(group))  # type: ignore[misc]
                return

    def _join(self, group: Group) -> None:
        with self._store.lock:
            self._to_join[group.name] -= 1
            if group.name in self._groups and len(self._nodes(group.name)) < group.most:
                group.wanted = len(self._nodes(group.name)) + 1
                nodes.make_node(self._store, self._region, group)
            self.joined()

    def _fits(self, pod: Body, group: Group) -> bool:
        node = nodes.describe_node(self._store, self._region, group)
        return not self.is_short(node) and find_node(pod, [node], [])[0] is not None

    def _nodes(self, group: str) -> list[Body]:
        return [node for node in self._store.all(NODES) if node["metadata"]["labels"][GROUP] == group]
