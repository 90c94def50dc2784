"""How many instances of a type an account may hold in a Region: SageMaker keeps to it, Service Quotas tells it.

AWS grants a new account few or none. This is an account whose quotas have been raised; `sweep local fault quota` lowers
one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_GRANTED = {"p": 32, "trn": 32, "g": 100}
"""By the family's letters; all others have many."""
_MANY = 500


@dataclass(frozen=True)
class Line:
    """What a quota is about."""

    region: str
    instance_type: str
    spot: bool

    @property
    def name(self) -> str:
        """As Service Quotas and the refusals of SageMaker write it."""
        return f"{self.instance_type} for {'spot ' if self.spot else ''}training job usage"


@dataclass
class Quotas:
    _set: dict[Line, int] = field(default_factory=dict)

    def of(self, line: Line) -> int:
        return self._set.get(line, default(line.instance_type))

    def set(self, line: Line, value: int) -> None:
        self._set[line] = value


def default(instance_type: str) -> int:
    family = re.match(r"(?:ml\.)?([a-z]+)", instance_type)
    return _GRANTED.get(family[1], _MANY) if family else _MANY


def exceeded(line: Line, limit: int, used: int, asked: int) -> str:
    """SageMaker's words."""
    return (
        f"The account-level service limit '{line.name}' is {limit} Instances, with current utilization of {used} "
        f"Instances and a request delta of {asked} Instances. Please use AWS Service Quotas to request an increase "
        "for this quota. If AWS Service Quotas is not available, contact AWS support to request an increase for this "
        "quota."
    )
