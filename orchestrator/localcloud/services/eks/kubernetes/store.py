"""The objects of one cluster. Whatever they own goes with them."""

from __future__ import annotations

import copy
import threading
import uuid
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.eks.kubernetes.reading.journal import Journal
from orchestrator.localcloud.services.eks.kubernetes.resources import EVENTS, resource_of
from orchestrator.localcloud.services.eks.kubernetes.status import already_exists, not_found

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.localcloud.clock import Clock
    from orchestrator.localcloud.services.eks.kubernetes.resources import Resource

Body = dict[str, Any]


class Store:
    """Objects by kind, namespace and name. Whoever reads several of them, or changes one, holds `lock`.

    Whoever has changed one says so by `touch`: that is when those hear of it who watch.
    """

    def __init__(self, clock: Clock) -> None:
        self.lock = threading.RLock()
        self.clock = clock
        self.journal = Journal(self.lock)
        self.changed: Callable[[Resource, str], None] = lambda *_: None
        """Called after objects of a kind have changed in a namespace."""
        self._objects: dict[tuple[Resource, str, str], Body] = {}

    @property
    def version(self) -> int:
        """The version of all objects together."""
        return self.journal.version

    def now(self) -> str:
        """Return the moment as Kubernetes writes it."""
        return moment(self.clock.now())

    def add(self, resource: Resource, body: Body) -> Body:
        """Keep a new object, and return it. Raise KubeError when there is one of its name."""
        meta = body["metadata"]
        key = (resource, meta.get("namespace", ""), meta["name"])
        if key in self._objects:
            raise already_exists(resource, meta["name"])
        meta |= {"uid": str(uuid.uuid4()), "creationTimestamp": self.now()}
        body |= {"apiVersion": resource.api_version, "kind": resource.kind}
        self._objects[key] = body
        self._write(resource, body)
        return body

    def touch(self, body: Body) -> None:
        """Give an object another version, if it has changed and is there still."""
        resource, meta = resource_of(body), body["metadata"]
        if self.find(resource, meta.get("namespace", ""), meta["name"]) is body:
            self._write(resource, body)

    def find(self, resource: Resource, namespace: str, name: str) -> Body | None:
        """Return an object; None when there is none of this name."""
        return self._objects.get((resource, namespace, name))

    def get(self, resource: Resource, namespace: str, name: str) -> Body:
        """Return an object. Raise KubeError when there is none of this name."""
        found = self.find(resource, namespace, name)
        if found is None:
            raise not_found(resource, name)
        return found

    def all(self, resource: Resource, namespace: str = "") -> list[Body]:
        """Return all objects of a kind, of one namespace or of all, in the order in which they were made."""
        return [
            each
            for (kind, where, _), each in list(self._objects.items())
            if kind is resource and (not namespace or where == namespace)
        ]

    def owned(self, resource: Resource, owner: Body) -> list[Body]:
        """Return the objects of a kind that belong to another object."""
        uid = owner["metadata"]["uid"]
        return [each for each in self.all(resource, owner["metadata"].get("namespace", "")) if uid in _owners(each)]

    def remove(self, resource: Resource, body: Body) -> None:
        """Forget an object."""
        meta = body["metadata"]
        if self._objects.pop((resource, meta.get("namespace", ""), meta["name"]), None) is not None:
            self._write(resource, body, gone=True)

    def _write(self, resource: Resource, body: Body, *, gone: bool = False) -> None:
        with self.lock:
            if self.journal.write(resource, body, gone=gone):
                self.changed(resource, body["metadata"].get("namespace", ""))

    def tell(self, resource: Resource, about: Body, kind: str, reason: str, message: str) -> None:
        """Write an event down; one that has been told already is counted."""
        meta = about["metadata"]
        for event in self.all(EVENTS, meta.get("namespace", "")):
            same = (event["involvedObject"]["uid"], event["reason"], event["message"])
            if same == (meta["uid"], reason, message):
                event["count"] += 1
                event["lastTimestamp"] = self.now()
                self.touch(event)
                return
        self.add(
            EVENTS,
            {
                "metadata": {"name": f"{meta['name']}.{uuid.uuid4().hex[:16]}", "namespace": meta.get("namespace", "")},
                "involvedObject": {
                    "apiVersion": resource.api_version,
                    "kind": resource.kind,
                    "namespace": meta.get("namespace", ""),
                    "name": meta["name"],
                    "uid": meta["uid"],
                },
                "type": kind,
                "reason": reason,
                "message": message,
                "count": 1,
                "firstTimestamp": self.now(),
                "lastTimestamp": self.now(),
            },
        )


def _owners(body: Body) -> list[str]:
    return [each.get("uid", "") for each in body["metadata"].get("ownerReferences", ())]


def moment(seconds: float) -> str:
    """Return a moment as Kubernetes writes it."""
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def shown(body: Body) -> Body:
    """Return an object as it is now, for whoever reads it later."""
    return copy.deepcopy(body)
