"""Finds what trainings have left in the clusters of a Region, and removes it: nothing uses it any more.

A Job that has ended is there until somebody has written down how. Pods and Services go with their Job, unless it was
deleted without them: then such a pod may even run.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from orchestrator.errors import AccessError, NotFound, SettingsError, Unreachable
from orchestrator.platforms.account.leftover import Leftover
from orchestrator.platforms.eks.asked import KEY
from orchestrator.platforms.eks.kube.api import JOBS, PODS, SERVICES
from orchestrator.platforms.eks.kube.clusters import list_clusters, open_cluster
from orchestrator.platforms.eks.kube.job import read_job
from orchestrator.platforms.eks.sent.words import ATTEMPT, JOB_NAME, OUTPUT, RUN, TASK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.aws.session import Clients
    from orchestrator.platforms.eks.kube.api import KubeApi

Body = dict[str, Any]

JOB, POD, SERVICE = "Job", "pod", "Service"
_KINDS = {JOB: JOBS, POD: PODS, SERVICE: SERVICES}


def leftovers(clients: Clients, region: str) -> Iterator[Leftover]:
    """Yield the Jobs of ours that have ended in all clusters of a Region, and pods and Services that have no Job."""
    refused: AccessError | Unreachable | None = None
    for name in list_clusters(clients, region):
        try:
            yield from _of_cluster(open_cluster(clients, region, name))
        except (AccessError, Unreachable) as error:
            refused = error  # others of the Region may still tell
        except SettingsError:
            continue  # a cluster that is being made, or goes, runs nothing
    if refused is not None:
        raise refused


def remove(clients: Clients, leftover: Leftover) -> None:
    """Remove one of these; nothing happens if it is gone."""
    cluster, namespace, name = leftover.id.split("/")
    with suppress(NotFound):
        open_cluster(clients, leftover.region, cluster).delete(_KINDS[leftover.kind], namespace, name)


def _of_cluster(api: KubeApi) -> Iterator[Leftover]:
    # Their Jobs are listed after them: a Job that is made meanwhile is known then.
    pods, services = (list(api.list(kind, labelSelector=RUN)) for kind in (PODS, SERVICES))
    jobs = list(api.list(JOBS, labelSelector=RUN))
    for body in jobs:
        if read_job(body).state:
            yield from _ours(api, JOB, body, body["metadata"]["name"])
    there = {body["metadata"]["uid"] for body in jobs}
    for kind, bodies in ((POD, pods), (SERVICE, services)):
        for body in bodies:
            owners = body["metadata"].get("ownerReferences") or ()
            if not there & {owner.get("uid") for owner in owners} and "deletionTimestamp" not in body["metadata"]:
                of_job = body["spec"].get("selector") if kind == SERVICE else body["metadata"]["labels"]
                yield from _ours(api, kind, body, (of_job or {}).get(JOB_NAME, ""))


def _ours(api: KubeApi, kind: str, body: Body, training: str) -> Iterator[Leftover]:
    """Yield a leftover, if its marks are those that a request of ours gives."""
    meta = body["metadata"]
    labels, annotations = meta.get("labels") or {}, meta.get("annotations") or {}
    run, task, attempt = (labels.get(mark, "") for mark in (RUN, TASK, ATTEMPT))
    if run and task.isdecimal() and attempt.isdecimal():
        where = f"{api.cluster}/{meta['namespace']}/{meta['name']}"
        output = annotations.get(OUTPUT, "")
        yield Leftover(kind, where, KEY, api.region, training, run, int(task), int(attempt), output)
