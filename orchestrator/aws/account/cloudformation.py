"""CloudFormation in one Region: stacks, what a template would change of them, and what has become of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from orchestrator.aws.errors import aws_code, aws_errors
from orchestrator.errors import InvalidRequest, SweepError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.aws.session import Clients

REVIEW = "REVIEW_IN_PROGRESS"
"""The state of a stack that has nothing yet but proposals."""
_NOTHING_NEW = ("didn't contain changes", "No updates are to be performed")


@dataclass(frozen=True)
class Stack:
    """A stack as it stands."""

    name: str
    region: str
    id: str
    status: str
    reason: str = ""
    outputs: Mapping[str, str] = field(default_factory=dict)
    changed_at: datetime | None = None
    """When its last change began, or it was made."""

    @property
    def is_busy(self) -> bool:
        """True while CloudFormation works on it."""
        return self.status.endswith("_IN_PROGRESS") and self.status != REVIEW

    @property
    def is_new(self) -> bool:
        """True for a stack in which nothing has ever been made."""
        return self.status == REVIEW

    @property
    def is_well(self) -> bool:
        """True when its last change went through."""
        return self.status in ("CREATE_COMPLETE", "UPDATE_COMPLETE", "IMPORT_COMPLETE")


@dataclass(frozen=True)
class Change:
    """What a proposal would do to one resource."""

    action: str
    """Add, Import, Modify or Remove."""
    resource: str
    """The resource's name in the template."""
    type: str
    physical: str
    properties: tuple[str, ...]
    is_replaced: bool
    """True if another resource would take its place."""


@dataclass(frozen=True)
class Proposal:
    """A change set: what a template would change of a stack. Nothing happens before it is executed."""

    id: str
    stack: str
    changes: tuple[Change, ...]
    is_pending: bool
    """True while CloudFormation still works it out."""
    is_empty: bool
    """True when the template changes nothing."""
    failure: str = ""
    """The reason why it can never be executed."""


@dataclass(frozen=True)
class Resource:
    """A resource that a stack has."""

    name: str
    type: str
    physical: str
    status: str


@dataclass(frozen=True)
class Drift:
    """A resource that is no longer as its stack made it."""

    resource: str
    type: str
    physical: str
    is_gone: bool
    properties: tuple[str, ...]
    """The paths of properties that somebody has changed."""


