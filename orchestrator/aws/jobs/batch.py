"""AWS Batch in one Region: job definitions, arrays, consumable resources, and what became of an array's children."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from orchestrator.aws.errors import aws_errors
from orchestrator.aws.jobs.batch_job import job_of_detail, job_of_summary
from orchestrator.aws.jobs.queue_errors import queue_errors
from orchestrator.errors import InvalidRequest, NotFound
from orchestrator.wire.names import digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mypy_boto3_batch import BatchClient
    from mypy_boto3_batch.literals import JobStatusType
    from mypy_boto3_batch.type_defs import JobSummaryTypeDef

    from orchestrator.aws.jobs.batch_job import Job
    from orchestrator.aws.session import Clients

DESCRIBED_AT_ONCE = 100
"""Jobs that AWS describes in one call, at the most."""
CANCELLED_AT_ONCE = 50
"""Jobs that AWS cancels in one call, at the most."""
REASON_LENGTH = 1024
"""Characters that a reason for a termination may have."""


@dataclass(frozen=True)
class ArrayJob:
    """An array job to be submitted. A `size` of 1 makes an ordinary job: AWS's arrays begin at two."""

    name: str
    queue: str
    definition: str
    size: int
    environment: Mapping[str, str]
    """Variables that every child gets. They must be few: AWS fails a job of over 8,192 characters of overrides."""
    tags: Mapping[str, str]
    needs: Mapping[str, int] = field(default_factory=dict)
    """The amount of each consumable resource a child holds while it runs. Until there is so much, it waits."""
    parameters: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Resource:
    """A consumable resource: jobs hold some of its total while they run."""

    name: str
    total: int


@dataclass(frozen=True)
class ResourceUse:
    """What jobs hold of a consumable resource right now."""

    total: int
    in_use: int


