"""EC2's requests and answers in boto3's names, by AWS's own description of them: typed, and nothing unknown in them."""

from __future__ import annotations

from datetime import datetime, timezone
from functools import cache
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.http import validation
from orchestrator.localcloud.http.answers import AwsError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from botocore.model import ListShape, Shape, StructureShape

_ENVELOPE = ("Action", "Version")
_LONGEST_TOKEN = 64


def read(operation: str, form: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request, which `http/forms.py` has read. Raise AwsError for what the operation does not take."""
    shape: StructureShape = validation.service("ec2").operation_model(operation).input_shape
    body = {name: value for name, value in form.items() if name not in _ENVELOPE}
    request: dict[str, Any] = _read(shape, body, "")
    if missing := [name for name in shape.required_members if name not in request]:
        raise AwsError("MissingParameter", f"The request must contain the parameter {missing[0]}")
    if len(str(request.get("ClientToken", ""))) > _LONGEST_TOKEN:
        raise AwsError("InvalidParameterValue", f"The client token may have at most {_LONGEST_TOKEN} characters")
    if request.get("DryRun"):
        raise AwsError("DryRunOperation", "Request would have succeeded, but DryRun flag is set.", 412)
    return request


def written(operation: str, answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return an answer under the names that it has on the wire, all values as text. What is None is left out."""
    shape = validation.service("ec2").operation_model(operation).output_shape
    wire: dict[str, Any] = _write(shape, answer)
    return wire


def moment(seconds: float) -> str:
    """Return a moment as EC2 writes it."""
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _read(shape: Shape, value: Any, path: str) -> Any:
    if shape.type_name == "structure":
        return _structure(shape, value, path)  # type: ignore[arg-type]
    if shape.type_name == "list":
        return _list(shape, value, path)  # type: ignore[arg-type]
    if not isinstance(value, str):
        raise AwsError("InvalidParameterValue", f"The parameter {path} takes one value")
    if shape.type_name in ("integer", "long"):
        return _number(value, path)
    if shape.type_name == "boolean":
        if value.lower() not in ("true", "false"):
            raise AwsError("InvalidParameterValue", f"Invalid value '{value}' for {path}: it is true or false")
        return value.lower() == "true"
    return value


def _structure(shape: StructureShape, value: Any, path: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise AwsError("InvalidParameterValue", f"The parameter {path} takes no value of its own")
    found = {}
    for name, inner in value.items():
        where = f"{path}.{name}" if path else name
        member = _members(shape).get(name)
        if member is None:
            raise AwsError("UnknownParameter", f"The parameter {where} is not recognized")
        found[member] = _read(shape.members[member], inner, where)
    return found


def _list(shape: ListShape, value: Any, path: str) -> list[Any]:
    if not isinstance(value, list):
        raise AwsError("InvalidParameterValue", f"The parameter {path} is a list: its values are numbered")
    return [_read(shape.member, inner, f"{path}.{number}") for number, inner in enumerate(value, 1)]


def _number(value: str, path: str) -> int:
    try:
        return int(value)
    except ValueError as error:
        raise AwsError("InvalidParameterValue", f"Invalid integer value '{value}' for {path}") from error


@cache
def _members(shape: StructureShape) -> dict[str, str]:
    """Return the members of a structure, by the names that they have in a form."""
    found = {}
    for member, inner in shape.members.items():
        said = inner.serialization
        name = said.get("queryName") or said.get("name", member)
        found[name[0].upper() + name[1:]] = member
    return found


def _write(shape: Shape, value: Any) -> Any:
    if shape.type_name == "structure":
        members: Mapping[str, Shape] = shape.members  # type: ignore[attr-defined]
        return {
            members[name].serialization.get("name", name): _write(members[name], inner)
            for name, inner in value.items()
            if inner is not None
        }
    if shape.type_name == "list":
        return [_write(shape.member, each) for each in value]  # type: ignore[attr-defined]
    if shape.type_name == "timestamp":
        return value if isinstance(value, str) else moment(value)
    return str(value).lower() if isinstance(value, bool) else str(value)
