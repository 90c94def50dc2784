"""Checks a request against AWS's own description of it. The refusals are in AWS's words.

botocore carries, for every operation, which members are required, how long, how many, of what pattern; its client
checks few of them. AWS's services check all, and so do we.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import botocore.session

from orchestrator.localcloud.http.answers import AwsError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from botocore.model import ListShape, MapShape, Shape, StructureShape

_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "long": (int,),
    "float": (int, float),
    "double": (int, float),
    "boolean": (bool,),
    "structure": (dict,),
    "map": (dict,),
    "list": (list,),
}


@lru_cache
def service(name: str) -> Any:
    """Return botocore's description of a service."""
    return botocore.session.Session().get_service_model(name)


@lru_cache
def operation(name: str, target: str) -> StructureShape | None:
    """Return the input of an operation; None when the service has no operation of this name."""
    model = service(name)
    return model.operation_model(target).input_shape if target in model.operation_names else None


def check(shape: StructureShape, body: dict[str, Any]) -> None:
    """Raise one ValidationException that says all that is wrong with a request."""
    problems = list(_structure(shape, body, ""))
    if problems:
        plural = "errors" if len(problems) > 1 else "error"
        raise AwsError("ValidationException", f"{len(problems)} validation {plural} detected: {'; '.join(problems)}")


def _problems(shape: Shape, value: Any, path: str) -> Iterator[str]:
    if not _is_of_type(shape, value):
        raise AwsError(
            "SerializationException", f"{type(value).__name__} can not be converted to {shape.name} at '{path}'"
        )
    for constraint in _constraints(shape, value):
        yield f"Value {_shown(value)} at '{path}' failed to satisfy constraint: {constraint}"
    if shape.type_name == "structure":
        yield from _structure(shape, value, path)  # type: ignore[arg-type]
    elif shape.type_name == "list":
        yield from _list(shape, value, path)  # type: ignore[arg-type]
    elif shape.type_name == "map":
        yield from _map(shape, value, path)  # type: ignore[arg-type]


def _is_of_type(shape: Shape, value: Any) -> bool:
    """Return True when a value has the type of a shape, or when we do not know that type."""
    kinds = _KINDS.get(shape.type_name)
    if kinds is None:
        return True
    if isinstance(value, bool):  # which Python takes for an int, too
        return bool in kinds
    return isinstance(value, kinds)


def _structure(shape: StructureShape, value: dict[str, Any], path: str) -> Iterator[str]:
    for name in shape.required_members:
        if value.get(name) is None:
            yield f"Value null at '{_join(path, name)}' failed to satisfy constraint: Member must not be null"
    for name, member in shape.members.items():
        if value.get(name) is not None:
            yield from _problems(member, value[name], _join(path, name))


def _list(shape: ListShape, value: list[Any], path: str) -> Iterator[str]:
    for number, item in enumerate(value, 1):
        yield from _problems(shape.member, item, f"{path}.{number}.member")


def _map(shape: MapShape, value: dict[str, Any], path: str) -> Iterator[str]:
    for word, member, items in (("keys", shape.key, value), ("value", shape.value, value.values())):
        if member.type_name == "string" and any(list(_constraints(member, item)) for item in items):
            rules = ", ".join(_rules(member))
            broken = f"Map {word} must satisfy constraint: [{rules}]"
            yield f"Value {_shown(value)} at '{path}' failed to satisfy constraint: {broken}"
    if shape.value.type_name != "string":
        for key, item in value.items():
            yield from _problems(shape.value, item, f"{path}.{key}.member")


def _constraints(shape: Shape, value: Any) -> Iterator[str]:
    """Yield the rules that a value breaks."""
    low, high, pattern = (shape.metadata.get(key) for key in ("min", "max", "pattern"))
    size = _size(value)
    if size is not None and low is not None and size < low:
        yield _at_least(shape, low)
    if size is not None and high is not None and size > high:
        yield _at_most(shape, high)
    if isinstance(value, str) and pattern and not _matches(pattern, value):
        yield f"Member must satisfy regular expression pattern: {pattern}"
    if isinstance(value, str) and shape.enum and value not in shape.enum:  # type: ignore[attr-defined]
        yield f"Member must satisfy enum value set: [{', '.join(shape.enum)}]"  # type: ignore[attr-defined]


def _size(value: Any) -> float | None:
    """Return a number itself, the length of a text, list or map, and None for anything else."""
    if isinstance(value, (int, float)):
        return value
    if isinstance(value, (str, list, dict)):
        return len(value)
    return None


def _rules(shape: Shape) -> list[str]:
    """Return all rules that a shape has, in AWS's order."""
    low, high, pattern = (shape.metadata.get(key) for key in ("min", "max", "pattern"))
    rules = []
    if high is not None:
        rules.append(_at_most(shape, high))
    if low is not None:
        rules.append(_at_least(shape, low))
    if pattern:
        rules.append(f"Member must satisfy regular expression pattern: {pattern}")
    return rules


def _at_most(shape: Shape, high: int) -> str:
    return f"Member must have {_measure(shape)} less than or equal to {high}"


def _at_least(shape: Shape, low: int) -> str:
    return f"Member must have {_measure(shape)} greater than or equal to {low}"


def _measure(shape: Shape) -> str:
    return "value" if shape.type_name in ("integer", "long", "float", "double") else "length"


def _matches(pattern: str, value: str) -> bool:
    """Return True when a value matches a pattern. AWS's are Java's: those that Python cannot read match all."""
    compiled = _compiled(pattern)
    return compiled is None or compiled.fullmatch(value) is not None


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    try:
        return re.compile(pattern)
    except re.error:
        return None


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        members = ", ".join(f"{name}={member}" for name, member in value.items())
        return f"'{{{members}}}'"
    return f"'{value}'"


def _join(path: str, name: str) -> str:
    member = name[:1].lower() + name[1:]
    return f"{path}.{member}" if path else member
