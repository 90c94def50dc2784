"""The dry run: every request that submitting would send, as it would be sent. Nothing is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.aws.batch import named, submission
from orchestrator.platforms.sagemaker.stage import template
from orchestrator.runs.anchor import everything
from orchestrator.runs.copy import located
from orchestrator.runs.submit import array_job
from orchestrator.wire.names import index_key

if TYPE_CHECKING:
    from orchestrator.platforms.source import Package
    from orchestrator.runs.anchor import Anchor, Array
    from orchestrator.runs.cloud import Cloud


def requests(anchor: Anchor, package: Package, cloud: Cloud) -> dict[str, Any]:
    """By service: what is packed and put, registered and submitted, and each task's first training."""
    plan = anchor.plan
    arrays = everything(plan).arrays(anchor.name)
    definition = named(cloud.account.definition)
    return {
        "run": anchor.name,
        "sources": {"digest": package.digest, "files": list(package.files)},
        "s3": [{"Bucket": cloud.account.bucket, "Key": key} for key in _keys(anchor, arrays)],
        "batch": {
            "RegisterJobDefinition": definition,
            "SubmitJob": [
                submission(array_job(anchor, array, definition["jobDefinitionName"], cloud), cloud.account.queue)
                for array in arrays
            ],
        },
        "sagemaker": _trainings(anchor, package, cloud),
    }


def _keys(anchor: Anchor, arrays: list[Array]) -> list[str]:
    keys = [anchor.keys.anchor, anchor.keys.submission(1)]
    keys += [anchor.keys.template(platform, region) for platform, region in anchor.plan.sites]
    for array in arrays:
        keys += [array.manifest, index_key(array.manifest)]
    return keys


def _trainings(anchor: Anchor, package: Package, cloud: Cloud) -> list[dict[str, Any]]:
    """CreateTrainingJob of every task's first attempt at its first place."""
    plan = anchor.plan
    templates = {
        (platform, region): template(plan.sweep, package.digest, region, anchor.name, cloud.site)
        for platform, region in plan.sites
    }
    trainings = []
    for number in range(plan.tasks):
        task = located(plan.task(number, code=anchor.code), cloud)
        place = task.places[0]
        request = cloud.platform(place.lane.platform).request(
            templates[place.lane.platform, place.lane.region], task, place, 1, task.limits.max_runtime_s
        )
        trainings.append({"region": place.lane.region, "CreateTrainingJob": request.body})
    return trainings
