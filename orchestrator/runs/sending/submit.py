"""The only sequence that submits. Killed at any line, call it again: each step finds what is done already."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from orchestrator.aws.batch import ArrayJob, Resource
from orchestrator.errors import UsageError
from orchestrator.plan.slots import lots_by_key
from orchestrator.runs.known.lease import renew
from orchestrator.runs.sending.copy import copy, located
from orchestrator.runs.sending.templates import make_template, source_key
from orchestrator.runs.written.anchor import add_submission, submissions
from orchestrator.runs.written.submission import everything
from orchestrator.wire import manifest
from orchestrator.wire.names import S3Uri, canonical, index_key, resource_name

if TYPE_CHECKING:
    from orchestrator.plan.plan import Plan
    from orchestrator.platforms.source import Package
    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.known.ledger import Ledger
    from orchestrator.runs.written.anchor import Anchor
    from orchestrator.runs.written.submission import Array, Submission
    from orchestrator.wire.task import Quota

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
    lots = {array.lot for array in first.arrays(anchor.name) if array.lot}
    queues = sorted({cloud.queue(lot) for lot in lots})
    if len(queues) < len(lots):
        log.warning(
            "tasks of %d lanes wait for slots in %s, where one lane holds up the others: set `lane_queue`",
            len(lots),
            "the queue " + queues[0] if len(queues) == 1 else f"{len(queues)} queues",
        )


def prepare(anchor: Anchor, package: Package | None, cloud: Cloud) -> None:
    """Make the data copies; then put sources and a template into each Region a task may come to, each once."""
    copy(anchor.plan, cloud)
    control = cloud.control(anchor.name)
    for platform, region in anchor.plan.sites:
        key = anchor.keys.template(platform, region)
        if cloud.s3.exists(key):
            continue
        if package is None:
            raise UsageError(
                f"run {anchor.name!r} is not yet staged in {region}, and its source folder is not here",
                hint="submit it once more from the folder that it was planned in",
            )
        template = make_template(anchor, platform, region, cloud)
        cloud.bucket(region).put_once(source_key(package.digest), package.body)
        control.s3.put_once(key, canonical(template.to_json()).encode())


def send(anchor: Anchor, submission: Submission, ledger: Ledger, cloud: Cloud) -> bool:
    """Send every array of this submission that Batch does not have yet: its manifest, its index, its slots, the job.

    Return whether there was one. What is cancelled is not sent any more.
    """
    ledger.expect(anchor.name, submission)
    sent = False
    for array in ledger.unsent(anchor.name, submission):
        job = cloud.batch.find(array.name, cloud.queue(array.lot))
        if job is None:
            if cloud.control(anchor.name).cancelled(submission.number):
                break
            for key, body in objects(anchor, submission, array, cloud).items():
                cloud.s3.put_once(key, body)
            for resource in resources(anchor, array):
                # A retry's plan may be old: what it says of a quota is news only the first time.
                cloud.batch.ensure_resource(resource, change=submission.number == 1)
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


def resources(anchor: Anchor, array: Array) -> list[Resource]:
    """Return the quotas that the array's children wait for, as Batch counts them: each with all its units.

    A quota whose units nobody knows is none of them: nobody can wait for it.
    """
    used = _units_of_child(anchor.plan, array)
    return [Resource(resource_name(fact.quota), fact.units) for fact in anchor.plan.quotas if fact.quota in used]


def _units_of_child(plan: Plan, array: Array) -> dict[Quota, int]:
    """Return the units of each quota that a child of the array holds while it runs: those of its task's first place."""
    lot = lots_by_key(plan).get(array.lot) if array.lot else None
    return {} if lot is None else {quota: units * array.instances for quota, units in lot.quotas.items()}


def array_job(anchor: Anchor, array: Array, definition: str, cloud: Cloud) -> ArrayJob:
    """Return the job of an array. A child is given where its manifest lies and nothing else: overrides stay short."""
    used = _units_of_child(anchor.plan, array)
    known = [fact.quota for fact in anchor.plan.quotas if fact.quota in used]
    return ArrayJob(
        name=array.name,
        queue=cloud.queue(array.lot),
        definition=definition,
        size=len(array.tasks),
        environment={"SWEEP_MANIFEST": str(S3Uri(cloud.account.bucket, array.manifest))},
        tags={**anchor.plan.sweep.tags, "sweep:run": anchor.name, "sweep:owner": anchor.owner},
        needs={resource_name(quota): used[quota] for quota in known},
    )
