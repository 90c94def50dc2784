"""Brings the champion's model to where it is read: into the bucket of each Region, before trainings start from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from orchestrator.aws.s3 import S3
from orchestrator.errors import NotFound
from orchestrator.wire.names import S3Uri

if TYPE_CHECKING:
    from orchestrator.aws.s3 import Listed
    from orchestrator.aws.session import Clients
    from orchestrator.plan.plan import Plan
    from orchestrator.runs.cloud import Cloud


class Lying(NamedTuple):
    """A model, and the Region that it lies in."""

    artifact: str
    region: str


def bring_champion(plan: Plan, cloud: Cloud) -> None:
    """Copy the champion's model, if trainings are given it, to every Region that they may run in: each object once.

    NotFound if the model is gone.
    """
    warm = plan.sweep.warm
    if warm is None or not warm.brought:
        return
    model = Lying(warm.artifact, warm.region)
    for region in plan.regions:
        bring_model(model, warm.brought.replace("{region}", region), region, cloud.clients)


def find_champion(plan: Plan, cloud: Cloud) -> None:
    """Raise NotFound if the model that trainings are given is gone. Nothing is copied."""
    warm = plan.sweep.warm
    if warm is not None and warm.brought:
        _find_objects(Lying(warm.artifact, warm.region), cloud.clients)


def bring_model(model: Lying, to_folder: str, region: str, clients: Clients) -> None:
    """Copy a model into a folder of a bucket in this Region: each object that is not there. NotFound if it is gone."""
    source, objects = _find_objects(model, clients)
    start = S3Uri.parse(model.artifact)
    folder = start.key if start.key.endswith("/") else start.key.rpartition("/")[0] + "/"
    end = S3Uri.parse(to_folder)
    target = S3(clients, region, end.bucket)
    there = {item.key: item.size for item in target.list(end.key)}
    for item in objects:
        to = end.key + item.key.removeprefix(folder)
        if there.get(to) != item.size:
            target.copy_from(source, item.key, to)


def _find_objects(model: Lying, clients: Clients) -> tuple[S3, list[Listed]]:
    """Return the bucket of a model, and its objects there. NotFound if it is gone."""
    start = S3Uri.parse(model.artifact)
    source = S3(clients, model.region, start.bucket)
    objects = [item for item in source.list(start.key) if start.key.endswith("/") or item.key == start.key]
    if not objects:
        hint = "`sweep models rollback` makes another champion; without `warm_start: champion` none is needed"
        raise NotFound("the champion's model is gone", where=model.artifact, hint=hint)
    return source, objects
