"""What EC2 counts: vCPUs of instances, by groups of families, on demand and spot apart.

https://docs.aws.amazon.com/ec2/latest/instancetypes/ec2-instance-quotas.html has the codes.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from orchestrator.wire.shapes import shape
from orchestrator.wire.task import Purchase


class Family(NamedTuple):
    """Families of instance types that share a quota of vCPUs."""

    on_demand: str
    """The code of the quota on demand."""
    spot: str


_FAMILIES = {
    ("g", "gr", "vt"): Family("L-DB2E81BA", "L-3819A6DF"),
    ("p",): Family("L-417A185B", "L-7212CCBC"),
    ("trn",): Family("L-2C3B7624", "L-5480EFD2"),
    ("inf",): Family("L-1945791B", "L-B5D1601B"),
    ("dl",): Family("L-6E869C2A", "L-85EED4F7"),
    ("a", "c", "d", "h", "i", "im", "is", "m", "r", "t", "z"): Family("L-1216C47A", "L-34B43A08"),
}
CODES = {
    code: purchase
    for family in _FAMILIES.values()
    for code, purchase in zip(family, (Purchase.ON_DEMAND, Purchase.SPOT), strict=True)
}
"""The codes of all quotas that trainings count under, and which purchases they are about."""
_NAME = re.compile(r"(?P<family>[a-z]+)\d[a-z0-9-]*\.(?P<size>[a-z0-9-]+)")
_SIZES = {"nano": 2, "micro": 2, "small": 2, "medium": 2, "large": 2, "xlarge": 4}
_XLARGE = re.compile(r"(\d+)xlarge")


def family_of(instance_type: str) -> Family | None:
    """Return the family that a type counts under; None for a name that is no type's, or of a family not known here."""
    match = _NAME.fullmatch(instance_type)
    return next((one for names, one in _FAMILIES.items() if match and match["family"] in names), None)


def vcpus(instance_type: str) -> int | None:
    """Return how many vCPUs an instance has, as its shape or the size in its name says; None where neither does."""
    known = shape(instance_type)
    if known is not None:
        return known.vcpus
    match = _NAME.fullmatch(instance_type)
    if match is None:
        return None
    times = _XLARGE.fullmatch(match["size"])
    return 4 * int(times[1]) if times else _SIZES.get(match["size"])


def quota_of(instance_type: str, purchase: Purchase) -> str | None:
    """Return the code of the quota that a type counts under; None where it is not known."""
    family = family_of(instance_type)
    if family is None:
        return None
    return family.spot if purchase is Purchase.SPOT else family.on_demand


def is_arm(instance_type: str) -> bool:
    """Return whether a type has AWS's own processors: a `g` in its name, after the number."""
    return re.match(r"[a-z]+\d+[a-z]*g[a-z]*\.", instance_type) is not None and not re.match(r"g\d", instance_type)