class Batch:
    """AWS Batch in one Region."""

    def __init__(self, clients: Clients, region: str) -> None:
        self.clients = clients
        self.region = region

    def ensure_definition(self, rendered: Mapping[str, Any]) -> str:
        """Return the ARN of an active definition with just this content, registered only if there is none.

        Its name carries the hash of its content, so a definition never changes under a run that uses it.
        """
        body = register_definition_request(rendered)
        name = body["jobDefinitionName"]
        with aws_errors(f"look up the job definition {name}", where=self.region):
            pages = self._client.get_paginator("describe_job_definitions").paginate(
                jobDefinitionName=name, status="ACTIVE"
            )
            for page in pages:
                for found in page["jobDefinitions"]:
                    return found["jobDefinitionArn"]
        with aws_errors(f"register the job definition {name}", where=self.region):
            return self._client.register_job_definition(**body)["jobDefinitionArn"]

    def named(self, prefix: str, queue: str) -> list[Job]:
        """Return every job in this queue whose name begins so, the oldest first, as it stands now.

        Batch forgets jobs a week after they have ended.
        """
        found: list[JobSummaryTypeDef] = []
        with queue_errors(f"look for jobs {prefix}*", where=f"{self.region} {queue}"):
            pages = self._client.get_paginator("list_jobs").paginate(
                jobQueue=queue, filters=[{"name": "JOB_NAME", "values": [f"{prefix}*"]}]
            )
            for page in pages:
                # AWS's filter ignores case.
                found += [job for job in page["jobSummaryList"] if job["jobName"].startswith(prefix)]
        return [job_of_summary(job) for job in sorted(found, key=lambda job: job.get("createdAt", 0))]

    def find(self, name: str, queue: str) -> str | None:
        """Return the id of the job of this name in this queue, the oldest if there are several; None if there is none.

        Batch forgets jobs a week after they have ended.
        """
        return next((job.id for job in self.named(name, queue) if job.name == name), None)

    def submit(self, array: ArrayJob) -> str:
        """Submit the array, and return the id of its job.

        SubmitJob has no client token, so it is sent once: `find` the name first, and again before you repeat it.
        """
        client = self.clients.client("batch", self.region, once=True)
        with queue_errors(f"submit the job {array.name}", where=f"{self.region} {array.queue}"):
            return client.submit_job(**submit_job_request(array))["jobId"]

    def ensure_resource(self, resource: Resource, *, change: bool) -> None:
        """Create the consumable resource, unless it is there; with `change`, one that is there gets this total."""
        try:
            total = self._total(resource.name)
        except InvalidRequest:  # all that Batch says of what is not there
            try:
                with aws_errors(f"create the consumable resource {resource.name}", where=self.region):
                    self._client.create_consumable_resource(**create_resource_request(resource))
                return
            except InvalidRequest:
                total = self._total(resource.name)  # somebody else has just made it, or this tells what is wrong
        if change and total != resource.total:
            with aws_errors(f"change the consumable resource {resource.name}", where=self.region):
                self._client.update_consumable_resource(
                    consumableResource=resource.name, operation="SET", quantity=resource.total
                )

    def _total(self, name: str) -> int:
        with aws_errors(f"look up the consumable resource {name}", where=self.region):
            return self._client.describe_consumable_resource(consumableResource=name)["totalQuantity"]

    def resource_use(self, name: str) -> ResourceUse | None:
        """Return what is held of a consumable resource now; None if there is none of this name."""
        try:
            with aws_errors(f"look up the consumable resource {name}", where=self.region):
                found = self._client.describe_consumable_resource(consumableResource=name)
        except (InvalidRequest, NotFound):
            return None
        return ResourceUse(found["totalQuantity"], found["inUseQuantity"])

    def children(self, job_id: str, status: JobStatusType) -> Iterator[Job]:
        """Yield the children of the array that are in this status, as far as Batch knows the array."""
        with aws_errors(f"list the children of {job_id}", where=self.region):
            for page in self._client.get_paginator("list_jobs").paginate(arrayJobId=job_id, jobStatus=status):
                yield from (job_of_summary(job) for job in page["jobSummaryList"])

    def child(self, job_id: str, index: int, size: int) -> Job | None:
        """Return a child of an array of this size, or the job itself if it is no array; None if Batch forgot it."""
        return next(iter(self.describe([f"{job_id}:{index}" if size > 1 else job_id])), None)

    def describe(self, ids: Sequence[str]) -> list[Job]:
        """Return those of these jobs that Batch still knows, as they stand now."""
        jobs: list[Job] = []
        for first in range(0, len(ids), DESCRIBED_AT_ONCE):
            with aws_errors("describe jobs", where=self.region):
                answer = self._client.describe_jobs(jobs=list(ids[first : first + DESCRIBED_AT_ONCE]))
            jobs += [job_of_detail(job) for job in answer["jobs"]]
        return jobs

    def failed_children(self, job_id: str) -> Iterator[Job]:
        """Yield the children of the array that have failed; the job itself, if it failed and is no array."""
        parents = self.describe([job_id])
        if parents and parents[0].size == 1:
            yield from (job for job in parents if job.status == "FAILED")
            return
        yield from self.children(job_id, "FAILED")

    def terminate(self, job_id: str, reason: str) -> None:
        """Stop the job, or the array with all its children. What has ended stays as it is."""
        with aws_errors(f"terminate the job {job_id}", where=self.region):
            self._client.terminate_job(jobId=job_id, reason=reason[:REASON_LENGTH])

    def cancel(self, ids: Sequence[str], reason: str) -> None:
        """End those of these jobs, or children of arrays, that have not been started. What runs goes on."""
        several: Any = getattr(self._client, "cancel_jobs", None)  # an older boto3 has only the call for one
        with aws_errors("cancel jobs that wait", where=self.region):
            if several is None:
                for job in ids:
                    self._client.cancel_job(jobId=job, reason=reason[:REASON_LENGTH])
                return
            for first in range(0, len(ids), CANCELLED_AT_ONCE):
                several(jobs=list(ids[first : first + CANCELLED_AT_ONCE]), reason=reason[:REASON_LENGTH])

    @property
    def _client(self) -> BatchClient:
        return self.clients.client("batch", self.region)


def register_definition_request(rendered: Mapping[str, Any]) -> dict[str, Any]:
    """Return the RegisterJobDefinition request, under a name that carries the hash of the definition's content."""
    return {**rendered, "jobDefinitionName": f"{rendered['jobDefinitionName']}-{digest(dict(rendered))}"}


def create_resource_request(resource: Resource) -> dict[str, Any]:
    """Return the CreateConsumableResource request."""
    return {
        "consumableResourceName": resource.name,
        "totalQuantity": resource.total,
        "resourceType": "REPLENISHABLE",
    }


def submit_job_request(array: ArrayJob) -> dict[str, Any]:
    """Return the SubmitJob request. Nothing is sent: a dry run shows the request."""
    body: dict[str, Any] = {
        "jobName": array.name,
        "jobQueue": array.queue,
        "jobDefinition": array.definition,
        "containerOverrides": {"environment": _names_and_values(array.environment.items())},
        "tags": dict(array.tags),
        "propagateTags": True,
    }
    body |= {"parameters": dict(array.parameters)} if array.parameters else {}
    if array.needs:
        needs = [{"consumableResource": name, "quantity": count} for name, count in sorted(array.needs.items())]
        body["consumableResourcePropertiesOverride"] = {"consumableResourceList": needs}
    if array.size > 1:
        body["arrayProperties"] = {"size": array.size}
    return body


def _names_and_values(items: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in sorted(items)]
