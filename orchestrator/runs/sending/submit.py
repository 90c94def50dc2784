"""The only sequence that submits. Killed at any line, call it again: each step finds what is done already."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from orchestrator.aws.jobs.batch import ArrayJob, Resource
from orchestrator.errors import RunFailed, UsageError
from orchestrator.plan.slots import lots_by_key
from orchestrator.runs.known.lease import held, renew
from orchestrator.runs.patience import PASSING, Patience
from orchestrator.runs.sending.copy import copy, located
from orchestrator.runs.sending.deadline import end_by, with_deadline
from orchestrator.runs.sending.templates import make_template, source_key
from orchestrator.runs.written.anchor import add_submission, submissions
from orchestrator.runs.written.plan_now import planned_now
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

LOOK_AGAIN_S = 5.0
"""Seconds after which a job can be found whose submission was not answered."""

log = logging.getLogger(__name__)


def submit(anchor: Anchor, package: Package | None, ledger: Ledger, cloud: Cloud) -> None:
    """Do exactly this run's plan, once: sources and templates to every Region, then all arrays not yet sent."""
    cloud.refuse_elsewhere(anchor.name, anchor.home)
    ledger.remember(anchor, cloud.account)
    if held(anchor.name, ledger):
        renew(anchor, ledger)  # for the run's life, now that it is one: copies of data may take hours
    made_and_cancelled(anchor, cloud)
    prepare(anchor, package, cloud)
    add_submission(cloud.s3, anchor.name, everything(anchor.plan))
    made, cancelled = made_and_cancelled(anchor, cloud)
    _warn_of_shared_queues(made[0], anchor, cloud)
    for submission in made:
        if submission.number > cancelled:
            send(planned_now(anchor, made, submission.number), submission, ledger, cloud)


def made_and_cancelled(anchor: Anchor, cloud: Cloud) -> tuple[list[Submission], int]:
    """Return the run's submissions, and the number up to which they are cancelled. UsageError if all are."""
    made = list(submissions(cloud.s3, anchor.name))
    cancelled = cloud.control(anchor.name).cancel_marker().through
    if made and made[-1].number <= cancelled:
        raise UsageError(
            f"run {anchor.name!r} has been cancelled",
            hint=f"`sweep retry {anchor.name}` runs it after all, --again makes another run",
        )
    return made, cancelled


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

    The run's plan must be that of this submission: a manifest and its index may be written by two machines.
    Return whether there was one. Raise RunFailed if the run is cancelled meanwhile: then no more is sent.
    """
    ledger.expect(anchor.name, submission)
    sent = False
    for array in ledger.unsent(anchor.name, submission):
        job = cloud.batch.find(array.name, cloud.queue(array.lot))
        if job is None:
            _refuse_cancelled(anchor, submission, cloud)
            _prepare_array(anchor, submission, array, cloud)
            job = _send_once(anchor, array, cloud)
            sent = True
        ledger.record(array, job)
        if sent:
            _refuse_cancelled(anchor, submission, cloud, job)
    if sent:
        renew(anchor, ledger)
    return sent


def _refuse_cancelled(anchor: Anchor, submission: Submission, cloud: Cloud, job: str | None = None) -> None:
    """Raise RunFailed if the run has been cancelled. A job that was sent just then, and may be missed, is ended."""
    if cloud.control(anchor.name).cancelled(submission.number):
        if job:
            cloud.batch.terminate(job, "cancelled")
        hint = f"`sweep retry {anchor.name}` runs it after all"
        raise RunFailed("was cancelled while it was being submitted", where=anchor.name, hint=hint)


def _prepare_array(anchor: Anchor, submission: Submission, array: Array, cloud: Cloud) -> None:
    """Make all that an array needs before it is sent. From now on its tasks belong to its submission."""
    if submission.number > 1:
        cloud.control(anchor.name).hand_over(submission.tasks, to=submission.number)
    for key, body in objects(anchor, submission, array, cloud).items():
        cloud.s3.put_once(key, body)
    for resource in resources(anchor, array):
        # A retry's plan may be old: what it says of a quota is news only the first time, or if it was planned anew.
        cloud.batch.ensure_resource(resource, change=submission.number == 1 or submission.planned is not None)


def _send_once(anchor: Anchor, array: Array, cloud: Cloud) -> str:
    """Submit the array and return its job. After an answer that was lost, look first whether it is there."""
    job = array_job(anchor, array, cloud.definition, cloud)

    def send() -> str:
        return cloud.batch.find(array.name, job.queue) or cloud.batch.submit(job)

    try:
        return cloud.batch.submit(job)
    except PASSING as error:
        log.warning("%s: looking whether it has arrived", error.message)
        time.sleep(LOOK_AGAIN_S)
        return Patience().ask(send)


def objects(anchor: Anchor, submission: Submission, array: Array, cloud: Cloud) -> dict[str, bytes]:
    """Return the manifest of an array and its index, by key."""
    moment = end_by(anchor, submission)
    planned = (
        anchor.plan.task(number, code=anchor.code, after=submission.attempts_before(number)) for number in array.tasks
    )
    tasks = (located(with_deadline(task, moment), cloud) for task in planned)
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
