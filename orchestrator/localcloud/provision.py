"""Gives a fresh local cloud buckets, roles, queues in every Region, and a little data to try things on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.localcloud.names import (
    DEAD_LETTERS,
    LAUNCHER_ROLE,
    QUEUE,
    SCHEDULE_ROLE,
    TASK_ROLE,
    TRAINING_ROLE,
    bucket,
    lane_queue,
)
from orchestrator.localcloud.services.moto.backends import create_profile, create_queue, create_role

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orchestrator.localcloud.services.batch.api import Batch
    from orchestrator.localcloud.services.moto.backends import LogStreams, Objects

LOG_GROUPS = ("/aws/batch/job", "/aws/sagemaker/TrainingJobs")
EXAMPLES = {"eu-central-1": ("berlin-winter", "oslo-night"), "eu-west-1": ("oslo-night",)}
"""The campaigns in a Region's bucket: those of the catalog that `sweep init` writes."""
DRIVE = b"seconds,speed,steering\n" + b"".join(b"%d,%d,%d\n" % (s, 40 + s % 7, s % 5 - 2) for s in range(60))
"""A minute of a campaign, as text."""


def provision(batch: Mapping[str, Batch], objects: Objects, streams: LogStreams, vcpus: float) -> None:
    """Make all that a fresh cloud has. `vcpus` is what the queues of a Region share."""
    regions = list(batch)
    objects.create_bucket(bucket(), regions[0])
    create_role(TRAINING_ROLE, "sagemaker.amazonaws.com", "ec2.amazonaws.com", "pods.eks.amazonaws.com")
    create_profile(TRAINING_ROLE)
    create_role(LAUNCHER_ROLE, "ecs-tasks.amazonaws.com")
    create_role(TASK_ROLE, "ecs-tasks.amazonaws.com")
    create_role(SCHEDULE_ROLE, "scheduler.amazonaws.com")
    create_queue(regions[0], DEAD_LETTERS)
    for region in regions:
        objects.create_bucket(bucket(region), region)
        for campaign in EXAMPLES.get(region, ()):
            objects.write(bucket(region), f"campaigns/{campaign}/v1/drive.csv", DRIVE)
        for group in LOG_GROUPS:
            streams.create_group(region, group)
        _queues(batch[region], vcpus, [QUEUE, *map(lane_queue, regions)])


def _queues(batch: Batch, vcpus: float, queues: Sequence[str]) -> None:
    """Make a Region's queues, all on one compute environment."""
    resources = {"type": "FARGATE", "maxvCpus": vcpus, "subnets": [], "securityGroupIds": []}
    batch.create_compute_environment(
        {"computeEnvironmentName": QUEUE, "type": "MANAGED", "computeResources": resources, "tags": {}}
    )
    order = [{"order": 1, "computeEnvironment": QUEUE}]
    for name in queues:
        batch.create_job_queue({"jobQueueName": name, "priority": 1, "computeEnvironmentOrder": order, "tags": {}})
