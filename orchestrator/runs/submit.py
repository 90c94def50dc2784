"""The only sequence that submits. Killed at any line, call it again: each step finds what is done already."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from orchestrator.aws.batch import ArrayJob, Resource
from orchestrator.errors import UsageError
from orchestrator.plan.slots import lots_by_quota
from orchestrator.platforms.sagemaker.images import pin_images
from orchestrator.platforms.sagemaker.stage import make_template, stage
from orchestrator.runs.anchor import add_submission, submissions
from orchestrator.runs.copy import copy, located
from orchestrator.runs.lease import renew
from orchestrator.runs.submission import everything
from orchestrator.wire import manifest
from orchestrator.wire.names import S3Uri, canonical, index_key, resource_name

if TYPE_CHECKING:
    from orchestrator.platforms.source import Package
    from orchestrator.runs.anchor import Anchor
    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.ledger import Ledger
    from orchestrator.runs.submission import Array, Submission

log = logging.getLogger(__name__)


def submit(anchor: Anchor, package: Package | None, ledger: Ledger, cloud: Cloud) -> None:
    """Do exactly this run's plan, once: sources and templates to every Region, then all arrays not yet sent."""
    ledger.remember(anchor, cloud.account)
    prepare(anchor, package, cloud)
    add_submission(cloud.s3, anchor.name, everything(anchor.plan))
    made = list(submissions(cloud.s3, anchor.name))
    if cloud.control(anchor.name).cancelled(made[-1].number):
        raise UsageError(
            f"run {anchor.name!r} has been cancelled",
            hint=f"`sweep retry {anchor.name}` runs it after all, --again makes another run",
        )
    _warn_of_shared_queues(made[0], anchor, cloud)
    for submission in made:
        send(anchor, submission, ledger, cloud)


def _warn_of_shared_queues(first: Submission, anchor: Anchor, cloud: Cloud) -> None:
    quotas = {array.quota for array in first.arrays(anchor.name) if array.quota}
    queues = sorted({cloud.queue(quota) for quota in quotas})
    if len(queues) < len(quotas):
        log.warning(
            "tasks of %d lanes wait for slots in %s, where one lane holds up the others: set `lane_queue`",
            len(quotas),
            "the queue " + queues[0] if len(queues) == 1 else f"{len(queues)} queues",
        )


def check(wanted: Anchor, package: Package, cloud: Cloud) -> None:
    """Refuse now, before anything is written, what AWS or the sweep itself would refuse later."""
    for _, region in wanted.plan.sites:
        shared = make_template(wanted.plan.sweep, package.digest, region, wanted.name, cloud.site)
        pin_images(shared, cloud.clients)
        cloud.bucket(region).check()
    cloud.rendered  # noqa: B018 (is there such an image of the launcher?)
    arrays = everything(wanted.plan).arrays(wanted.name)
    for queue in sorted({cloud.queue(array.quota) for array in arrays}):
        cloud.batch.find(arrays[0].name, queue)  # is there such a queue?


def prepare(anchor: Anchor, package: Package | None, cloud: Cloud) -> None:
    """Make the data copies; then put sources and a template into each Region a task may come to, each once."""
    copy(anchor.plan, cloud)
    control = cloud.control(anchor.name)
    for lane_platform, region in anchor.plan.sites:
        key = anchor.keys.template(lane_platform, region)
        if cloud.s3.exists(key):
            continue
        if package is None:
            raise UsageError(
                f"run {anchor.name!r} is not yet staged in {region}, and its source folder is not here",
                hint="submit it once more from the folder that it was planned in",
            )
        staged = stage(anchor.plan.sweep, package, region, anchor.name, cloud.site, cloud.bucket(region))
        control.s3.put_once(key, canonical(pin_images(staged, cloud.clients).to_json()).encode())


def send(anchor: Anchor, submission: Submission, ledger: Ledger, cloud: Cloud) -> bool:
    """Send every array of this submission that Batch does not have yet: its manifest, its index, its slots, the job.

    Return whether there was one. What is cancelled is not sent any more.
    """
    ledger.expect(anchor.name, submission)
    sent = False
    for array in ledger.unsent(anchor.name, submission):
        job = cloud.batch.find(array.name, cloud.queue(array.quota))
        if job is None:
            if cloud.control(anchor.name).cancelled(submission.number):
                break
            for key, body in objects(anchor, submission, array, cloud).items():
                cloud.s3.put_once(key, body)
            slots = resource(anchor, array)
            if slots:
                # A retry's plan may be old: what it says of a quota is news only the first time.
                cloud.batch.ensure_resource(slots, change=submission.number == 1)
            job = cloud.batch.submit(array_job(anchor, array, cloud.definition, cloud))
            sent = True
        ledger.record(array, job)
    if sent:
        renew(anchor, ledger)
    return sent


def objects(anchor: Anchor, submission: Submission, array: Array, cloud: Cloud) -> dict[str, bytes]:
    """Return the manifest of an array and its index, by key."""
    tasks = (
        located(anchor.plan.task(number, code=anchor.code, after=submission.attempts_before(number)), cloud)
        for number in array.tasks
    )
    lines, index = bytearray(), bytearray()
    for line, record in manifest.write(tasks):
        lines += line
        index += record
    return {array.manifest: bytes(lines), index_key(array.manifest): bytes(index)}


def resource(anchor: Anchor, array: Array) -> Resource | None:
    """Return the slots that the array's children wait for, all that there are, as Batch counts them; None if none."""
    quota = array.quota
    lot = lots_by_quota(anchor.plan).get(quota) if quota else None
    if quota is None or lot is None or lot.slots is None:
        return None
    return Resource(resource_name(quota.lane, quota.arn), lot.slots)


def array_job(anchor: Anchor, array: Array, definition: str, cloud: Cloud) -> ArrayJob:
    """Return the job of an array. A child is given where its manifest lies and nothing else: overrides stay short."""
    slots = resource(anchor, array)
    return ArrayJob(
        name=array.name,
        queue=cloud.queue(array.quota),
        definition=definition,
        size=len(array.tasks),
        environment={"SWEEP_MANIFEST": str(S3Uri(cloud.account.bucket, array.manifest))},
        tags={"sweep:run": anchor.name, "sweep:owner": anchor.owner},
        needs={slots.name: anchor.plan.sweep.train.instances} if slots else {},
    )
