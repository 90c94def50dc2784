"""The data copies of a plan: made before any task that reads them is sent, object by object, each once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.aws.s3 import S3
from orchestrator.errors import NotFound
from orchestrator.wire.names import S3Uri

if TYPE_CHECKING:
    from orchestrator.plan.copy import Copy
    from orchestrator.plan.plan import Plan
    from orchestrator.runs.cloud import Cloud
    from orchestrator.wire.task import Task

WRITERS = 16
"""Objects copied at once."""


def copy(plan: Plan, cloud: Cloud) -> None:
    """Copy every dataset to where the plan wants it. What is there already, whole, is left as it is."""
    for one in plan.copies:
        _copy(one, cloud)


def located(task: Task, cloud: Cloud) -> Task:
    """Return the task with its copies' buckets filled in."""
    places = tuple(
        replace(place, s3_uri=cloud.located(place.s3_uri, place.lane.region)) if "{bucket}" in place.s3_uri else place
        for place in task.places
    )
    return task if places == task.places else replace(task, places=places)


def _copy(wanted: Copy, cloud: Cloud) -> None:
    start, end = S3Uri.parse(wanted.from_uri), S3Uri.parse(cloud.located(wanted.to_uri, wanted.to_region))
    source = S3(cloud.clients, wanted.from_region, start.bucket)
    target = S3(cloud.clients, wanted.to_region, end.bucket)
    objects = list(source.list(start.key))
    if not objects:
        raise NotFound("there is nothing to copy", where=wanted.from_uri, hint="the catalog says a replica lies there")
    there = {item.key: item.size for item in target.list(end.key)}

    def one(key: str) -> None:
        target.copy_from(source, key, _renamed(key, start.key, end.key))

    missing = [item.key for item in objects if there.get(_renamed(item.key, start.key, end.key)) != item.size]
    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(one, missing))


def _renamed(key: str, from_prefix: str, to_prefix: str) -> str:
    """Return the same path below another prefix. A replica may be a single object: then its name is kept."""
    rest = key.removeprefix(from_prefix).lstrip("/") or key.rpartition("/")[2]
    return to_prefix + rest
