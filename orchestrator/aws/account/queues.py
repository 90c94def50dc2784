"""Batch's queues in one Region: what they are, what they run on, and whether anything waits in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.aws.errors import aws_errors

if TYPE_CHECKING:
    from mypy_boto3_batch import BatchClient
    from mypy_boto3_batch.literals import JobStatusType

    from orchestrator.aws.session import Clients

_NOT_ENDED: tuple[JobStatusType, ...] = ("SUBMITTED", "PENDING", "RUNNABLE", "STARTING", "RUNNING")


@dataclass(frozen=True)
class Queue:
    """A queue as it stands."""

    name: str
    is_enabled: bool
    is_valid: bool
    reason: str
    environments: tuple[str, ...]
    """The ARNs of what it runs on, in the order in which it tries them."""


@dataclass(frozen=True)
class Environment:
    """A compute environment as it stands."""

    name: str
    is_enabled: bool
    is_valid: bool
    reason: str
    max_vcpus: int
    subnets: tuple[str, ...]
    security_groups: tuple[str, ...]


class Queues:
    """The queues of this account in one Region."""

    def __init__(self, clients: Clients, region: str) -> None:
        self._clients = clients
        self._region = region

    def find(self, name: str) -> Queue | None:
        """Return a queue, by its name or ARN; None when there is none."""
        with aws_errors(f"look at the queue {name}", where=self._region):
            found = self._client.describe_job_queues(jobQueues=[name])["jobQueues"]
        if not found:
            return None
        order = sorted(found[0]["computeEnvironmentOrder"], key=lambda entry: entry["order"])
        return Queue(
            found[0]["jobQueueName"],
            found[0]["state"] == "ENABLED",
            found[0].get("status") == "VALID",
            found[0].get("statusReason", ""),
            tuple(entry["computeEnvironment"] for entry in order),
        )

    def environment(self, name: str) -> Environment | None:
        """Return a compute environment, by its name or ARN; None when there is none."""
        with aws_errors(f"look at the compute environment {name}", where=self._region):
            found = self._client.describe_compute_environments(computeEnvironments=[name])["computeEnvironments"]
        if not found:
            return None
        resources = found[0].get("computeResources", {})
        return Environment(
            found[0]["computeEnvironmentName"],
            found[0].get("state") == "ENABLED",
            found[0].get("status") == "VALID",
            found[0].get("statusReason", ""),
            int(resources.get("maxvCpus", 0)),
            tuple(resources.get("subnets", ())),
            tuple(resources.get("securityGroupIds", ())),
        )

    def living_job(self, queue: str) -> str:
        """Return the name of a job in a queue that has not ended; empty if there is none."""
        with aws_errors(f"list the jobs of {queue}", where=self._region):
            for status in _NOT_ENDED:
                found = self._client.list_jobs(jobQueue=queue, jobStatus=status, maxResults=1)["jobSummaryList"]
                if found:
                    return found[0]["jobName"]
        return ""

    @property
    def _client(self) -> BatchClient:
        return self._clients.client("batch", self._region)
