"""What somebody is told who lists: "Retrieving large results sets in chunks" in

kubernetes.io/docs/reference/using-api/api-concepts

All pages show the objects as they were when the first was asked for, whatever has happened since.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.eks.kubernetes.reading.selectors import read_selection
from orchestrator.localcloud.services.eks.kubernetes.status import bad_request
from orchestrator.localcloud.services.eks.kubernetes.store import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.localcloud.services.eks.kubernetes.resources import Target
    from orchestrator.localcloud.services.eks.kubernetes.store import Store

Body = dict[str, Any]

_TOKEN = re.compile(r"([0-9]+)-([0-9]+)", re.ASCII)


def list_objects(store: Store, target: Target, query: Mapping[str, str]) -> Body:
    """Return a list, or a page of one. Raise KubeError for a page that nobody can be shown any more."""
    resource, most = target.resource, int(query.get("limit") or 0)
    start, version, there = 0, store.version, store.all(target.resource)
    if token := query.get("continue", ""):
        version, start = _read_token(token)
        there = store.journal.undo(resource, there, version)
    selection = read_selection(target.namespace, query)
    items = sorted(filter(selection.has, there), key=_name)
    stop = start + most if most else len(items)
    more = {"continue": f"{version}-{stop}"} if stop < len(items) else {}
    return {
        "apiVersion": resource.api_version,
        "kind": f"{resource.kind}List",
        "metadata": {"resourceVersion": str(version), **more},
        "items": [shown(each) for each in items[start:stop]],
    }


def _read_token(token: str) -> tuple[int, int]:
    match = _TOKEN.fullmatch(token)
    if match is None:
        raise bad_request("continue key is not valid: it is none that a list has told")
    return int(match[1]), int(match[2])


def _name(body: Body) -> tuple[str, str]:
    return body["metadata"].get("namespace", ""), body["metadata"]["name"]
