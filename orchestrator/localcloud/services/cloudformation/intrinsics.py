"""What the functions of templates stand for: Ref, Fn::GetAtt, Fn::Sub, Fn::Select, Fn::GetAZs. Others are refused."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.http.answers import AwsError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_HOLE = re.compile(r"\$\{([^!}][^}]*)\}")
_FUNCTIONS = ("Ref", "Fn::GetAtt", "Fn::Sub", "Fn::Select", "Fn::GetAZs")


@dataclass(frozen=True)
class Scope:
    """The things that a template may speak of."""

    pseudo: Mapping[str, str]
    """What CloudFormation knows by itself: AWS::AccountId, AWS::Region, and so on."""
    physical: Mapping[str, str]
    """The physical ids of the resources that are there, by their names in the template."""
    attribute: Callable[[str, str], str]
    """Returns an attribute of a resource. Raises KeyError if it has none of this name."""
    zones: Callable[[], list[str]]


def names_in(value: Any) -> set[str]:
    """Return the names of resources that a value speaks of."""
    if isinstance(value, list):
        return {name for each in value for name in names_in(each)}
    if not isinstance(value, dict):
        return set()
    if set(value) == {"Ref"}:
        return {name for name in (str(value["Ref"]),) if "::" not in name}
    if set(value) == {"Fn::GetAtt"}:
        return {str(value["Fn::GetAtt"][0])}
    if set(value) == {"Fn::Sub"}:
        return {name.partition(".")[0] for name in _HOLE.findall(str(value["Fn::Sub"])) if "::" not in name}
    return {name for each in value.values() for name in names_in(each)}


def resolve(value: Any, scope: Scope) -> Any:
    """Return a value with everything in it that stands for something else replaced by that."""
    if isinstance(value, list):
        return [resolve(each, scope) for each in value]
    if not isinstance(value, dict):
        return value
    functions = [key for key in value if key == "Ref" or key.startswith("Fn::")]
    if not functions:
        return {key: resolve(each, scope) for key, each in value.items()}
    if len(value) > 1 or functions[0] not in _FUNCTIONS:
        raise AwsError("ValidationError", f"Template error: the local cloud does not know {functions[0]}")
    return _called(functions[0], value[functions[0]], scope)


def _called(function: str, argument: Any, scope: Scope) -> Any:
    if function == "Ref":
        return _reference(argument, scope)
    if function == "Fn::GetAtt":
        return _attribute(argument[0], argument[1], scope)
    if function == "Fn::Sub":
        return _HOLE.sub(lambda hole: _hole(hole[1], scope), argument).replace("${!", "${")
    if function == "Fn::GetAZs":
        return scope.zones()
    index, choices = argument
    return resolve(choices, scope)[int(index)]


def _hole(name: str, scope: Scope) -> str:
    resource, dot, attribute = name.partition(".")
    return _attribute(resource, attribute, scope) if dot else _reference(name, scope)


def _reference(name: str, scope: Scope) -> str:
    found = scope.pseudo.get(name) or scope.physical.get(name)
    if found is None:
        raise AwsError("ValidationError", f"Template error: unresolved reference to {name}")
    return found


def _attribute(resource: str, name: str, scope: Scope) -> str:
    try:
        return scope.attribute(resource, name)
    except KeyError as error:
        raise AwsError(
            "ValidationError", f"Template error: resource {resource} does not support attribute {name} in Fn::GetAtt"
        ) from error
