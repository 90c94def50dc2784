"""What jobs are submitted to and from: compute environments, queues and job definitions, found by name or by ARN."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.http.answers import AwsError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_DEFINITION_LISTS = ("command", "volumes", "environment", "mountPoints", "ulimits", "resourceRequirements", "secrets")
"""The lists that every definition has, empty when nobody gave them."""

LARGEST_DEFINITION_KIB = 24
MOST_QUEUES = MOST_ENVIRONMENTS = 50
MOST_ENVIRONMENTS_OF_A_QUEUE = 3


def refusal(message: str) -> AwsError:
    """Return the error with which Batch refuses a request; the caller raises it."""
    return AwsError("ClientException", message)


@dataclass(eq=False)
class Resource:
    """Something that a request has made, and that later ones change."""

    name: str
    arn: str
    body: dict[str, Any]
    """The request that made it, with all changes since."""

    @property
    def enabled(self) -> bool:
        """True when it takes jobs and starts them."""
        return bool(self.body["state"] == "ENABLED")


class ComputeEnvironment(Resource):
    """A bound on the vCPUs that jobs use at once."""

    @property
    def max_vcpus(self) -> float:
        """The most vCPUs that jobs may use at once. An unmanaged environment has no bound of its own."""
        return float(self.body.get("computeResources", {}).get("maxvCpus", "inf"))

    def describe(self) -> dict[str, Any]:
        """Return the environment as DescribeComputeEnvironments shows it."""
        return {
            **self.body,
            "computeEnvironmentArn": self.arn,
            "status": "VALID",
            "statusReason": "ComputeEnvironment Healthy",
        }


class Queue(Resource):
    """A queue of jobs, with an order of compute environments to run them in."""

    def describe(self) -> dict[str, Any]:
        """Return the queue as DescribeJobQueues shows it."""
        return {**self.body, "jobQueueArn": self.arn, "status": "VALID", "statusReason": "JobQueue Healthy"}


@dataclass(eq=False)
class Definition:
    """One revision of a job definition."""

    name: str
    revision: int
    arn: str
    body: dict[str, Any]
    """The request that made it, with defaults filled in."""
    active: bool = True
    """False once it is deregistered."""

    def describe(self) -> dict[str, Any]:
        """Return the definition as DescribeJobDefinitions shows it."""
        status = "ACTIVE" if self.active else "INACTIVE"
        return {**self.body, "jobDefinitionArn": self.arn, "revision": self.revision, "status": status}


@dataclass
class Resources:
    """Holds the compute environments, queues and job definitions of one Region.

    A method that is given a key takes a name or an ARN, and raises Batch's refusal when there is nothing of that name.
    """

    arn: Callable[[str], str]
    """Makes the ARN of a resource in this Region."""
    environments: dict[str, ComputeEnvironment] = field(default_factory=dict)
    queues: dict[str, Queue] = field(default_factory=dict)
    definitions: dict[str, list[Definition]] = field(default_factory=dict)
    """All revisions of each definition, the oldest first."""

    # Compute environments

    def create_environment(self, body: dict[str, Any]) -> ComputeEnvironment:
        """Make what CreateComputeEnvironment asks for, or raise its refusal."""
        name = body["computeEnvironmentName"]
        _check_new(name, self.environments, MOST_ENVIRONMENTS, "compute environments")
        body = {"state": "ENABLED", **body}
        self.environments[name] = ComputeEnvironment(name, self.arn(f"compute-environment/{name}"), body)
        return self.environments[name]

    def environment(self, key: str) -> ComputeEnvironment:
        """Return an environment."""
        found = self.environments.get(_name(key))
        if found is None:
            raise refusal(f"{key} does not exist")
        return found

    def update_environment(self, body: dict[str, Any]) -> ComputeEnvironment:
        """Change what UpdateComputeEnvironment asks to change."""
        found = self.environment(body["computeEnvironment"])
        resources = {**found.body.get("computeResources", {}), **body.get("computeResources", {})}
        found.body.update({key: body[key] for key in ("state", "serviceRole") if key in body})
        if resources:
            found.body["computeResources"] = resources
        return found

    def delete_environment(self, key: str) -> None:
        """Delete an environment that no queue uses. Nothing happens when there is none of this name."""
        name = _name(key)
        if any(
            name == environment.name for queue in self.queues.values() for environment in self.environments_of(queue)
        ):
            raise refusal("Cannot delete, found existing JobQueue relationship")
        self.environments.pop(name, None)

    # Queues

    def create_queue(self, body: dict[str, Any]) -> Queue:
        """Make what CreateJobQueue asks for, or raise its refusal."""
        name = body["jobQueueName"]
        _check_new(name, self.queues, MOST_QUEUES, "job queues")
        if len(body["computeEnvironmentOrder"]) > MOST_ENVIRONMENTS_OF_A_QUEUE:
            raise refusal(f"A job queue has at most {MOST_ENVIRONMENTS_OF_A_QUEUE} compute environments")
        queue = Queue(name, self.arn(f"job-queue/{name}"), {"state": "ENABLED", "priority": 1, **body})
        self.environments_of(queue)  # refuses an environment that does not exist
        self.queues[name] = queue
        return queue

    def queue(self, key: str) -> Queue:
        """Return a queue."""
        found = self.queues.get(_name(key))
        if found is None:
            raise refusal(f"Job Queue {key} does not exist")
        return found

    def update_queue(self, body: dict[str, Any]) -> Queue:
        """Change what UpdateJobQueue asks to change."""
        queue = self.queue(body["jobQueue"])
        names = ("state", "priority", "computeEnvironmentOrder", "schedulingPolicyArn")
        changed = Queue(queue.name, queue.arn, {**queue.body, **{key: body[key] for key in names if key in body}})
        self.environments_of(changed)  # refuses an environment that does not exist
        queue.body = changed.body
        return queue

    def queues_by_priority(self) -> list[Queue]:
        """Return all queues, those of the highest priority first."""
        return sorted(self.queues.values(), key=lambda queue: -queue.body["priority"])

    def environments_of(self, queue: Queue) -> list[ComputeEnvironment]:
        """Return a queue's environments, in the order in which the queue tries them."""
        order = sorted(queue.body.get("computeEnvironmentOrder", ()), key=lambda entry: int(entry["order"]))
        return [self.environment(entry["computeEnvironment"]) for entry in order]

    # Job definitions

    def register(self, body: dict[str, Any]) -> Definition:
        """Make the revision that RegisterJobDefinition asks for, or raise its refusal."""
        name = body["jobDefinitionName"]
        if body["type"] == "multinode":
            return self._add(name, {"parameters": {}, **body})
        if body["type"] != "container" or "containerProperties" not in body:
            raise AwsError("UnsupportedOperation", "the local cloud runs job definitions with containerProperties only")
        kib = len(json.dumps(body, separators=(",", ":")).encode()) / 1024
        if kib > LARGEST_DEFINITION_KIB:
            raise refusal(f"Job definition size must be less than {LARGEST_DEFINITION_KIB} KiB, got {kib:.0f} KiB")
        _check_container(body["containerProperties"])
        container = {**{key: [] for key in _DEFINITION_LISTS}, **body["containerProperties"]}
        return self._add(name, {"parameters": {}, **body, "containerProperties": container})

    def _add(self, name: str, body: dict[str, Any]) -> Definition:
        """Add the next revision of a definition."""
        revisions = self.definitions.setdefault(name, [])
        revision = len(revisions) + 1
        revisions.append(Definition(name, revision, self.arn(f"job-definition/{name}:{revision}"), body))
        return revisions[-1]

    def definition(self, key: str) -> Definition:
        """Return a revision that is active: the one of a `name:revision` or ARN, or the newest of a name."""
        name, _, revision = _name(key).partition(":")
        fitting = [
            each
            for each in self.definitions.get(name, ())
            if each.active and (not revision or each.revision == int(revision))
        ]
        if not fitting:
            raise refusal(f"JobDefinition: {key} does not exist or is inactive")
        return fitting[-1]

    def deregister(self, key: str) -> None:
        """Take a revision out of use."""
        self.definition(key).active = False

    def list_definitions(self, body: dict[str, Any]) -> list[Definition]:
        """Return the revisions that DescribeJobDefinitions asks for, the newest first."""
        every = [each for revisions in self.definitions.values() for each in revisions]
        if name := body.get("jobDefinitionName"):
            every = [each for each in every if each.name == _name(name).partition(":")[0]]
        if keys := body.get("jobDefinitions"):
            every = [each for each in every if {each.arn, f"{each.name}:{each.revision}"} & set(keys)]
        if status := body.get("status"):
            every = [each for each in every if each.active == (status == "ACTIVE")]
        return every[::-1]


def named(everything: Iterable[Any], keys: list[str] | None) -> list[Any]:
    """Return the resources that are asked for by name or ARN; all of them when no keys are given."""
    wanted = {_name(key) for key in keys or ()}
    return [each for each in everything if not wanted or each.name in wanted]


def _name(key: str) -> str:
    """Return the name in a key, which is an ARN or the name itself."""
    return key.rpartition("/")[2]


def _check_new(name: str, there: Mapping[str, Resource], most: int, kind: str) -> None:
    if name in there:
        raise refusal(f"Object already exists: {name}")
    if len(there) >= most:
        raise refusal(f"Limit exceeded: an account has at most {most} {kind} in a Region")


def _check_container(container: dict[str, Any]) -> None:
    if not container.get("image"):
        raise refusal("Error executing request, Exception : Container properties' image should not be null or empty.")
    requirements = {each["type"] for each in container.get("resourceRequirements", ())}
    for requirement, old in (("VCPU", "vcpus"), ("MEMORY", "memory")):
        if requirement not in requirements and old not in container:
            raise refusal(
                f"Error executing request, Exception : Resource requirement {requirement} should not be null or empty."
            )
