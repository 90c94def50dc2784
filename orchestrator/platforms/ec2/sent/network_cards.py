"""The network interfaces of instances that talk to each other: Elastic Fabric Adapters, where their type has them.

https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html has the numbers of network cards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.wire.shapes import shape

if TYPE_CHECKING:
    from collections.abc import Sequence

_CARDS = {
    "p4d.24xlarge": 4,
    "p4de.24xlarge": 4,
    "p5.48xlarge": 32,
    "p5e.48xlarge": 32,
    "p5en.48xlarge": 16,
    "p6-b200.48xlarge": 8,
    "p6-b300.48xlarge": 16,
    "g6e.24xlarge": 2,
    "g6e.48xlarge": 4,
    "trn1.32xlarge": 8,
    "trn1n.32xlarge": 16,
    "trn2.48xlarge": 16,
}
"""Network cards with an adapter. Any other type that has one has a single card."""


def network_of(instance_type: str, instances: int, subnet: str, groups: Sequence[str]) -> dict[str, Any]:
    """Return what RunInstances is told of the network: with adapters for several instances whose type has them.

    Several interfaces forbid a public address: the subnet must lead out by itself, or reach S3 through an endpoint.
    """
    known = shape(instance_type)
    if instances == 1 or known is None or not known.efa:
        return {"SubnetId": subnet, **({"SecurityGroupIds": list(groups)} if groups else {})}
    first = _adapter(0, "efa", subnet, groups)
    others = [_adapter(card, "efa-only", subnet, groups) for card in range(1, _CARDS.get(instance_type, 1))]
    return {"NetworkInterfaces": [first, *others]}


def _adapter(card: int, kind: str, subnet: str, groups: Sequence[str]) -> dict[str, Any]:
    return {
        "NetworkCardIndex": card,
        "DeviceIndex": min(card, 1),
        "InterfaceType": kind,
        "SubnetId": subnet,
        **({"Groups": list(groups)} if groups else {}),
        "DeleteOnTermination": True,
    }
