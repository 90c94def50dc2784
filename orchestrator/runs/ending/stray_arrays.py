"""Finds array jobs of ours that belong to no live run: their launchers would start what nobody waits for.

What is written down in the control bucket decides. An array whose manifest lies in another bucket is somebody else's.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from orchestrator.errors import AccessError, CloudError, Damaged, NewerVersion
from orchestrator.runs.written import anchor as anchors
from orchestrator.wire.names import S3Uri, submission_of_manifest, valid_run_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.aws.jobs.batch_job import Job
    from orchestrator.runs.cloud import Cloud

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class StrayArray:
    """An array job that nobody waits for."""

    array: str
    job: str
    queue: str
    run: str
    running: int
    """Launchers of it that run."""
    waiting: int
    """Launchers of it that do not run yet."""
    why: str
    stopped: bool = False
    """It was terminated just now."""


def queues(cloud: Cloud, regions: Iterable[str]) -> tuple[list[str], str]:
    """Return the queues that arrays of these Regions may be in, and in words why these are not all; or nothing."""
    account = cloud.account
    if any(fact in account.lane_queue for fact in ("{platform}", "{instance_type}", "{purchase}")):
        return [account.queue], f"queues {account.lane_queue} are not listed: there is one for each lane"
    return sorted({account.queue, *(account.lane_queue.format(region=region) for region in regions)}), ""


def find_arrays(cloud: Cloud, names: Iterable[str], *, stop: bool) -> tuple[list[StrayArray], int]:
    """Return the arrays in these queues that nobody waits for, and how many are of other buckets' runs.

    With `stop`, they are terminated. A queue that there is not has no arrays.
    """
    found: list[StrayArray] = []
    others = 0
    for queue in names:
        try:
            jobs = [job for job in cloud.batch.named("", queue) if not job.ended]
        except CloudError as error:
            log.info("%s: %s", queue, error)
            continue
        for job in cloud.batch.describe([job.id for job in jobs]):
            manifest = _manifest(job)
            if manifest is None or job.ended or job.terminated:
                continue
            if manifest.bucket != cloud.account.bucket:
                others += 1
                continue
            stray = _judged(job, manifest, queue, cloud)
            if stray:
                found.append(replace(stray, stopped=stop and _terminate(stray, cloud)))
    return found, others


def _manifest(job: Job) -> S3Uri | None:
    """Return the manifest of a job, if it is an array of ours."""
    try:
        return S3Uri.parse(job.environment.get("SWEEP_MANIFEST", ""))
    except ValueError:
        return None


def _judged(job: Job, manifest: S3Uri, queue: str, cloud: Cloud) -> StrayArray | None:
    """Return the array with the reason why nobody waits for it; None if somebody does, or may."""
    known = submission_of_manifest(manifest.key)
    if known is None:
        return None
    run, submission = known
    try:
        why = _why_nobody_waits(run, submission, cloud)
    except (Damaged, NewerVersion) as error:
        log.warning("%s is left alone: %s", job.name, error)
        return None
    counts = job.counts or {job.status: 1}
    waiting = sum(counts.get(status, 0) for status in ("SUBMITTED", "PENDING", "RUNNABLE", "STARTING"))
    return StrayArray(job.name, job.id, queue, run, counts.get("RUNNING", 0), waiting, why) if why else None


def _why_nobody_waits(run: str, submission: int, cloud: Cloud) -> str:
    if not valid_run_name(run) or anchors.find(cloud.s3, run) is None:
        return f"there is no run {run!r}"
    if submission <= cloud.control(run).cancel_marker().ended:
        return f"run {run!r} was cancelled, and has ended"
    if anchors.read_submission(cloud.s3, run, submission) is None:
        return f"run {run!r} has no submission {submission}"
    return ""


def _terminate(stray: StrayArray, cloud: Cloud) -> bool:
    """Terminate an array. Return False, with a warning, if that could not be asked for."""
    try:
        cloud.batch.terminate(stray.job, "nobody waits for it")
    except (CloudError, AccessError) as error:
        log.warning("%s: %s", stray.array, error.message)
        return False
    return True
