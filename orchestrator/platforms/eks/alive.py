"""Finds our Jobs in all clusters of a Region that have not ended. It stops nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.errors import AccessError, SettingsError, Unreachable
from orchestrator.platforms.eks.kube.api import JOBS
from orchestrator.platforms.eks.kube.clusters import list_clusters, open_cluster
from orchestrator.platforms.eks.kube.job import read_job
from orchestrator.platforms.eks.sent.words import ATTEMPT, LANE, OUTPUT, RUN, TASK
from orchestrator.platforms.lives import Alive
from orchestrator.wire.task import Lane

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.aws.session import Clients

Body = dict[str, Any]


def alive(clients: Clients, region: str) -> Iterator[Alive]:
    """Yield the trainings in a Region that have not ended and carry a run's marks."""
    refused: AccessError | Unreachable | None = None
    for name in list_clusters(clients, region):
        try:
            for body in open_cluster(clients, region, name).list(JOBS, labelSelector=RUN):
                if found := _read(body):
                    yield found
        except (AccessError, Unreachable) as error:
            refused = error  # others of the Region may still tell
        except SettingsError:
            continue  # a cluster that is being made, or goes, runs nothing
    if refused is not None:
        raise refused


def _read(body: Body) -> Alive | None:
    """Return what a Job is; None if it has ended, or carries no marks of ours."""
    meta = body["metadata"]
    labels, annotations = meta.get("labels") or {}, meta.get("annotations") or {}
    job = read_job(body)
    numbers = [labels.get(name, "") for name in (TASK, ATTEMPT)]
    if job.state or not all(number.isdecimal() for number in numbers) or LANE not in annotations:
        return None
    return Alive(
        training=meta["name"],
        lane=Lane.parse(annotations[LANE]),
        instances=int(body["spec"].get("completions") or 1),
        run=labels[RUN],
        task=int(numbers[0]),
        attempt=int(numbers[1]),
        output=annotations.get(OUTPUT, ""),
        started_at=job.began_at if (body.get("status") or {}).get("ready") else None,
    )
