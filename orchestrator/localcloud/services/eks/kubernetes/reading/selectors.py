"""Which objects somebody means who lists or watches: kubernetes.io/docs/concepts/overview/working-with-objects

A selector is a list of conditions with commas between them, and all of them are to hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

Body = dict[str, Any]


@dataclass(frozen=True)
class Selection:
    """The objects of a namespace, or of all, that have some labels and some fields."""

    namespace: str
    labels: tuple[str, ...]
    fields: tuple[str, ...]

    def has(self, body: Body) -> bool:
        """Say whether an object is meant."""
        meta = body["metadata"]
        if self.namespace and meta.get("namespace") != self.namespace:
            return False
        labels = meta.get("labels") or {}
        return all(_fits_label(part, labels) for part in self.labels) and all(
            _fits_field(part, body) for part in self.fields
        )


def read_selection(namespace: str, query: Mapping[str, str]) -> Selection:
    """Return the objects that a request means."""
    parts = [tuple(filter(None, query.get(name, "").split(","))) for name in ("labelSelector", "fieldSelector")]
    return Selection(namespace, *parts)


def _fits_label(part: str, labels: Mapping[str, str]) -> bool:
    """Say whether labels fit one part of a selector: name=value, name!=value, name, or !name."""
    name, equals, value = part.replace("==", "=").partition("=")
    if not equals:
        return name[1:] not in labels if name.startswith("!") else name in labels
    if name.endswith("!"):
        return labels.get(name[:-1]) != value
    return labels.get(name) == value


def _fits_field(part: str, body: Body) -> bool:
    """Say whether an object fits one part of a selector: path=value, or path!=value."""
    path, _, wanted = part.replace("==", "=").partition("=")
    value: Any = body
    for name in path.removesuffix("!").split("."):
        value = value.get(name, "") if isinstance(value, dict) else ""
    return (str(value) == wanted) != path.endswith("!")