class Stacks:
    """The stacks of this account in one Region."""

    def __init__(self, clients: Clients, region: str) -> None:
        self._clients = clients
        self.region = region

    def find(self, key: str) -> Stack | None:
        """Return the stack of this name or id; None when there is none."""
        try:
            with aws_errors(f"look at the stack {key}", where=self.region):
                (found,) = self._client.describe_stacks(StackName=key)["Stacks"]
        except InvalidRequest as error:
            if "does not exist" in error.message:
                return None
            raise
        outputs = {each["OutputKey"]: each["OutputValue"] for each in found.get("Outputs", ())}
        reason = found.get("StackStatusReason", "")
        began = found.get("LastUpdatedTime") or found.get("CreationTime")
        return Stack(
            found["StackName"],
            self.region,
            found["StackId"],
            found["StackStatus"],
            reason,
            outputs,
            began.astimezone(timezone.utc) if began else None,
        )

    def propose(self, stack: str, name: str, template: str, *, is_new: bool, reverts_drift: bool = False) -> str:
        """Ask what a template would change of a stack, and return the proposal's id.

        Asking again under the same name finds the same proposal. What holds data and is there already, as after a stack
        that went, is taken in; but not where the proposal is to put back what somebody has changed by hand. Raise
        UsageError if boto3 is too old for that.
        """
        how: dict[str, Any] = {"ImportExistingResources": True}
        if reverts_drift:
            self._check_reverts_drift()
            how = {"DeploymentMode": "REVERT_DRIFT"}
        try:
            with aws_errors(f"propose changes to the stack {stack}", where=self.region):
                made = self._client.create_change_set(
                    StackName=stack,
                    ChangeSetName=name,
                    ChangeSetType="CREATE" if is_new else "UPDATE",
                    TemplateBody=template,
                    Capabilities=["CAPABILITY_NAMED_IAM"],
                    **how,
                )
        except SweepError as error:
            if aws_code(error) != "AlreadyExistsException":
                raise
            with aws_errors(f"find the proposal {name}", where=self.region):
                made = self._client.describe_change_set(StackName=stack, ChangeSetName=name)
                return str(made["ChangeSetId"])
        return str(made["Id"])

    def _check_reverts_drift(self) -> None:
        asked = self._client.meta.service_model.operation_model("CreateChangeSet").input_shape
        if "DeploymentMode" not in asked.members:
            raise UsageError(
                "this boto3 does not know change sets that revert drift", hint="pip install --upgrade boto3"
            )

    def proposal(self, id_: str) -> Proposal:
        """Return a proposal as it stands."""
        changes: list[Change] = []
        asked: dict[str, Any] = {"ChangeSetName": id_}
        with aws_errors("look at a proposal", where=self.region):
            while True:
                page = self._client.describe_change_set(**asked)
                changes += [_change(each["ResourceChange"]) for each in page.get("Changes", ())]
                if "NextToken" not in page:
                    break
                asked["NextToken"] = page["NextToken"]
        reason = page.get("StatusReason", "")
        failed = page["Status"] == "FAILED"
        is_empty = failed and any(words in reason for words in _NOTHING_NEW)
        is_pending = page["Status"] in ("CREATE_PENDING", "CREATE_IN_PROGRESS")
        failure = (reason or "CloudFormation does not say why") if failed and not is_empty else ""
        return Proposal(id_, page["StackName"], tuple(changes), is_pending, is_empty, failure)

    def execute(self, proposal: Proposal) -> None:
        """Begin to carry a proposal out. Raise InvalidRequest if somebody else changes the stack, or has changed it."""
        with aws_errors(f"change the stack {proposal.stack}", where=self.region):
            self._client.execute_change_set(ChangeSetName=proposal.id)

    def drop(self, proposal: Proposal) -> None:
        """Take a proposal back."""
        with aws_errors(f"drop a proposal for {proposal.stack}", where=self.region):
            self._client.delete_change_set(ChangeSetName=proposal.id)

    def delete(self, key: str) -> None:
        """Begin to delete a stack, and what of it is not to stay."""
        with aws_errors(f"delete the stack {key}", where=self.region):
            self._client.delete_stack(StackName=key)

    def failures(self, key: str) -> list[str]:
        """Return why the newest change of a stack failed, a line a resource, the first to fail first."""
        with aws_errors(f"ask what became of {key}", where=self.region):
            events = self._client.describe_stack_events(StackName=key)["StackEvents"]
        found = []
        for event in events:
            if (
                event["LogicalResourceId"] == event["StackName"]
                and event.get("ResourceStatusReason") == "User Initiated"
            ):
                break
            reason = event.get("ResourceStatusReason", "")
            if event["ResourceStatus"].endswith("_FAILED") and "cancelled" not in reason:
                found.append(f"{event['LogicalResourceId']} ({event['ResourceType']}): {reason}")
        return found[::-1]

    def resources(self, key: str) -> list[Resource]:
        """Return what a stack has."""
        with aws_errors(f"list what the stack {key} has", where=self.region):
            found = self._client.describe_stack_resources(StackName=key)["StackResources"]
        return [
            Resource(
                each["LogicalResourceId"],
                each["ResourceType"],
                each.get("PhysicalResourceId", ""),
                each["ResourceStatus"],
            )
            for each in found
        ]

    def template(self, key: str) -> Any:
        """Return the template that a stack was made from, as a value."""
        with aws_errors(f"read the template of {key}", where=self.region):
            return self._client.get_template(StackName=key)["TemplateBody"]

    def look_for_drift(self, key: str) -> str:
        """Begin to compare a stack's resources with its template; return the look's id."""
        with aws_errors(f"look for drift of {key}", where=self.region):
            return str(self._client.detect_stack_drift(StackName=key)["StackDriftDetectionId"])

    def has_looked(self, look: str) -> bool:
        """Return whether a look for drift has come to its end."""
        with aws_errors("look for drift", where=self.region):
            found = self._client.describe_stack_drift_detection_status(StackDriftDetectionId=look)
        return bool(found["DetectionStatus"] != "DETECTION_IN_PROGRESS")

    def drifts(self, key: str) -> list[Drift]:
        """Return what the newest look for drift has found."""
        found: list[Drift] = []
        asked: dict[str, Any] = {"StackName": key, "StackResourceDriftStatusFilters": ["MODIFIED", "DELETED"]}
        with aws_errors(f"ask how {key} has drifted", where=self.region):
            while True:
                page = self._client.describe_stack_resource_drifts(**asked)
                found += map(_drift, page["StackResourceDrifts"])
                if "NextToken" not in page:
                    return found
                asked["NextToken"] = page["NextToken"]

    @property
    def _client(self) -> Any:
        return self._clients.client("cloudformation", self.region)


def _change(body: Mapping[str, Any]) -> Change:
    targets = (detail["Target"] for detail in body.get("Details", ()))
    names = {str(target["Name"]) for target in targets if target.get("Name")}
    return Change(
        body["Action"],
        body["LogicalResourceId"],
        body["ResourceType"],
        body.get("PhysicalResourceId", ""),
        tuple(sorted(names)),
        body.get("Replacement") == "True",
    )


def _drift(body: Mapping[str, Any]) -> Drift:
    return Drift(
        body["LogicalResourceId"],
        body["ResourceType"],
        body.get("PhysicalResourceId", ""),
        body["StackResourceDriftStatus"] == "DELETED",
        tuple(each["PropertyPath"] for each in body.get("PropertyDifferences", ())),
    )
