"""Finds the training jobs in a Region that carry the tags of a run and have not ended. It stops nothing."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from orchestrator.aws.errors import aws_errors
from orchestrator.errors import NotFound
from orchestrator.platforms.lives import Alive
from orchestrator.wire.task import Lane, Purchase

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mypy_boto3_sagemaker import SageMakerClient
    from mypy_boto3_sagemaker.literals import TrainingJobStatusType

    from orchestrator.aws.session import Clients

NOT_ENDED: tuple[TrainingJobStatusType, ...] = ("InProgress", "Stopping")
LONGEST = timedelta(days=60)
"""No training takes longer: SageMaker ends it after 28 days, and the wait of a spot training after 28 as well."""


def alive(clients: Clients, region: str) -> Iterator[Alive]:
    """Yield the training jobs in a Region that have not ended and carry a run's tags."""
    client = clients.client("sagemaker", region)
    for status in NOT_ENDED:
        with aws_errors("list the trainings that run", where=region):
            pages = client.get_paginator("list_training_jobs").paginate(
                StatusEquals=status,
                CreationTimeAfter=datetime.now(timezone.utc) - LONGEST,
                PaginationConfig={"PageSize": 100},
            )
            names = [job["TrainingJobName"] for page in pages for job in page["TrainingJobSummaries"]]
        for name in names:
            found = _read(client, region, name)
            if found:
                yield found


def _read(client: SageMakerClient, region: str, name: str) -> Alive | None:
    """Return what a training is; None if it carries no tags of ours, or has just gone."""
    try:
        with aws_errors(f"look at the training {name}", where=region):
            job: dict[str, Any] = dict(client.describe_training_job(TrainingJobName=name))
            pages = client.get_paginator("list_tags").paginate(ResourceArn=job["TrainingJobArn"])
            tags = {tag["Key"]: tag["Value"] for page in pages for tag in page["Tags"]}
    except NotFound:
        return None
    run, task, attempt = (tags.get(f"sweep:{name}", "") for name in ("run", "task", "attempt"))
    if not run or not task.isdecimal() or not attempt.isdecimal():
        return None
    machines = machines_of(job.get("ResourceConfig", {}))
    started = job.get("TrainingStartTime")
    return Alive(
        training=name,
        lane=Lane("sagemaker", region, machines.get("InstanceType", ""), purchase_of(job)),
        instances=int(machines.get("InstanceCount", 1)),
        run=run,
        task=int(task),
        attempt=int(attempt),
        output=job.get("OutputDataConfig", {}).get("S3OutputPath", ""),
        started_at=started.timestamp() if started else None,
    )


def machines_of(resources: dict[str, Any]) -> dict[str, Any]:
    """Return type and number of instances: as selected, or else as they are wished for first."""
    selected = {
        name.removeprefix("Selected"): value for name, value in resources.items() if name.startswith("Selected")
    }
    wished: dict[str, Any] = next(iter(resources.get("InstancePreferences", [])), {})
    return resources | wished | selected


def purchase_of(job: dict[str, Any]) -> Purchase:
    """Return how a training's instances are bought."""
    if job.get("EnableManagedSpotTraining"):
        return Purchase.SPOT
    return Purchase.COMMITTED if job.get("ResourceConfig", {}).get("TrainingPlanArn") else Purchase.ON_DEMAND
