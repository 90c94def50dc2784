"""Finds the operation that a request asks for, with AWS's own descriptions of its services."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote

from orchestrator.localcloud.http import validation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from botocore.model import StructureShape

_ACTION = re.compile(rb"(?:^|&)Action=(\w+)")
_REST = ("batch", "eks", "s3", "savingsplans", "scheduler")
"""Services whose operations have a method and a path; the others name theirs in a header or in the body."""


@dataclass(frozen=True)
class _Form:
    """The looks of a REST service's operation, as a request."""

    name: str
    method: str
    path: re.Pattern[str]
    query: frozenset[str]
    headers: frozenset[str]


def name(service: str, environ: dict[str, Any], body: bytes) -> str:
    """Return the operation's name, as the API reference writes it; method and path where nobody knows."""
    if target := environ.get("HTTP_X_AMZ_TARGET"):
        return str(target.rpartition(".")[2])
    method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
    if service == "eks":
        path = raw_path(environ)
    if service in _REST:
        query = set(parse_qs(environ.get("QUERY_STRING", ""), keep_blank_values=True))
        for form in _forms(service):
            if form.method == method and form.query <= query and form.path.fullmatch(path) and _has(environ, form):
                return form.name
    elif action := _ACTION.search(body):
        return action[1].decode()
    return f"{method} {path}"


def raw_path(environ: dict[str, Any]) -> str:
    """Return a request's path as it was sent: a parameter in it may have slashes, which are escaped."""
    return str(environ["REQUEST_URI"]).partition("?")[0]


def path_parameters(service: str, operation: str, path: str) -> dict[str, str]:
    """Return the parameters of an operation that stand in its raw path, by their names."""
    if operation not in validation.service(service).operation_names:
        return {}
    form = validation.service(service).operation_model(operation).http["requestUri"].partition("?")[0]
    names = re.findall(r"\{(\w+)\}", form)
    found = re.fullmatch(re.sub(r"\{\w+\}", "([^/]+)", form) + "/?", path)
    return dict(zip(names, map(unquote, found.groups()), strict=True)) if found else {}


def _has(environ: dict[str, Any], form: _Form) -> bool:
    return all(f"HTTP_{header.upper().replace('-', '_')}" in environ for header in form.headers)


@lru_cache
def _forms(service: str) -> list[_Form]:
    """Return a service's operations, the most particular first: an upload of a part is also a put of an object."""
    return sorted(_described(service), key=lambda form: -len(form.query) - len(form.headers))


def _described(service: str) -> Iterator[_Form]:
    model = validation.service(service)
    for each in model.operation_names:
        operation = model.operation_model(each)
        shape = operation.input_shape
        path, _, query = operation.http["requestUri"].partition("?")
        literal = {part.partition("=")[0] for part in query.split("&") if part}
        yield _Form(
            each,
            operation.http["method"],
            _pattern(path),
            frozenset(literal | _required(shape, "querystring")),
            frozenset(_required(shape, "header")),
        )


def _required(shape: StructureShape | None, location: str) -> set[str]:
    """Return the names of the required parameters that an operation has in its query or its headers."""
    if shape is None:
        return set()
    places = [shape.members[member].serialization for member in shape.required_members]
    return {place["name"] for place in places if place.get("location") == location}


def _pattern(path: str) -> re.Pattern[str]:
    """Return the pattern of a path.

    `{Key+}` may hold slashes, other names in braces stand for one part of a path. ARNs hold slashes too, and come last.
    """
    text = re.sub(r"\\\{\w+\\\+\\\}", ".+", re.escape(path))
    last = re.sub(r"\\\{resourceArn\\\}$", ".+", text)
    return re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", last) + "/?")
