"""What a policy's document says."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any


class Malformed(Exception):
    """A document that is no policy."""


@dataclass(frozen=True)
class Condition:
    """One line of a condition: an operator, a key, and the values that it may have."""

    operator: str
    key: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Statement:
    """One statement. Of two members that exclude each other, such as Action and NotAction, one is None."""

    sid: str
    allows: bool
    actions: tuple[str, ...] | None
    not_actions: tuple[str, ...] | None
    resources: tuple[str, ...] | None
    not_resources: tuple[str, ...] | None
    principals: tuple[tuple[str, str], ...]
    """Who is meant, as (kind, name); none in a policy of an identity, which means that identity."""
    conditions: tuple[Condition, ...]


@dataclass(frozen=True)
class Policy:
    """A document, read."""

    name: str
    statements: tuple[Statement, ...]


@lru_cache(maxsize=1024)
def read(name: str, document: str) -> Policy:
    """Return what a document says. Raise Malformed for what is no policy."""
    try:
        said = json.loads(document)
        return Policy(name, tuple(_statement(each) for each in _listed(said["Statement"])))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Malformed(f"the policy {name} cannot be read: {error!r}") from error


def _statement(said: dict[str, Any]) -> Statement:
    if said["Effect"] not in ("Allow", "Deny"):
        raise ValueError(f"Effect is {said['Effect']!r}")
    return Statement(
        sid=str(said.get("Sid", "")),
        allows=said["Effect"] == "Allow",
        actions=_texts(said.get("Action")),
        not_actions=_texts(said.get("NotAction")),
        resources=_texts(said.get("Resource")),
        not_resources=_texts(said.get("NotResource")),
        principals=tuple(_principals(said.get("Principal", {}))),
        conditions=tuple(
            Condition(operator, key.lower(), _texts(values) or ())
            for operator, keys in said.get("Condition", {}).items()
            for key, values in keys.items()
        ),
    )


def _principals(said: Any) -> list[tuple[str, str]]:
    if said == "*":
        return [("AWS", "*")]
    return [(kind, str(name)) for kind, names in said.items() for name in _listed(names)]


def _texts(value: Any) -> tuple[str, ...] | None:
    if value is None:
        return None
    return tuple(str(each).lower() if isinstance(each, bool) else str(each) for each in _listed(value))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
