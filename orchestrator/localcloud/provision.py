"""What a fresh local cloud has: buckets, roles, a queue in every Region. And the environment that leads to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.localcloud.backends import create_role
from orchestrator.localcloud.names import LAUNCHER_ROLE, QUEUE, TASK_ROLE, TRAINING_ROLE, bucket

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.localcloud.backends import Objects, Streams
    from orchestrator.localcloud.batch.api import Batch

LOG_GROUPS = ("/aws/batch/job", "/aws/sagemaker/TrainingJobs")


def provision(batch: Mapping[str, Batch], objects: Objects, streams: Streams, vcpus: float) -> None:
    regions = list(batch)
    objects.create_bucket(bucket(), regions[0])
    create_role(TRAINING_ROLE, "sagemaker.amazonaws.com")
    create_role(LAUNCHER_ROLE, "ecs-tasks.amazonaws.com")
    create_role(TASK_ROLE, "ecs-tasks.amazonaws.com")
    for region in regions:
        objects.create_bucket(bucket(region), region)
        for group in LOG_GROUPS:
            streams.create_group(region, group)
        _queue(batch[region], vcpus)


def _queue(batch: Batch, vcpus: float) -> None:
    resources = {"type": "FARGATE", "maxvCpus": vcpus, "subnets": [], "securityGroupIds": []}
    batch.create_compute_environment(
        {"computeEnvironmentName": QUEUE, "type": "MANAGED", "computeResources": resources, "tags": {}}
    )
    order = [{"order": 1, "computeEnvironment": QUEUE}]
    batch.create_job_queue({"jobQueueName": QUEUE, "priority": 1, "computeEnvironmentOrder": order, "tags": {}})
