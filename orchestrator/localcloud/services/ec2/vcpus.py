"""EC2's quotas: how many vCPUs of a family's instances an account may run in a Region, on demand or spot.

https://docs.aws.amazon.com/ec2/latest/instancetypes/ec2-instance-quotas.html
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from orchestrator.localcloud.services.market.price_table import VCPUS

COUNTED_FOR_S = 20.0
"""Seconds for which an instance counts that has just been terminated. AWS says that it may, and not for how long."""


@dataclass(frozen=True)
class _Bucket:
    """Families of instance types that share a quota."""

    words: str
    """The families, as the quota's name has them."""
    families: tuple[str, ...]
    on_demand: str
    """The code of the quota of instances on demand."""
    spot: str
    """The code of the quota of spot requests."""
    granted: int
    """The vCPUs that this account has been granted."""


_BUCKETS = (
    _Bucket("G and VT", ("g", "vt"), "L-DB2E81BA", "L-3819A6DF", 192),
    _Bucket("P", ("p",), "L-417A185B", "L-7212CCBC", 384),
    _Bucket("Trn", ("trn",), "L-2C3B7624", "L-5480EFD2", 256),
    _Bucket("Inf", ("inf",), "L-1945791B", "L-B5D1601B", 96),
    _Bucket("DL", ("dl",), "L-6E869C2A", "L-85EED4F7", 96),
    _Bucket(
        "Standard (A, C, D, H, I, M, R, T, Z)",
        ("a", "c", "d", "h", "i", "m", "r", "t", "z"),
        "L-1216C47A",
        "L-34B43A08",
        256,
    ),
)


@dataclass(frozen=True)
class VcpuKey:
    """What a quota is about: a bucket of families in a Region, on demand or spot."""

    region: str
    bucket: _Bucket
    spot: bool

    @classmethod
    def of(cls, region: str, instance_type: str, *, spot: bool) -> VcpuKey:
        """Return the quota that an instance type counts under."""
        letters = re.match(r"[a-z]+", instance_type)
        found = next((each for each in _BUCKETS if letters and letters[0] in each.families), _BUCKETS[-1])
        return cls(region, found, spot)

    @property
    def name(self) -> str:
        """The quota's name in Service Quotas."""
        words = self.bucket.words
        return f"All {words} Spot Instance Requests" if self.spot else f"Running On-Demand {words} instances"

    @property
    def code(self) -> str:
        """The quota's code in Service Quotas."""
        return self.bucket.spot if self.spot else self.bucket.on_demand


@dataclass
class VcpuQuotas:
    """The account's vCPU quotas in all Regions."""

    _changed: dict[VcpuKey, int] = field(default_factory=dict)

    def limit(self, key: VcpuKey) -> int:
        """Return how many vCPUs the account may run."""
        return self._changed.get(key, key.bucket.granted)

    def set(self, key: VcpuKey, value: int) -> None:
        """Change how many vCPUs the account may run."""
        self._changed[key] = value


def all_keys(region: str) -> list[VcpuKey]:
    """Return what a Region has quotas for."""
    return [VcpuKey(region, bucket, spot) for bucket in _BUCKETS for spot in (False, True)]


def vcpus_of(instance_type: str) -> int | None:
    """Return the vCPUs of an instance type; None of one that there is not."""
    return VCPUS.get(instance_type)
