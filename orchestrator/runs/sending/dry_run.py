"""The dry run: every request that submitting would send, as it would be sent. Nothing is sent.

A million requests are read by nobody: of a large sweep the first few of each kind are shown, and what is left out.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from orchestrator.aws.jobs.batch import create_resource_request, register_definition_request, submit_job_request
from orchestrator.runs.sending.copy import located
from orchestrator.runs.sending.submit import array_job, made_and_cancelled, objects, resources
from orchestrator.runs.sending.templates import make_template, source_key
from orchestrator.runs.written.anchor import entry_key
from orchestrator.runs.written.submission import everything
from orchestrator.wire.names import canonical
from orchestrator.wire.ranges import Ranges

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.aws.jobs.batch import Resource
    from orchestrator.platforms.base import Request
    from orchestrator.platforms.source import Package
    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.written.anchor import Anchor
    from orchestrator.runs.written.submission import Array
    from orchestrator.wire.template import Template

LARGE = 1_000
"""A sweep of more tasks is not shown in full."""
FEW = 10
"""Trainings of each template, and lines of each manifest, that are shown of such a sweep."""


def requests(anchor: Anchor, package: Package, cloud: Cloud) -> dict[str, Any]:
    """Return all requests in the order in which they are sent, and the first training that each launcher will start."""
    plan = anchor.plan
    cloud.refuse_elsewhere(anchor.name, anchor.home)
    made_and_cancelled(anchor, cloud)
    templates = {site: make_template(anchor, *site, cloud) for site in plan.sites}
    arrays = everything(plan).arrays(anchor.name)
    name = str(register_definition_request(cloud.rendered)["jobDefinitionName"])
    few = FEW if plan.tasks > LARGE else plan.tasks
    trainings = list(_trainings(anchor, templates, few, cloud))
    return {
        "run": anchor.name,
        "sources": {"digest": package.digest, "files": list(package.files)},
        "s3": {
            "CopyObject": [
                {"from": copy.from_uri, "to": cloud.located(copy.to_uri, copy.to_region)} for copy in plan.copies
            ],
            "PutObject": list(_puts(anchor, package, templates, few, cloud)),
        },
        "batch": {
            "RegisterJobDefinition": register_definition_request(cloud.rendered),
            "CreateConsumableResource": [create_resource_request(one) for one in _resources(anchor, arrays)],
            "SubmitJob": [submit_job_request(array_job(anchor, array, name, cloud)) for array in arrays],
        },
        **_by_platform(trainings),
        "left_out": list(_left_out(plan.tasks, few, trainings)),
    }


def _puts(
    anchor: Anchor, package: Package, templates: dict[tuple[str, str], Template], few: int, cloud: Cloud
) -> Iterator[dict[str, Any]]:
    """Yield every object that is created. For the sources, the archive's size stands for its bytes."""
    yield _put(cloud.account.bucket, entry_key(anchor), "")
    yield _put(cloud.account.bucket, anchor.keys.anchor, canonical(anchor.to_json()))
    regions = set()
    for (platform, region), shared in templates.items():
        if region not in regions:
            yield _put(cloud.bucket_name(region), source_key(package.digest), f"{len(package.body)} bytes")
            regions.add(region)
        yield _put(cloud.account.bucket, anchor.keys.template(platform, region), canonical(shared.to_json()))
    first = everything(anchor.plan)
    yield _put(cloud.account.bucket, anchor.keys.submission(first.number), canonical(first.to_json()))
    for array in first.arrays(anchor.name):
        cut = len(array.tasks) > few
        begun = replace(array, tasks=Ranges.in_order((task, task + 1) for task in islice(array.tasks, few)))
        for key, body in objects(anchor, first, begun, cloud).items():
            lines = body.decode("ascii").splitlines(keepends=True)
            yield _put(cloud.account.bucket, key, "".join(lines[:few] if cut else lines))


def _put(bucket: str, key: str, body: str) -> dict[str, Any]:
    return {"Bucket": bucket, "Key": key, "IfNoneMatch": "*", "Body": body}


def _resources(anchor: Anchor, arrays: list[Array]) -> list[Resource]:
    """Return the consumable resources that arrays need. Each is made if it is not there yet."""
    return list(dict.fromkeys(one for array in arrays for one in resources(anchor, array)))


def _trainings(anchor: Anchor, templates: dict[tuple[str, str], Template], few: int, cloud: Cloud) -> Iterator[Request]:
    """Yield the first attempt at the first place, for so many tasks of each template."""
    shown: Counter[tuple[str, str]] = Counter()
    for share in anchor.plan.shares:
        lane = share.places[0].lane
        site = (lane.platform, lane.region)
        for number in range(share.first, share.first + min(share.count, few - shown[site])):
            task = located(anchor.plan.task(number, code=anchor.code), cloud)
            place, runtime = task.places[0], task.limits.max_runtime_s
            yield cloud.runner(lane.platform).request(templates[site], task, place, 1, runtime)
            shown[site] += 1


def _by_platform(trainings: list[Request]) -> dict[str, list[dict[str, Any]]]:
    """Return the requests as they are shown, under the name of their platform."""
    shown: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for request in trainings:
        told = {"started_by": request.started_by} if request.started_by else {}
        shown[request.lane.platform].append({"region": request.lane.region, **told, request.operation: request.body})
    return dict(shown)


def _left_out(tasks: int, few: int, trainings: list[Request]) -> Iterator[str]:
    if len(trainings) < tasks:
        operations = " and ".join(sorted({request.operation for request in trainings}))
        yield f"{operations}: the first {few} of each Region are here, {len(trainings):,} of {tasks:,}"
        yield f"PutObject: of each manifest and its index the first {few} lines are here"
