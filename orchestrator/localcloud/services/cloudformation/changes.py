"""What a new template changes of a stack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.cloudformation.kinds import KINDS
from orchestrator.localcloud.services.cloudformation.kinds.kind import differences
from orchestrator.localcloud.services.cloudformation.stack import Change

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from orchestrator.localcloud.services.cloudformation.caller import Caller
    from orchestrator.localcloud.services.cloudformation.stack import Stack
    from orchestrator.localcloud.services.cloudformation.template import Declared, Template


def find_changes(
    stack: Stack, template: Template, caller: Caller, resolve: Callable[[Any], Any], *, adopt: bool
) -> list[Change]:
    """Return what a template changes of a stack. With `adopt`, what is there already is imported and not made.

    `resolve` fills in what is known before anything is made; the rest stays as it is written.
    """
    found = list(_of_declared(stack, template, caller, resolve, adopt))
    for logical, resource in stack.resources.items():
        if logical not in template.resources:
            found.append(Change("Remove", logical, resource.type, resource.physical))
    return found


def revert_drift(drifts: list[dict[str, Any]], changed: set[str], template: Template) -> Iterator[Change]:
    """Yield a change for each resource that drifted and does not change anyway: it is made anew, or changed back."""
    for each in drifts:
        logical, status = each["LogicalResourceId"], each["StackResourceDriftStatus"]
        if logical in changed or logical not in template.resources or status == "IN_SYNC":
            continue
        if status == "DELETED":
            yield Change("Add", logical, each["ResourceType"])
            continue
        names = dict.fromkeys(path["PropertyPath"].split("/")[1] for path in each["PropertyDifferences"])
        yield Change("Modify", logical, each["ResourceType"], each["PhysicalResourceId"], "False", tuple(names))


def _of_declared(
    stack: Stack, template: Template, caller: Caller, resolve: Callable[[Any], Any], adopt: bool
) -> Iterator[Change]:
    for each in template.resources.values():
        there = stack.resources.get(each.logical)
        if there is None:
            physical = _existing(each, caller, resolve) if adopt else ""
            yield Change("Import" if physical else "Add", each.logical, each.type, physical)
        elif changed := changed_properties(each, stack.template.resources.get(each.logical)):
            fixed = set(changed) & KINDS[each.type].fixed
            replacement = "True" if fixed else "False"
            yield Change("Modify", each.logical, each.type, there.physical, replacement, tuple(changed))


def changed_properties(new: Declared, old: Declared | None) -> list[str]:
    """Return the properties that are written otherwise than before."""
    before = old.properties if old else {}
    keys = sorted(new.properties.keys() | before.keys())
    return [key for key in keys if key not in new.properties or differences_both(new.properties[key], before.get(key))]


def differences_both(one: Any, other: Any) -> bool:
    """Return whether two values differ in either direction."""
    return bool(differences(one, other) or differences(other, one))


def _existing(each: Declared, caller: Caller, resolve: Callable[[Any], Any]) -> str:
    """Return the physical id of what has a resource's name already; nothing if there is none, or it may not be had."""
    kind = KINDS[each.type]
    if not kind.named_by or not each.kept:
        return ""
    physical = kind.physical_of(caller, str(resolve(each.properties[kind.named_by])))
    return physical if kind.read(caller, physical) is not None else ""
