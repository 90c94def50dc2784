"""Kueue, as far as it holds Jobs back and lets them begin.

"When creating a Job, set `kueue.x-k8s.io/queue-name`": kueue.sigs.k8s.io/docs/tasks/run/jobs. It suspends such a Job,
until it is admitted: one whose LocalQueue does not exist stays suspended, as does one in a queue that is stopped, see
kueue.sigs.k8s.io/docs/tasks/troubleshooting/troubleshooting_queues. There are no ClusterQueues here: a LocalQueue lets
begin at once whatever waits in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.eks.kubernetes.pods.pods import has_condition, set_condition
from orchestrator.localcloud.services.eks.kubernetes.resources import QUEUES

if TYPE_CHECKING:
    from orchestrator.localcloud.services.eks.kubernetes.store import Store

Body = dict[str, Any]

_LABEL = "kueue.x-k8s.io/queue-name"


def hold_back(job: Body) -> None:
    """Suspend a new Job that is to wait in a queue, whatever it says itself: Kueue's webhook does."""
    if queue_of(job):
        job["spec"]["suspend"] = True


def open_queue(store: Store, queue: Body) -> None:
    """Say of a new LocalQueue whether it lets anything begin."""
    if queue["spec"].get("stopPolicy", "None") == "None":
        set_condition(queue, "Active", True, store.now(), "Ready", "Can submit new workloads to localQueue")
    else:
        set_condition(queue, "Active", False, store.now(), "Stopped", "LocalQueue is stopped")


def may_begin(store: Store, job: Body) -> bool:
    """Say whether a queue lets a suspended Job begin now."""
    queue = store.find(QUEUES, job["metadata"]["namespace"], queue_of(job))
    return queue is not None and has_condition(queue, "Active")


def queue_of(job: Body) -> str:
    """Return the name of the queue that a Job waits in, or has waited in; empty if there is none."""
    return str((job["metadata"].get("labels") or {}).get(_LABEL, ""))
