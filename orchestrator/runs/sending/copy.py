"""The data copies of a plan: made before any task that reads them is sent, object by object, each once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from orchestrator.aws.s3 import S3
from orchestrator.errors import AlreadyExists, NotFound
from orchestrator.wire.beside.lineage import Lineage, lineage_key, mark_objects
from orchestrator.wire.names import S3Uri

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orchestrator.aws.s3 import Listed
    from orchestrator.plan.copy import Copy
    from orchestrator.plan.plan import Plan
    from orchestrator.runs.cloud import Cloud
    from orchestrator.wire.task import Task

WRITERS = 16
"""Objects copied at once."""


def copy(plan: Plan, cloud: Cloud) -> None:
    """Copy every dataset to where the plan wants it. What is there already, whole, is left as it is."""
    for one in plan.copies:
        _copy(one, plan.datasets[one.dataset].name, cloud)


def located(task: Task, cloud: Cloud) -> Task:
    """Return the task with its copies' buckets filled in."""
    places = tuple(
        replace(place, s3_uri=cloud.located(place.s3_uri, place.lane.region)) if "{bucket}" in place.s3_uri else place
        for place in task.places
    )
    return task if places == task.places else replace(task, places=places)


def _copy(wanted: Copy, dataset: str, cloud: Cloud) -> None:
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
    if missing and start.key.endswith("/"):
        _leave_lineage(_Copied(dataset, source, start.key, target, end.key), objects, frozenset(missing))


@dataclass(frozen=True)
class _Copied:
    """A folder that was copied, and where to."""

    dataset: str
    source: S3
    from_prefix: str
    target: S3
    to_prefix: str


def _leave_lineage(copied: _Copied, objects: Sequence[Listed], by_us: frozenset[str]) -> None:
    """Leave beside the copy what it was copied from, if nothing else is in it and the source is still what it was.

    An object that was there before is taken for a copy only if it has the same ETag.
    """
    of_source = {item.key.removeprefix(copied.from_prefix): item for item in objects}
    of_copy = {item.key.removeprefix(copied.to_prefix): item for item in copied.target.list(copied.to_prefix)}
    ours = (
        name in of_copy and (item.key in by_us or item.etag == of_copy[name].etag) for name, item in of_source.items()
    )
    mark = _mark(of_source)
    now = {item.key.removeprefix(copied.from_prefix): item for item in copied.source.list(copied.from_prefix)}
    if of_copy.keys() != of_source.keys() or not all(ours) or _mark(now) != mark:
        return
    lineage = Lineage(copied.dataset, copied.source.uri(copied.from_prefix), mark, _mark(of_copy))
    key = lineage_key(copied.to_prefix)
    if not copied.target.put_once(key, lineage.to_bytes()):
        before = copied.target.get(key)
        with suppress(AlreadyExists):  # somebody else copied the same at the same moment, and says so
            copied.target.put_if(key, lineage.to_bytes(), before.etag)


def _mark(objects: Mapping[str, Listed]) -> str:
    return mark_objects((name, item.size, item.etag) for name, item in objects.items())


def _renamed(key: str, from_prefix: str, to_prefix: str) -> str:
    """Return the same path below another prefix. A replica may be a single object: then its name is kept."""
    rest = key.removeprefix(from_prefix).lstrip("/") or key.rpartition("/")[2]
    return to_prefix + rest
