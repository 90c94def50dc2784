"""The dry run: every request that submitting would send, as it would be sent. Nothing is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.aws.batch import named, submission
from orchestrator.platforms.sagemaker.stage import source_key, template
from orchestrator.runs.anchor import everything
from orchestrator.runs.cloud import definition_name
from orchestrator.runs.copy import located
from orchestrator.runs.submit import array_job, objects
from orchestrator.wire.names import canonical

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.platforms.source import Package
    from orchestrator.runs.anchor import Anchor
    from orchestrator.runs.cloud import Cloud
    from orchestrator.wire.template import Template


def requests(anchor: Anchor, package: Package, cloud: Cloud) -> dict[str, Any]:
    """In the order that they are sent in; and each task's first training, which its launcher will start."""
    plan = anchor.plan
    templates = {
        (platform, region): template(plan.sweep, package.digest, region, anchor.name, cloud.site)
        for platform, region in plan.sites
    }
    name = definition_name(cloud.account)
    arrays = everything(plan).arrays(anchor.name)
    return {
        "run": anchor.name,
        "sources": {"digest": package.digest, "files": list(package.files)},
        "s3": {
            "CopyObject": [
                {"from": copy.from_uri, "to": cloud.located(copy.to_uri, copy.to_region)} for copy in plan.copies
            ],
            "PutObject": list(_puts(anchor, package, templates, cloud)),
        },
        "batch": {
            "RegisterJobDefinition": named(cloud.account.definition),
            "SubmitJob": [submission(array_job(anchor, array, name, cloud), cloud.account.queue) for array in arrays],
        },
        "sagemaker": list(_trainings(anchor, templates, cloud)),
    }


def _puts(
    anchor: Anchor, package: Package, templates: dict[tuple[str, str], Template], cloud: Cloud
) -> Iterator[dict[str, Any]]:
    """Every object is created, never replaced. Of the sources, the archive's size stands for its bytes."""
    yield _put(cloud.account.bucket, anchor.keys.anchor, canonical(anchor.to_json()))
    for (platform, region), shared in templates.items():
        yield _put(cloud.site.bucket_in(region), source_key(package.digest), f"{len(package.body)} bytes")
        yield _put(cloud.account.bucket, anchor.keys.template(platform, region), canonical(shared.to_json()))
    first = everything(anchor.plan)
    yield _put(cloud.account.bucket, anchor.keys.submission(first.number), canonical(first.to_json()))
    for array in first.arrays(anchor.name):
        for key, body in objects(anchor, first, array, cloud).items():
            yield _put(cloud.account.bucket, key, body.decode("ascii"))


def _put(bucket: str, key: str, body: str) -> dict[str, Any]:
    return {"Bucket": bucket, "Key": key, "IfNoneMatch": "*", "Body": body}


def _trainings(anchor: Anchor, templates: dict[tuple[str, str], Template], cloud: Cloud) -> Iterator[dict[str, Any]]:
    """CreateTrainingJob of every task's first attempt at its first place."""
    for number in anchor.tasks:
        task = located(anchor.plan.task(number, code=anchor.code), cloud)
        lane = task.places[0].lane
        shared = templates[lane.platform, lane.region]
        request = cloud.platform(lane.platform).request(shared, task, task.places[0], 1, task.limits.max_runtime_s)
        yield {"region": lane.region, "CreateTrainingJob": request.body}
