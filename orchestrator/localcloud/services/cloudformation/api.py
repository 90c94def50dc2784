"""The operations of CloudFormation in one Region."""

from __future__ import annotations

import logging
import threading
import uuid
from functools import partial
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.http.answers import AwsError
from orchestrator.localcloud.services.cloudformation import drift
from orchestrator.localcloud.services.cloudformation.changes import find_changes, revert_drift
from orchestrator.localcloud.services.cloudformation.drift import Detection
from orchestrator.localcloud.services.cloudformation.execution import Execution
from orchestrator.localcloud.services.cloudformation.intrinsics import resolve
from orchestrator.localcloud.services.cloudformation.stack import CHANGEABLE, REVIEW, ChangeSet, Stack, iso
from orchestrator.localcloud.services.cloudformation.template import Template, refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.localcloud.services.cloudformation.caller import Caller
    from orchestrator.localcloud.site import Site

log = logging.getLogger(__name__)

Body = dict[str, Any]
_NOTHING_NEW = "The submitted information didn't contain changes. Submit different information to create a change set."


class CloudFormation:
    """CloudFormation in one Region. Each operation is a method: it has boto3's name, takes a request, and answers."""

    def __init__(self, site: Site, region: str, caller: Caller) -> None:
        self._arn = partial(site.arn, "cloudformation", region)
        self._now = site.clock.now
        self._caller = caller
        self._stacks: list[Stack] = []
        self._detections: dict[str, Detection] = {}
        self._lock = threading.RLock()

    # Change sets

    def create_change_set(self, body: Body) -> Body:
        if "TemplateBody" not in body:
            raise AwsError("UnsupportedOperation", "the local cloud takes templates as TemplateBody only")
        template = Template.read(body["TemplateBody"])
        _ = template.in_order  # refuses circles
        if template.makes_named_roles and "CAPABILITY_NAMED_IAM" not in _members(body, "Capabilities"):
            raise AwsError("InsufficientCapabilitiesException", "Requires capabilities : [CAPABILITY_NAMED_IAM]")
        kind, name = body.get("ChangeSetType", "UPDATE"), body["ChangeSetName"]
        with self._lock:
            stack = self._stack_for_changes(body["StackName"], kind)
            if name in stack.change_sets:
                raise AwsError("AlreadyExistsException", f"ChangeSet {name} already exists for stack {stack.name}")
            tags = _members(body, "Tags")
            adopt = body.get("ImportExistingResources") == "true"
            changes = self._changes(stack, template, adopt=adopt)
            if body.get("DeploymentMode") == "REVERT_DRIFT":
                changes = self._with_drift(stack, template, changes)
            is_new = bool(changes) or tags != stack.tags or template.outputs != stack.template.outputs
            stack.change_sets[name] = made = ChangeSet(
                name=name,
                id=self._arn(f"changeSet/{name}/{uuid.uuid4()}"),
                type=kind,
                template=template,
                tags=tags,
                changes=tuple(changes),
                status="CREATE_COMPLETE" if is_new else "FAILED",
                reason="" if is_new else _NOTHING_NEW,
                execution="AVAILABLE" if is_new else "UNAVAILABLE",
                at=self._now(),
            )
        return {"Id": made.id, "StackId": stack.id}

    def _stack_for_changes(self, name: str, kind: str) -> Stack:
        """Return the stack that a change set is for. Raise the refusal of one that cannot be changed now."""
        found = self._find(name)
        if kind == "CREATE" and found is None:
            found = Stack(name, self._arn(f"stack/{name}/{uuid.uuid4()}"), created=self._now())
            found.move(REVIEW, self._now(), "User Initiated")
            self._stacks.append(found)
        elif found is None:
            raise _no_stack(name)
        elif kind == "CREATE" and found.status != REVIEW:
            raise refusal(f"Stack [{name}] already exists and cannot be created again with the changeSet.")
        elif kind == "UPDATE" and found.status not in CHANGEABLE:
            raise refusal(f"Stack:{found.id} is in {found.status} state and can not be updated.")
        return found

    def _changes(self, stack: Stack, template: Template, *, adopt: bool) -> list[Any]:
        caller = self._caller.on_behalf()
        scope = Execution(stack, caller, self._now).scope()
        return find_changes(stack, template, caller, lambda value: resolve(value, scope), adopt=adopt)

    def _with_drift(self, stack: Stack, template: Template, changes: list[Any]) -> list[Any]:
        """Return the changes, and those that bring back what is no longer as the stack made it."""
        drifts = drift.look(stack, self._caller.on_behalf(), self._now())
        return [*changes, *revert_drift(drifts, {change.logical for change in changes}, template)]

    def describe_change_set(self, body: Body) -> Body:
        stack, found = self._change_set(body)
        return {
            "ChangeSetName": found.name,
            "ChangeSetId": found.id,
            "StackId": stack.id,
            "StackName": stack.name,
            "CreationTime": iso(found.at),
            "ExecutionStatus": found.execution,
            "Status": found.status,
            "StatusReason": found.reason,
            "Tags": found.tags,
            "Changes": [change.describe() for change in found.changes],
        }

    def execute_change_set(self, body: Body) -> Body:
        with self._lock:
            stack, found = self._change_set(body)
            if found.execution != "AVAILABLE":
                raise AwsError(
                    "InvalidChangeSetStatus",
                    f"ChangeSet [{found.id}] cannot be executed in its current status of [{found.execution}]",
                )
            if stack.busy:
                raise refusal(f"Stack:{stack.id} is in {stack.status} state and can not be updated.")
            found.execution = "EXECUTE_IN_PROGRESS"
            for other in stack.change_sets.values():
                if other is not found:
                    other.execution = "OBSOLETE"
            stack.updated = None if found.type == "CREATE" else self._now()
            stack.move(f"{found.type}_IN_PROGRESS", self._now(), "User Initiated")
        execution = Execution(stack, self._caller.on_behalf(), self._now)
        self._start(stack, lambda: self._execute(execution, found))
        return {}

    def _execute(self, execution: Execution, change_set: ChangeSet) -> None:
        execution.run(change_set)
        with self._lock:
            execution.stack.change_sets.clear()

    def delete_change_set(self, body: Body) -> Body:
        with self._lock:
            stack, found = self._change_set(body)
            if found.execution == "EXECUTE_IN_PROGRESS":
                raise AwsError("InvalidChangeSetStatus", f"ChangeSet [{found.id}] is being executed")
            del stack.change_sets[found.name]
        return {}

    def _change_set(self, body: Body) -> tuple[Stack, ChangeSet]:
        key = body["ChangeSetName"]
        for stack in self._stacks if key.startswith("arn:") else [self._stack(body["StackName"])]:
            for each in stack.change_sets.values():
                if key in (each.name, each.id):
                    return stack, each
        raise AwsError("ChangeSetNotFound", f"ChangeSet [{key}] does not exist", 404)

    # Stacks

    def describe_stacks(self, body: Body) -> Body:
        with self._lock:
            chosen = (
                [self._stack(body["StackName"])] if "StackName" in body else [s for s in self._stacks if not s.gone]
            )
            return {"Stacks": [stack.describe() for stack in chosen]}

    def describe_stack_events(self, body: Body) -> Body:
        with self._lock:
            return {"StackEvents": self._stack(body["StackName"]).events[::-1]}

    def describe_stack_resources(self, body: Body) -> Body:
        with self._lock:
            stack = self._stack(body["StackName"])
            return {
                "StackResources": [
                    {
                        "StackName": stack.name,
                        "StackId": stack.id,
                        "LogicalResourceId": each.logical,
                        "PhysicalResourceId": each.physical,
                        "ResourceType": each.type,
                        "Timestamp": iso(each.at),
                        "ResourceStatus": each.status,
                    }
                    for each in stack.resources.values()
                ]
            }

    def get_template(self, body: Body) -> Body:
        return {"TemplateBody": self._stack(body["StackName"]).template.text, "StagesAvailable": ["Original"]}

    def delete_stack(self, body: Body) -> Body:
        with self._lock:
            stack = self._find(body["StackName"])
            if stack is None or stack.gone:
                return {}
            if stack.busy:
                raise refusal(f"Stack:{stack.id} is in {stack.status} state and can not be deleted.")
            stack.change_sets.clear()
            stack.move("DELETE_IN_PROGRESS", self._now(), "User Initiated")
        self._start(stack, Execution(stack, self._caller.on_behalf(), self._now).delete)
        return {}

    # Drift

    def detect_stack_drift(self, body: Body) -> Body:
        stack = self._stack(body["StackName"])
        if stack.busy or stack.status == REVIEW:
            raise refusal(f"Stack: {stack.name} is in {stack.status} state: drift cannot be detected")
        made = Detection(
            str(uuid.uuid4()), stack.id, self._now(), drift.look(stack, self._caller.on_behalf(), self._now())
        )
        self._detections[made.id] = made
        return {"StackDriftDetectionId": made.id}

    def describe_stack_drift_detection_status(self, body: Body) -> Body:
        found = self._detections.get(body["StackDriftDetectionId"])
        if found is None:
            raise refusal(f"Drift detection {body['StackDriftDetectionId']} does not exist")
        return found.describe()

    def describe_stack_resource_drifts(self, body: Body) -> Body:
        stack = self._stack(body["StackName"])
        wanted = _members(body, "StackResourceDriftStatusFilters")
        looks = [each for each in self._detections.values() if each.stack == stack.id]
        drifts = looks[-1].drifts if looks else []
        shown = [each for each in drifts if not wanted or each["StackResourceDriftStatus"] in wanted]
        return {"StackResourceDrifts": shown}

    # All of them

    def _find(self, key: str) -> Stack | None:
        """Return the stack of this name that is not gone, or the one of this id."""
        return next((one for one in self._stacks if one.id == key or (one.name == key and not one.gone)), None)

    def _stack(self, key: str) -> Stack:
        found = self._find(key)
        if found is None:
            raise _no_stack(key)
        return found

    def _start(self, stack: Stack, work: Callable[[], None]) -> None:
        """Have a thread do the work. Whatever becomes of it, the stack comes to an end."""

        def run() -> None:
            try:
                work()
            except Exception as error:
                log.exception("stack %s broke", stack.name)
                stack.move("ROLLBACK_FAILED", self._now(), f"the local cloud broke: {error!r}")

        threading.Thread(target=run, name=f"cloudformation {stack.name}", daemon=True).start()


def _no_stack(name: str) -> AwsError:
    return refusal(f"Stack with id {name} does not exist")


def _members(body: Body, name: str) -> list[Any]:
    """Return a list of a request; an empty one if it is not given."""
    found = body.get(name)
    return list(found["member"]) if isinstance(found, dict) else []
