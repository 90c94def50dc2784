"""The kinds of objects that this Kubernetes API has, and the paths at which they are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Resource:
    """A kind of objects."""

    group: str
    """The API group; empty for the core's."""
    version: str
    plural: str
    kind: str
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        """The value of `apiVersion` in its objects."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def qualified(self) -> str:
        """The name in messages, such as jobs.batch."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


JOBS = Resource("batch", "v1", "jobs", "Job")
SERVICES = Resource("", "v1", "services", "Service")
PODS = Resource("", "v1", "pods", "Pod")
EVENTS = Resource("", "v1", "events", "Event")
CLAIMS = Resource("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim")
QUOTAS = Resource("", "v1", "resourcequotas", "ResourceQuota")
ACCOUNTS = Resource("", "v1", "serviceaccounts", "ServiceAccount")
NAMESPACES = Resource("", "v1", "namespaces", "Namespace", namespaced=False)
NODES = Resource("", "v1", "nodes", "Node", namespaced=False)
QUEUES = Resource("kueue.x-k8s.io", "v1beta2", "localqueues", "LocalQueue")

ALL = (JOBS, SERVICES, PODS, EVENTS, CLAIMS, QUOTAS, ACCOUNTS, NAMESPACES, NODES, QUEUES)


_BY_KIND = {(each.api_version, each.kind): each for each in ALL}


def resource_of(body: dict[str, Any]) -> Resource:
    """Return the kind of an object that a server has."""
    return _BY_KIND[body["apiVersion"], body["kind"]]


@dataclass(frozen=True)
class Target:
    """The objects that a request is about."""

    resource: Resource
    namespace: str = ""
    """Empty for all namespaces, and for what is in none."""
    name: str = ""
    """Empty for all objects."""
    part: str = ""
    """A part of an object that has a path of its own, such as `log`."""


def find_target(path: str) -> Target | None:
    """Return what a path leads to; None when this API has nothing there."""
    words = path.strip("/").split("/")
    if words[:1] == ["api"]:
        group, words = "", words[1:]
    elif words[:1] == ["apis"] and len(words) > 1:
        group, words = words[1], words[2:]
    else:
        return None
    if not words:
        return None
    version, *rest = words
    namespace = ""
    if len(rest) > 2 and rest[0] == "namespaces":
        namespace, rest = rest[1], rest[2:]
    if not 1 <= len(rest) <= 3:
        return None
    plural, name, part = (*rest, "", "")[:3]
    for resource in ALL:
        if (resource.group, resource.version, resource.plural) == (group, version, plural):
            fits = resource.namespaced or not namespace
            return (
                Target(resource, namespace, name, part)
                if fits and (namespace or not name or not resource.namespaced)
                else None
            )
    return None
