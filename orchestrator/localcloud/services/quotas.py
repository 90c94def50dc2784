"""Quotas: how many instances of a type an account may hold in a Region.

SageMaker and EC2 keep to them, and Service Quotas shows them (market/service_quotas.py). AWS grants a new account few
or none. This is an account whose quotas have been raised; `sweep local fault quota` lowers one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from orchestrator.localcloud.services.ec2.vcpus import VcpuQuotas

_GRANTED = {"p": 32, "trn": 32, "g": 100}
"""What is granted to a family of instance types, by its letters; all other families have many."""
_MANY = 500


@dataclass(frozen=True)
class QuotaKey:
    """What a quota is about: an instance type in a Region, on demand or spot."""

    region: str
    instance_type: str
    spot: bool

    @property
    def name(self) -> str:
        """The quota's name, as Service Quotas and SageMaker's refusals write it."""
        return f"{self.instance_type} for {'spot ' if self.spot else ''}training job usage"


@dataclass
class Quotas:
    """The account's quotas in all Regions."""

    _changed: dict[QuotaKey, int] = field(default_factory=dict)
    vcpus: VcpuQuotas = field(default_factory=VcpuQuotas)
    """EC2's, which count vCPUs."""

    def limit(self, key: QuotaKey) -> int:
        """Return how many instances the account may hold."""
        return self._changed.get(key, default_limit(key.instance_type))

    def set(self, key: QuotaKey, value: int) -> None:
        """Change how many instances the account may hold."""
        self._changed[key] = value


def default_limit(instance_type: str) -> int:
    """Return how many instances of a type the account may hold while nobody changes that."""
    family = re.match(r"(?:ml\.)?([a-z]+)", instance_type)
    return _GRANTED.get(family[1], _MANY) if family else _MANY


def exceeded_message(key: QuotaKey, limit: int, used: int, asked: int) -> str:
    """Return the words with which SageMaker refuses a training that would exceed a quota."""
    return (
        f"The account-level service limit '{key.name}' is {limit} Instances, with current utilization of {used} "
        f"Instances and a request delta of {asked} Instances. Please use AWS Service Quotas to request an increase "
        "for this quota. If AWS Service Quotas is not available, contact AWS support to request an increase for this "
        "quota."
    )
