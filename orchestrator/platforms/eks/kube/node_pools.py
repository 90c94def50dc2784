"""Reads from a node pool of Karpenter what it may still make, as far as it says so.

karpenter.sh/docs/concepts/nodepools
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from orchestrator.platforms.eks.kube.nodes import TYPE
from orchestrator.platforms.eks.kube.quantities import read_quantity
from orchestrator.platforms.eks.sent.amounts import device_of
from orchestrator.wire.shapes import shape
from orchestrator.wire.task import Purchase

Body = dict[str, Any]

_BOUGHT = "karpenter.sh/capacity-type"
_PURCHASES = {"spot": Purchase.SPOT, "on-demand": Purchase.ON_DEMAND}


@dataclass(frozen=True)
class NodePool:
    """One node pool."""

    name: str
    types: tuple[str, ...]
    """The instance types that it is bound to; none if it chooses by itself."""
    purchases: tuple[Purchase, ...]
    left: dict[str, float]
    """What its limits leave, by what they are about: cpu, memory, nodes, accelerators; empty without any."""

    def room(self, instance_type: str) -> int:
        """Return how many more nodes of a type its limits allow; none of a type that is not known here."""
        known = shape(instance_type)
        if known is None:
            return 0
        has = {"cpu": known.vcpus, "memory": known.memory_gib * 2**30, "nodes": 1}
        if known.chip is not None:
            has[device_of(known)] = known.chip.count
        rooms = [int(left / has[name]) for name, left in self.left.items() if name in has]
        return max(0, min(rooms)) if rooms else 0


def read_pool(body: Body) -> NodePool:
    """Return what a node pool says of itself."""
    spec, status = body["spec"], body.get("status") or {}
    asked = ((spec.get("template") or {}).get("spec") or {}).get("requirements") or ()
    bound = {each["key"]: tuple(each.get("values") or ()) for each in asked if each.get("operator") == "In"}
    limits, used = spec.get("limits") or {}, status.get("resources") or {}
    # Without a word on it, Karpenter buys on demand.
    purchases = [_PURCHASES[word] for word in bound.get(_BOUGHT, ("on-demand",)) if word in _PURCHASES]
    return NodePool(
        name=body["metadata"]["name"],
        types=bound.get(TYPE, ()),
        purchases=tuple(purchases),
        left={name: read_quantity(most) - read_quantity(used.get(name, 0)) for name, most in limits.items()},
    )
