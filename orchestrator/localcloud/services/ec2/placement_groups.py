"""Placement groups of one Region.

https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-groups.html
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.http.answers import AwsError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.localcloud.services.ec2.instance import Instance

_STRATEGIES = ("cluster", "spread", "partition")
_MOST = 500
"""The placement groups that a Region takes: .../general/latest/gr/ec2-service.html."""


@dataclass(frozen=True)
class PlacementGroup:
    """Instances that are to lie close together, or apart."""

    id: str
    name: str
    strategy: str


class PlacementGroups:
    """The placement groups of one Region. It knows names; who guards instances calls it."""

    def __init__(self) -> None:
        self._groups: dict[str, PlacementGroup] = {}

    def create(self, name: str, strategy: str) -> PlacementGroup:
        """Make a group. Raise AwsError when the name is taken."""
        if strategy not in _STRATEGIES:
            raise AwsError("InvalidParameterValue", f"Value ({strategy}) for parameter strategy is invalid.")
        if name in self._groups:
            raise AwsError("InvalidPlacementGroup.Duplicate", f"The Placement Group '{name}' already exists.")
        if len(self._groups) >= _MOST:
            raise AwsError("PlacementGroupLimitExceeded", "The maximum number of placement groups has been reached.")
        self._groups[name] = PlacementGroup(f"pg-0{secrets.token_hex(8)}", name, strategy)
        return self._groups[name]

    def delete(self, name: str, instances: Iterable[Instance]) -> PlacementGroup:
        """Remove a group in which no instance is, and return it. Raise AwsError for any other."""
        self.check(name)
        if any(each.reservation.placement_group == name and each.state != "terminated" for each in instances):
            raise AwsError(
                "InvalidPlacementGroup.InUse", f"The placement group '{name}' is in use and may not be deleted."
            )
        return self._groups.pop(name)

    def check(self, name: str) -> None:
        """Raise AwsError for a name that no group has."""
        if name not in self._groups:
            raise AwsError("InvalidPlacementGroup.Unknown", f"The Placement Group '{name}' is unknown.")

    def find(self, names: list[str]) -> list[PlacementGroup]:
        """Return the groups of some names, or all. Raise AwsError for a name that no group has."""
        for name in names:
            self.check(name)
        return [each for each in self._groups.values() if not names or each.name in names]

    def id_of(self, name: str) -> str | None:
        """Return a group's id; None when there is none of this name."""
        found = self._groups.get(name)
        return found.id if found else None

    def has_id(self, group: str) -> bool:
        """Return whether a group has this id."""
        return any(each.id == group for each in self._groups.values())


def show(group: PlacementGroup, arn: str, tags: dict[str, str]) -> dict[str, Any]:
    """Return a group as DescribePlacementGroups shows it."""
    return {
        "GroupName": group.name,
        "State": "available",
        "Strategy": group.strategy,
        "GroupId": group.id,
        "GroupArn": arn,
        "Tags": [{"Key": key, "Value": value} for key, value in tags.items()],
    }
