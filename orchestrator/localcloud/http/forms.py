"""EC2's requests: a form whose names say where each value belongs, `Filter.1.Value.2`."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl


def read(body: bytes) -> dict[str, Any]:
    """Return a form as a tree. Numbered names become lists, in the order of their numbers."""
    tree: dict[str, Any] = {}
    for name, value in parse_qsl(body.decode()):
        *path, last = name.split(".")
        node = tree
        for part in path:
            node = node.setdefault(part, {})
        node[last] = value
    return {name: _listed(value) for name, value in tree.items()}


def _listed(node: Any) -> Any:
    if not isinstance(node, dict):
        return node
    if all(name.isdecimal() for name in node):
        return [_listed(node[name]) for name in sorted(node, key=int)]
    return {name: _listed(value) for name, value in node.items()}
