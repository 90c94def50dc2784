"""Starts a training in its cluster, or adopts the one that is there, as often as anybody asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.errors import AccessError, AlreadyExists, CloudError, InvalidRequest, NotFound, Unreachable
from orchestrator.platforms.eks.kube.api import JOBS, SERVICES, find_dropped
from orchestrator.platforms.eks.sent.words import HASH

if TYPE_CHECKING:
    from orchestrator.platforms.base import Request
    from orchestrator.platforms.eks.kept import Kept
    from orchestrator.platforms.eks.kube.api import KubeApi
    from orchestrator.platforms.eks.kube.clusters import Clusters

Body = dict[str, Any]


def begin(request: Request, clusters: Clusters, kept: Kept) -> None:
    """Start the training: see `platforms.base.Runner.start` for what is raised."""
    region, body = request.lane.region, request.body
    if kept.put_claim(body["claim"]).get("hash") != request.hash:
        raise _belongs_to_another(request)
    if kept.end() is not None:
        return
    try:
        api = clusters.open(region, body["claim"]["cluster"])
    except NotFound as error:
        raise InvalidRequest(error.message, where=error.where, hint=error.hint) from error
    kept.put_assignment(body["assignment"])
    if kept.has_begun():
        return  # it runs, has ended, or was deleted: `poll` tells, and a second one must not come of it
    job = _make_job(request, api)
    _make_service(body["service"], job, api)
    kept.put_begun()


def _make_job(request: Request, api: KubeApi) -> Body:
    """Make the Job, and return it as the cluster has it; the one that is there, if it is ours."""
    sent, namespace = request.body["job"], request.body["claim"]["namespace"]
    try:
        job = api.create(JOBS, namespace, sent).body
    except NotFound as error:
        hint = f"make the namespace {namespace}, or name another in `platforms.eks.namespace`"
        raise InvalidRequest(error.message, where=error.where, hint=hint) from error
    except AlreadyExists:
        job = _find_ours(request, api)
    # A queue may have let it begin meanwhile: that is no want of the cluster.
    wanted = {name: value for name, value in sent["spec"].items() if name != "suspend"}
    if dropped := find_dropped(wanted, job["spec"], "spec"):
        api.delete(JOBS, namespace, request.training)
        raise InvalidRequest(
            f"the cluster has not kept {dropped} of the Job, and said nothing",
            where=f"{api.region} {api.cluster}",
            hint="its Kubernetes is too old, or a webhook changes Jobs: sweep needs 1.31",
        )
    return job


def _find_ours(request: Request, api: KubeApi) -> Body:
    """Return the Job that has our name. Raise AlreadyExists if it is not ours."""
    region, name = request.lane.region, request.training
    try:
        job = api.get(JOBS, request.body["claim"]["namespace"], name).body
    except NotFound as error:
        raise Unreachable(f"{name} can be neither started nor found", where=region, hint="try again") from error
    except AccessError as error:
        # Not an AccessError to our caller: that would say that nothing was started.
        raise CloudError(f"{name} is there, but not to be looked at: {error.message}", where=region) from error
    if (job["metadata"].get("annotations") or {}).get(HASH) != request.hash:
        raise _belongs_to_another(request)
    return job


def _make_service(service: Body, job: Body, api: KubeApi) -> None:
    meta = job["metadata"]
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": meta["name"], "uid": meta["uid"]}
    body = {**service, "metadata": {**service["metadata"], "ownerReferences": [owner]}}
    try:
        api.create(SERVICES, service["metadata"]["namespace"], body)
    except AlreadyExists:
        return


def _belongs_to_another(request: Request) -> AlreadyExists:
    return AlreadyExists(
        f"the name {request.training} belongs to another training",
        where=request.lane.region,
        hint="another run of this name works in this cluster: submit under another --name",
    )
