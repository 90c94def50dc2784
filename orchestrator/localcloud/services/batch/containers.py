"""A job's container: its command, its variables, and what its execution role must allow before it starts."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from orchestrator.localcloud.iam.service_roles import IMAGE, CannotTakeOn, Duty, pull, write_logs
from orchestrator.localcloud.services.moto.images import Repositories

if TYPE_CHECKING:
    from orchestrator.localcloud.services.batch.jobs import Job
    from orchestrator.localcloud.site import Site

_TASKS = "ecs-tasks.amazonaws.com"
NOT_PULLED = "CannotPullContainerError"
"""The beginning of why there is no image to start."""
NOT_STARTED = ("ResourceInitializationError", "ECS was unable")
"""The beginnings of why ECS starts no container, whatever its image."""


def argv(job: Job) -> list[str]:
    """Return a job's command, where `python` is the Python that runs this cloud: it has what the image would have."""
    program, *arguments = job.spec.command
    return [sys.executable if program in ("python", "python3") else program, *arguments]


def variables(site: Site, region: str, job: Job, environment: str) -> dict[str, str]:
    """Return a job's environment variables. Those that Batch sets win over those that the job asks for.

    Raise CannotTakeOn for a job role that the container cannot have.
    """
    set_by_batch = {
        "AWS_REGION": region,
        "AWS_DEFAULT_REGION": region,
        "AWS_EXECUTION_ENV": f"AWS_ECS_{job.spec.body.get('platformCapabilities', ['EC2'])[0]}",
        "AWS_BATCH_JOB_ID": job.id,
        "AWS_BATCH_JOB_ATTEMPT": str(len(job.attempts) + 1),
        "AWS_BATCH_JQ_NAME": job.spec.queue.rpartition("/")[2],
        "AWS_BATCH_CE_NAME": environment,
    }
    if job.parent:
        set_by_batch["AWS_BATCH_JOB_ARRAY_INDEX"] = str(job.index)
        set_by_batch["AWS_BATCH_JOB_ARRAY_SIZE"] = str(len(job.parent.children))
    keys = site.roles.variables(_duty(region, job, "jobRoleArn"))
    return {**site.environment, **keys, "PYTHONUNBUFFERED": "1", **job.spec.environment, **set_by_batch}


def why_not(site: Site, region: str, job: Job) -> str:
    """Return why ECS starts no container for a job, in its words: its roles do not allow it. Nothing if they do."""
    container = job.spec.container
    try:
        site.roles.variables(_duty(region, job, "jobRoleArn"))
    except CannotTakeOn as error:
        return f"ECS was unable to assume the role that was provided for this task: {error}"
    duty = _duty(region, job, "executionRoleArn")
    if refusal := site.roles.why_not(duty, pull(container.get("image", ""))):
        return f"{NOT_PULLED}: pull image manifest has been retried 1 time(s): {refusal}"
    if missing := _missing_image(site, container.get("image", "")):
        return (
            f"{NOT_PULLED}: pull image manifest has been retried 5 time(s): failed to resolve ref {missing}: not found"
        )
    if "logConfiguration" in container or duty.role:
        stream = write_logs(site.account, region, job.log_group, job.log_stream)
        if refusal := site.roles.why_not(duty, stream):
            return f"ResourceInitializationError: failed to validate logger args: {refusal}"
    return ""


def _missing_image(site: Site, image: str) -> str:
    """Return an image that should be in this account's ECR, and is not; nothing for any other.

    A repository that no Region has is assumed to have every image everywhere.
    """
    found = IMAGE.match(image)
    if found is None or found["account"] != site.account:
        return ""
    repositories = Repositories()
    name, which = found["name"], image.rpartition("@")[2] if "@" in image else image.rpartition(":")[2]
    is_there = not repositories.has(name) or repositories.has_image(found["region"], name, which)
    return "" if is_there else image


def _duty(region: str, job: Job, member: str) -> Duty:
    return Duty(job.spec.container.get(member, ""), _TASKS, job.id.replace(":", "-"), region)
