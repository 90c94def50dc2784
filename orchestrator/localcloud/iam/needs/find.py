"""Which permissions does a call take?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.localcloud.iam.needs import instances, jobs, plain, storage, trainings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from orchestrator.localcloud.iam.evaluation import Asked
    from orchestrator.localcloud.iam.needs.scene import Scene

_READERS: dict[str, Callable[[Scene], Iterator[Asked]]] = {
    "s3": storage.needs,
    "batch": jobs.needs,
    "sagemaker": trainings.needs,
    "ec2": instances.needs,
}


def needs(scene: Scene) -> list[Asked]:
    """Return the permissions that a call takes: all of them. KeyError for a call that lacks what it is about."""
    return list(_READERS.get(scene.call.service, plain.needs)(scene))
