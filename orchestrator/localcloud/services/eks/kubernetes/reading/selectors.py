"""Which objects somebody means who lists or watches: kubernetes.io/docs/concepts/overview/working-with-objects/labels

A selector is a list of requirements with commas between, and all of them are to hold. Those of labels are
"equality-based and set-based": `environment in (production, qa)`, `tier notin (frontend, backend)`, `!partition`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.eks.kubernetes.status import bad_request

if TYPE_CHECKING:
    from collections.abc import Mapping

Body = dict[str, Any]

_KEY = r"[A-Za-z0-9][-A-Za-z0-9_./]*"
_VALUE = r"[-A-Za-z0-9_.]*"
_REQUIREMENT = re.compile(
    rf"\s*(?:(?P<absent>!)\s*(?P<missing>{_KEY})"
    rf"|(?P<key>{_KEY})(?:\s*(?P<equality>==|=|!=)\s*(?P<value>{_VALUE})"
    rf"|\s+(?P<set>in|notin)\s*\((?P<values>[^()]*)\))?)\s*(?:,|$)"
)


@dataclass(frozen=True)
class _Requirement:
    """What one label is to be."""

    key: str
    values: frozenset[str] | None = None
    """The values that are meant; None for any."""
    negated: bool = False

    def holds(self, labels: Mapping[str, str]) -> bool:
        """Say whether labels are so. What is negated holds for those too that lack the key."""
        if self.values is None:
            return (self.key in labels) != self.negated
        return (labels.get(self.key) in self.values) != self.negated


@dataclass(frozen=True)
class Selection:
    """The objects of a namespace, or of all, that have some labels and some fields."""

    namespace: str
    labels: tuple[_Requirement, ...]
    fields: tuple[str, ...]

    def has(self, body: Body) -> bool:
        """Say whether an object is meant."""
        meta = body["metadata"]
        if self.namespace and meta.get("namespace") != self.namespace:
            return False
        labels = meta.get("labels") or {}
        return all(one.holds(labels) for one in self.labels) and all(_fits_field(part, body) for part in self.fields)


def read_selection(namespace: str, query: Mapping[str, str]) -> Selection:
    """Return the objects that a request means. Raise KubeError for a selector that nobody understands."""
    fields = tuple(filter(None, query.get("fieldSelector", "").split(",")))
    for part in fields:
        if "=" not in part:
            raise bad_request(f"invalid selector: '{part}'; can't understand '{part}'")
    return Selection(namespace, _read_labels(query.get("labelSelector", "")), fields)


def _read_labels(text: str) -> tuple[_Requirement, ...]:
    found, at = [], 0
    while at < len(text):
        match = _REQUIREMENT.match(text, at)
        if match is None:
            raise bad_request(f"unable to parse requirement: found '{text[at:]}', expected: a requirement of a label")
        found.append(_requirement(match))
        at = match.end()
    return tuple(found)


def _requirement(match: re.Match[str]) -> _Requirement:
    if match["absent"]:
        return _Requirement(match["missing"], negated=True)
    if match["equality"]:
        return _Requirement(match["key"], frozenset({match["value"]}), negated=match["equality"] == "!=")
    if match["set"]:
        values = [value.strip() for value in match["values"].split(",")]
        if not all(re.fullmatch(_VALUE, value) for value in values):
            raise bad_request(f"unable to parse requirement: found '({match['values']})', expected: values of a label")
        return _Requirement(match["key"], frozenset(values), negated=match["set"] == "notin")
    return _Requirement(match["key"])


def _fits_field(part: str, body: Body) -> bool:
    """Say whether an object fits one part of a selector: path=value, or path!=value."""
    path, _, wanted = part.replace("==", "=").partition("=")
    value: Any = body
    for name in path.removesuffix("!").split("."):
        value = value.get(name, "") if isinstance(value, dict) else ""
    return (str(value) == wanted) != path.endswith("!")
