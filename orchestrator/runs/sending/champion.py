"""Brings the champion's model to where trainings start from it: into the bucket of each Region, before they run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.aws.s3 import S3
from orchestrator.errors import NotFound
from orchestrator.wire.names import S3Uri

if TYPE_CHECKING:
    from orchestrator.plan.plan import Plan
    from orchestrator.runs.cloud import Cloud


def bring_champion(plan: Plan, cloud: Cloud) -> None:
    """Copy the champion's model, if trainings are given it, to every Region that they may run in: each object once.

    NotFound if the model is gone.
    """
    warm = plan.sweep.warm
    if warm is None or not warm.brought:
        return
    start = S3Uri.parse(warm.artifact)
    source = S3(cloud.clients, warm.region, start.bucket)
    is_folder = start.key.endswith("/")
    objects = [item for item in source.list(start.key) if is_folder or item.key == start.key]
    if not objects:
        hint = "`sweep models rollback` makes another champion; without `warm_start: champion` none is needed"
        raise NotFound("the champion's model is gone", where=warm.artifact, hint=hint)
    folder = start.key if is_folder else start.key.rpartition("/")[0] + "/"
    for region in plan.regions:
        end = S3Uri.parse(warm.brought.replace("{region}", region))
        target = S3(cloud.clients, region, end.bucket)
        there = {item.key: item.size for item in target.list(end.key)}
        for item in objects:
            to = end.key + item.key.removeprefix(folder)
            if there.get(to) != item.size:
                target.copy_from(source, item.key, to)
