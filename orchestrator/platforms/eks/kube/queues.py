"""Kueue's LocalQueues: is there one of a name, and does it let anything begin?

Kueue serves them as v1beta2 since 0.15, and as v1beta1 until 0.19. Its pages:
kueue.sigs.k8s.io/docs/tasks/troubleshooting/troubleshooting_queues
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.errors import NotFound

if TYPE_CHECKING:
    from orchestrator.platforms.eks.kube.api import KubeApi

Body = dict[str, Any]

LABEL = "kueue.x-k8s.io/queue-name"
"""The label of a Job that says in which LocalQueue it waits."""
_SERVED = ("v1beta2", "v1beta1")


def find_queue(api: KubeApi, namespace: str, name: str) -> Body:
    """Return a LocalQueue.

    Raise NotFound when there is none of this name, or no Kueue; AccessDenied when we may not look.
    """
    where = f"{api.region} {api.cluster}"
    for version in _SERVED:
        try:
            return api.get(f"kueue.x-k8s.io/{version}/localqueues", namespace, name).body
        except NotFound as error:
            if f'"{name}" not found' in error.message:
                raise NotFound(f"Kueue has no LocalQueue {name} in the namespace {namespace}", where=where) from error
    raise NotFound(f"there is no Kueue, and so no LocalQueue {name}", where=where)


def why_inactive(queue: Body) -> str:
    """Return in Kueue's words why a LocalQueue lets nothing begin; nothing if it does."""
    for each in (queue.get("status") or {}).get("conditions") or ():
        if (each["type"], each["status"]) == ("Active", "False"):
            return " ".join(str(each.get("message") or each.get("reason") or "it is not active").split())
    return ""
