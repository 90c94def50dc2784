"""Reads from DescribeTrainingJob where a training has spent its time so far."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.aws.errors import aws_errors
from orchestrator.errors import NotFound
from orchestrator.platforms.lives import Step, StepTaken

if TYPE_CHECKING:
    from datetime import datetime

    from orchestrator.aws.session import Clients
    from orchestrator.wire.result import Attempt

_STEPS = {
    "Starting": Step.QUEUE,
    "Pending": Step.QUEUE,
    "LaunchingMLInstances": Step.MACHINES,
    "PreparingTrainingStack": Step.MACHINES,
    "Downloading": Step.DOWNLOAD,
    "DownloadingTrainingImage": Step.DOWNLOAD,
    "Training": Step.TRAINING,
    "Restarting": Step.MACHINES,
    "Stopping": Step.TRAINING,
    "Uploading": Step.UPLOAD,
    "Interrupted": Step.INTERRUPTED,
}
"""The step that each of SageMaker's secondary statuses belongs to. Those that end a training are none."""


def steps(clients: Clients, attempt: Attempt) -> list[StepTaken]:
    """Return what the training has gone through, in order; nothing if its Region knows no such training."""
    region = attempt.lane.region
    try:
        with aws_errors(f"look at the training {attempt.training}", where=region):
            job: Any = clients.client("sagemaker", region).describe_training_job(TrainingJobName=attempt.training)
    except NotFound:
        return []
    return read_steps(job.get("SecondaryStatusTransitions") or [])


def read_steps(transitions: list[dict[str, Any]]) -> list[StepTaken]:
    """Return the steps of DescribeTrainingJob's SecondaryStatusTransitions."""
    return [
        StepTaken(
            step=_STEPS[one["Status"]],
            began_at=one["StartTime"].timestamp(),
            ended_at=_epoch(one.get("EndTime")),
            said=" ".join(str(one.get("StatusMessage") or "").split()),
        )
        for one in transitions
        if one["Status"] in _STEPS
    ]


def _epoch(moment: datetime | None) -> float | None:
    return moment.timestamp() if moment else None
