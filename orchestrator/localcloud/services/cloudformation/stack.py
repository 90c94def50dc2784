"""Stacks, their resources and change sets, and what has happened to them, as CloudFormation tells of them."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from orchestrator.localcloud.services.cloudformation.template import Template

REVIEW = "REVIEW_IN_PROGRESS"
"""The state of a stack that has a change set, and nothing else yet."""
CHANGEABLE = (
    "CREATE_COMPLETE",
    "UPDATE_COMPLETE",
    "UPDATE_ROLLBACK_COMPLETE",
    "IMPORT_COMPLETE",
    "IMPORT_ROLLBACK_COMPLETE",
)
"""The states in which a stack may be updated."""


@dataclass
class Resource:
    """A resource that a stack has."""

    logical: str
    type: str
    physical: str
    properties: dict[str, Any]
    """What was asked for, with everything replaced that stood for something else."""
    deletion: str
    status: str = "CREATE_COMPLETE"
    at: float = 0.0


@dataclass(frozen=True)
class Change:
    """What becomes of one resource."""

    action: str
    logical: str
    type: str
    physical: str = ""
    replacement: str = ""
    properties: tuple[str, ...] = ()
    """The properties that change, for a resource that is modified."""

    def describe(self) -> dict[str, Any]:
        """Return the change as DescribeChangeSet shows it."""
        shown: dict[str, Any] = {
            "Action": self.action,
            "LogicalResourceId": self.logical,
            "ResourceType": self.type,
            "PhysicalResourceId": self.physical,
            "Replacement": self.replacement,
            "Scope": ["Properties"] if self.properties else [],
            "Details": [{"Target": {"Attribute": "Properties", "Name": name}} for name in self.properties],
        }
        return {"Type": "Resource", "ResourceChange": {key: value for key, value in shown.items() if value}}


@dataclass
class ChangeSet:
    """Changes to a stack that somebody may carry out."""

    name: str
    id: str
    type: str
    template: Template
    tags: list[dict[str, str]]
    changes: tuple[Change, ...]
    status: str
    reason: str
    execution: str
    at: float


@dataclass
class Stack:
    """A stack, from its first change set to its end."""

    name: str
    id: str
    status: str = REVIEW
    reason: str = ""
    template: Template = field(default_factory=Template.empty)
    tags: list[dict[str, str]] = field(default_factory=list)
    outputs: dict[str, str] = field(default_factory=dict)
    resources: dict[str, Resource] = field(default_factory=dict)
    change_sets: dict[str, ChangeSet] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)
    """The newest last."""
    created: float = 0.0
    updated: float | None = None

    @property
    def gone(self) -> bool:
        """True once it is deleted: then only its id finds it."""
        return self.status == "DELETE_COMPLETE"

    @property
    def busy(self) -> bool:
        """True while something changes it."""
        return self.status.endswith("_IN_PROGRESS") and self.status != REVIEW

    def move(self, status: str, now: float, reason: str = "") -> None:
        """Change the stack's state, and tell it."""
        self.status, self.reason = status, reason
        self.tell(self.name, "AWS::CloudFormation::Stack", self.id, status, now, reason)

    def tell(self, logical: str, type_: str, physical: str, status: str, now: float, reason: str = "") -> None:
        """Add an event."""
        self.events.append(
            {
                "StackId": self.id,
                "EventId": str(uuid.uuid4()),
                "StackName": self.name,
                "LogicalResourceId": logical,
                "PhysicalResourceId": physical,
                "ResourceType": type_,
                "Timestamp": iso(now),
                "ResourceStatus": status,
                **({"ResourceStatusReason": reason} if reason else {}),
            }
        )

    def describe(self) -> dict[str, Any]:
        """Return the stack as DescribeStacks shows it."""
        shown: dict[str, Any] = {
            "StackId": self.id,
            "StackName": self.name,
            "Description": self.template.description,
            "CreationTime": iso(self.created),
            "StackStatus": self.status,
            "StackStatusReason": self.reason,
            "Capabilities": ["CAPABILITY_NAMED_IAM"] if self.template.makes_named_roles else [],
            "Outputs": [{"OutputKey": key, "OutputValue": value} for key, value in self.outputs.items()],
            "Tags": self.tags,
            "DisableRollback": "false",
            "EnableTerminationProtection": "false",
        }
        if self.updated is not None:
            shown["LastUpdatedTime"] = iso(self.updated)
        return {key: value for key, value in shown.items() if value not in ("", [])}


def iso(moment: float) -> str:
    """Return a moment as CloudFormation writes it."""
    return datetime.fromtimestamp(moment, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
