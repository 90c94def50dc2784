"""Finds the resources of a stack that differ from what was asked for."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.cloudformation.kinds import KINDS
from orchestrator.localcloud.services.cloudformation.kinds.kind import differences
from orchestrator.localcloud.services.cloudformation.stack import iso

if TYPE_CHECKING:
    from orchestrator.localcloud.services.cloudformation.caller import Caller
    from orchestrator.localcloud.services.cloudformation.stack import Resource, Stack


@dataclass
class Detection:
    """One look at all resources of a stack."""

    id: str
    stack: str
    at: float
    drifts: list[dict[str, Any]] = field(default_factory=list)

    @property
    def drifted(self) -> int:
        """The number of resources that are not as they were asked for."""
        return sum(drift["StackResourceDriftStatus"] != "IN_SYNC" for drift in self.drifts)

    def describe(self) -> dict[str, Any]:
        """Return the look as DescribeStackDriftDetectionStatus shows it."""
        return {
            "StackId": self.stack,
            "StackDriftDetectionId": self.id,
            "StackDriftStatus": "DRIFTED" if self.drifted else "IN_SYNC",
            "DetectionStatus": "DETECTION_COMPLETE",
            "DriftedStackResourceCount": self.drifted,
            "Timestamp": iso(self.at),
        }


def look(stack: Stack, caller: Caller, now: float) -> list[dict[str, Any]]:
    """Return how each resource of a stack stands, as DescribeStackResourceDrifts shows it."""
    return [_drift(stack, resource, caller, now) for resource in stack.resources.values()]


def _drift(stack: Stack, resource: Resource, caller: Caller, now: float) -> dict[str, Any]:
    there = KINDS[resource.type].read(caller, resource.physical)
    paths = [] if there is None else differences(resource.properties, there)
    status = "DELETED" if there is None else "MODIFIED" if paths else "IN_SYNC"
    return {
        "StackId": stack.id,
        "LogicalResourceId": resource.logical,
        "PhysicalResourceId": resource.physical,
        "ResourceType": resource.type,
        "ExpectedProperties": json.dumps(resource.properties),
        "PropertyDifferences": [
            {
                "PropertyPath": path,
                "ExpectedValue": str(_at(resource.properties, path)),
                "ActualValue": str(_at(there or {}, path)),
                "DifferenceType": "NOT_EQUAL",
            }
            for path in paths
        ],
        "StackResourceDriftStatus": status,
        "Timestamp": iso(now),
    }


def _at(value: Any, path: str) -> Any:
    """Return what lies at a path; None where there is nothing."""
    for part in path.split("/")[1:]:
        if isinstance(value, list):
            value = value[int(part)] if int(part) < len(value) else None
        else:
            value = value.get(part) if isinstance(value, dict) else None
    return value
