"""Carries a change set out, resource by resource, and undoes it when one fails."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from orchestrator.localcloud.http.answers import AwsError
from orchestrator.localcloud.services.cloudformation.intrinsics import Scope, resolve
from orchestrator.localcloud.services.cloudformation.kinds import KINDS
from orchestrator.localcloud.services.cloudformation.kinds.kind import differences
from orchestrator.localcloud.services.cloudformation.stack import Resource

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.localcloud.services.cloudformation.caller import Caller
    from orchestrator.localcloud.services.cloudformation.stack import Change, ChangeSet, Stack
    from orchestrator.localcloud.services.cloudformation.template import Declared, Template

log = logging.getLogger(__name__)


_REFUSALS = (ClientError, BotoCoreError, AwsError)
"""What is raised where a service does not do what it is asked for."""


class StackFailed(Exception):
    """A resource that could not be made, changed or deleted, and why."""


@dataclass
class Execution:
    """One stack that is being changed. Nobody else changes it meanwhile."""

    stack: Stack
    caller: Caller
    now: Callable[[], float]

    def run(self, change_set: ChangeSet) -> None:
        """Carry a change set out, or undo it."""
        stack, is_new = self.stack, change_set.type == "CREATE"
        before = dict(stack.resources)
        old_template = stack.template
        word = "CREATE" if is_new else "UPDATE"
        planned = {change.logical: change for change in change_set.changes}
        try:
            for each in change_set.template.in_order:
                if each.logical in planned:
                    self._carry_out(planned[each.logical], each)
            outputs = {
                key: str(resolve(each["Value"], self.scope())) for key, each in change_set.template.outputs.items()
            }
        except StackFailed as failure:
            self._roll_back(str(failure), before, old_template, is_new=is_new)
            return
        stack.template, stack.tags, stack.outputs = change_set.template, change_set.tags, outputs
        for each in change_set.template.resources.values():
            stack.resources[each.logical].deletion = each.deletion
        if gone := [change for change in change_set.changes if change.action == "Remove"]:
            stack.move("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", self.now())
            self._clean_up([stack.resources[change.logical] for change in gone], old_template)
        stack.move(f"{word}_COMPLETE", self.now())

    def delete(self) -> None:
        """Delete the stack's resources, but those that are to stay."""
        stack, failed = self.stack, []
        for each in _last_first(list(stack.resources.values()), stack.template):
            if each.deletion != "Delete":
                self._tell(each, "DELETE_SKIPPED")
                del stack.resources[each.logical]
            elif reason := self._delete(each):
                failed.append(f"{each.logical}: {reason}")
        if failed:
            stack.move(
                "DELETE_FAILED", self.now(), f"The following resource(s) failed to delete: [{'; '.join(failed)}]."
            )
        else:
            stack.move("DELETE_COMPLETE", self.now())

    def scope(self) -> Scope:
        """Return what the stack's template may speak of."""
        resources = self.stack.resources
        return Scope(
            pseudo={
                "AWS::AccountId": self.caller.account,
                "AWS::Region": self.caller.region,
                "AWS::Partition": "aws",
                "AWS::URLSuffix": "amazonaws.com",
                "AWS::StackName": self.stack.name,
                "AWS::StackId": self.stack.id,
            },
            physical={name: each.physical for name, each in resources.items()},
            attribute=lambda name, what: KINDS[resources[name].type].attribute(
                self.caller, resources[name].physical, what
            ),
            zones=self._zones,
        )

    def _zones(self) -> list[str]:
        found = self.caller.client("ec2").describe_availability_zones()["AvailabilityZones"]
        return sorted(str(zone["ZoneName"]) for zone in found)

    # One resource

    def _carry_out(self, change: Change, declared: Declared) -> None:
        verb = {"Add": "CREATE", "Import": "IMPORT", "Modify": "UPDATE"}[change.action]
        there = self.stack.resources.get(change.logical)
        physical = change.physical or (there.physical if there else "")
        self.stack.tell(change.logical, change.type, physical, f"{verb}_IN_PROGRESS", self.now())
        try:
            wanted = resolve(declared.properties, self.scope())
            physical = self._apply(change, declared, wanted)
            if verb != "IMPORT":
                self._check_kept(declared, physical, wanted)
        except (*_REFUSALS, StackFailed, KeyError, TypeError, ValueError) as error:
            reason = _reason(error)
            self.stack.tell(change.logical, change.type, physical, f"{verb}_FAILED", self.now(), reason)
            raise StackFailed(f"The following resource(s) failed: [{change.logical}]. {reason}") from error
        self._note(declared, physical, wanted, f"{verb}_COMPLETE")

    def _apply(self, change: Change, declared: Declared, wanted: dict[str, Any]) -> str:
        """Make or change a resource, and return its physical id."""
        kind = KINDS[declared.type]
        if unknown := sorted(wanted.keys() - kind.properties):
            raise StackFailed(f"Encountered unsupported property {unknown[0]}")
        if change.action == "Import":
            return change.physical
        if change.action == "Modify" and change.replacement != "True":
            kind.update(self.caller, change.physical, wanted)
            return change.physical
        if change.action == "Modify" and kind.named_by and kind.named_by not in change.properties:
            raise StackFailed(
                "CloudFormation cannot update a stack when a custom-named resource requires replacing. "
                f"Rename {change.physical} and update the stack again."
            )
        physical = kind.create(self.caller, wanted)
        # It is noted at once: should a property fail, it is there to be taken away.
        self._note(declared, physical, wanted, "CREATE_IN_PROGRESS")
        kind.configure(self.caller, physical, wanted)
        return physical

    def _check_kept(self, declared: Declared, physical: str, wanted: dict[str, Any]) -> None:
        """Raise StackFailed unless the resource's own service tells every property as it was asked for."""
        there = KINDS[declared.type].read(self.caller, physical)
        if there is None:
            raise StackFailed(f"{physical} is not there, though it was made")
        if ignored := differences(wanted, there):
            raise StackFailed(f"Encountered unsupported property {ignored[0]}: {physical} does not have it so")

    def _note(self, declared: Declared, physical: str, wanted: dict[str, Any], status: str) -> None:
        now = self.now()
        self.stack.resources[declared.logical] = Resource(
            declared.logical, declared.type, physical, wanted, declared.deletion, status, now
        )
        if status.endswith("_COMPLETE"):
            self.stack.tell(declared.logical, declared.type, physical, status, now)

    def _delete(self, resource: Resource) -> str:
        """Delete a resource; return why that failed, or nothing."""
        self._tell(resource, "DELETE_IN_PROGRESS")
        try:
            KINDS[resource.type].delete(self.caller, resource.physical)
        except _REFUSALS as error:
            self._tell(resource, "DELETE_FAILED", _reason(error))
            return _reason(error)
        self._tell(resource, "DELETE_COMPLETE")
        self.stack.resources.pop(resource.logical, None)
        return ""

    def _tell(self, resource: Resource, status: str, reason: str = "") -> None:
        self.stack.tell(resource.logical, resource.type, resource.physical, status, self.now(), reason)

    # The way back

    def _roll_back(self, reason: str, before: dict[str, Resource], old: Template, *, is_new: bool) -> None:
        """Bring the stack back to what it was."""
        stack = self.stack
        stack.move("ROLLBACK_IN_PROGRESS" if is_new else "UPDATE_ROLLBACK_IN_PROGRESS", self.now(), reason)
        failed = []
        for each in reversed(list(stack.resources.values())):
            was = before.get(each.logical)
            if was is None:
                failed.append(self._take_back(each))
            elif each is not was:
                failed.append(self._change_back(each, was))
        stack.template = old
        word = "ROLLBACK" if is_new else "UPDATE_ROLLBACK"
        why = "; ".join(filter(None, failed))
        stack.move(f"{word}_FAILED" if why else f"{word}_COMPLETE", self.now(), why)

    def _take_back(self, resource: Resource) -> str:
        """Delete what was just made. What was imported stays, and what is to be kept whatever happens."""
        if resource.status.startswith("IMPORT") or resource.deletion == "Retain":
            del self.stack.resources[resource.logical]
            return ""
        return self._delete(resource)

    def _change_back(self, resource: Resource, was: Resource) -> str:
        try:
            if resource.physical == was.physical:
                KINDS[was.type].update(self.caller, was.physical, was.properties)
            else:
                KINDS[was.type].delete(self.caller, resource.physical)
        except _REFUSALS as error:
            return _reason(error)
        self.stack.resources[was.logical] = was
        return ""

    def _clean_up(self, resources: list[Resource], old: Template) -> None:
        for each in _last_first(resources, old):
            if each.deletion != "Delete":
                self._tell(each, "DELETE_SKIPPED")
                del self.stack.resources[each.logical]
            elif self._delete(each):
                log.warning("%s of stack %s stays behind", each.physical, self.stack.name)
                self.stack.resources.pop(each.logical, None)


def _last_first(resources: list[Resource], template: Template) -> list[Resource]:
    """Return resources in an order in which they can go: none before what needs it."""
    order = [each.logical for each in template.in_order] if template.resources else []
    return sorted(resources, key=lambda each: -order.index(each.logical) if each.logical in order else 1)


def _reason(error: Exception) -> str:
    if isinstance(error, ClientError):
        problem = error.response["Error"]
        return f"{problem.get('Message', '')} (Service: {error.operation_name}; Error Code: {problem.get('Code', '')})"
    if isinstance(error, AwsError):
        return error.message
    if isinstance(error, BotoCoreError):
        return f"Properties validation failed: {' '.join(str(error).split())}"
    return str(error) if isinstance(error, StackFailed) else f"Properties validation failed: {error!r}"
