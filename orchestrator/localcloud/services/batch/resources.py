"""What jobs are submitted to and from: compute environments, queues, job definitions. By name or by ARN."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.http.answers import AwsError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_DEFINITION_LISTS = ("command", "volumes", "environment", "mountPoints", "ulimits", "resourceRequirements", "secrets")

LARGEST_DEFINITION_KIB = 24
MOST_QUEUES = MOST_ENVIRONMENTS = 50
MOST_ENVIRONMENTS_OF_A_QUEUE = 3


def refuse(message: str) -> AwsError:
    return AwsError("ClientException", message)


@dataclass(eq=False)
class ComputeEnvironment:
    name: str
    arn: str
    body: dict[str, Any]

    @property
    def enabled(self) -> bool:
        return bool(self.body["state"] == "ENABLED")

    @property
    def max_vcpus(self) -> float:
        """An unmanaged environment has no bound of its own."""
        return float(self.body.get("computeResources", {}).get("maxvCpus", "inf"))

    def describe(self) -> dict[str, Any]:
        return {
            **self.body,
            "computeEnvironmentArn": self.arn,
            "status": "VALID",
            "statusReason": "ComputeEnvironment Healthy",
        }


@dataclass(eq=False)
class Queue:
    name: str
    arn: str
    body: dict[str, Any]

    @property
    def enabled(self) -> bool:
        return bool(self.body["state"] == "ENABLED")

    def describe(self) -> dict[str, Any]:
        return {**self.body, "jobQueueArn": self.arn, "status": "VALID", "statusReason": "JobQueue Healthy"}


@dataclass(eq=False)
class Definition:
    name: str
    revision: int
    arn: str
    body: dict[str, Any]
    active: bool = True

    def describe(self) -> dict[str, Any]:
        status = "ACTIVE" if self.active else "INACTIVE"
        return {**self.body, "jobDefinitionArn": self.arn, "revision": self.revision, "status": status}


@dataclass
class Resources:
    """Of one Region. `arn` makes the ARN of a resource there."""

    arn: Callable[[str], str]
    environments: dict[str, ComputeEnvironment] = field(default_factory=dict)
    queues: dict[str, Queue] = field(default_factory=dict)
    definitions: dict[str, list[Definition]] = field(default_factory=dict)

    # Compute environments

    def create_environment(self, body: dict[str, Any]) -> ComputeEnvironment:
        name = body["computeEnvironmentName"]
        if name in self.environments:
            raise refuse(f"Object already exists: {name}")
        if len(self.environments) >= MOST_ENVIRONMENTS:
            raise refuse(f"Limit exceeded: an account has at most {MOST_ENVIRONMENTS} compute environments in a Region")
        body = {"state": "ENABLED", **body}
        self.environments[name] = ComputeEnvironment(name, self.arn(f"compute-environment/{name}"), body)
        return self.environments[name]

    def environment(self, key: str) -> ComputeEnvironment:
        found = self.environments.get(_name(key))
        if found is None:
            raise refuse(f"{key} does not exist")
        return found

    def update_environment(self, body: dict[str, Any]) -> ComputeEnvironment:
        found = self.environment(body["computeEnvironment"])
        resources = {**found.body.get("computeResources", {}), **body.get("computeResources", {})}
        found.body.update({key: body[key] for key in ("state", "serviceRole") if key in body})
        found.body.update({"computeResources": resources} if resources else {})
        return found

    def delete_environment(self, key: str) -> None:
        name = _name(key)
        if any(
            name == environment.name for queue in self.queues.values() for environment in self.environments_of(queue)
        ):
            raise refuse("Cannot delete, found existing JobQueue relationship")
        self.environments.pop(name, None)

    # Queues

    def create_queue(self, body: dict[str, Any]) -> Queue:
        name = body["jobQueueName"]
        if name in self.queues:
            raise refuse(f"Object already exists: {name}")
        if len(self.queues) >= MOST_QUEUES:
            raise refuse(f"Limit exceeded: an account has at most {MOST_QUEUES} job queues in a Region")
        if len(body["computeEnvironmentOrder"]) > MOST_ENVIRONMENTS_OF_A_QUEUE:
            raise refuse(f"A job queue has at most {MOST_ENVIRONMENTS_OF_A_QUEUE} compute environments")
        queue = Queue(name, self.arn(f"job-queue/{name}"), {"state": "ENABLED", "priority": 1, **body})
        self.environments_of(queue)
        self.queues[name] = queue
        return queue

    def queue(self, key: str) -> Queue:
        found = self.queues.get(_name(key))
        if found is None:
            raise refuse(f"Job Queue {key} does not exist")
        return found

    def update_queue(self, body: dict[str, Any]) -> Queue:
        queue = self.queue(body["jobQueue"])
        names = ("state", "priority", "computeEnvironmentOrder", "schedulingPolicyArn")
        changed = Queue(queue.name, queue.arn, {**queue.body, **{key: body[key] for key in names if key in body}})
        self.environments_of(changed)
        queue.body = changed.body
        return queue

    def queues_by_priority(self) -> list[Queue]:
        return sorted(self.queues.values(), key=lambda queue: -queue.body["priority"])

    def environments_of(self, queue: Queue) -> list[ComputeEnvironment]:
        order = sorted(queue.body.get("computeEnvironmentOrder", ()), key=lambda entry: int(entry["order"]))
        return [self.environment(entry["computeEnvironment"]) for entry in order]

    # Job definitions

    def register(self, body: dict[str, Any]) -> Definition:
        name = body["jobDefinitionName"]
        if body["type"] != "container" or "containerProperties" not in body:
            raise AwsError("UnsupportedOperation", "the local cloud runs job definitions with containerProperties only")
        kib = len(json.dumps(body, separators=(",", ":")).encode()) / 1024
        if kib > LARGEST_DEFINITION_KIB:
            raise refuse(f"Job definition size must be less than {LARGEST_DEFINITION_KIB} KiB, got {kib:.0f} KiB")
        _check_container(body["containerProperties"])
        container = {**{key: [] for key in _DEFINITION_LISTS}, **body["containerProperties"]}
        revisions = self.definitions.setdefault(name, [])
        revision = len(revisions) + 1
        body = {"parameters": {}, **body, "containerProperties": container}
        revisions.append(Definition(name, revision, self.arn(f"job-definition/{name}:{revision}"), body))
        return revisions[-1]

    def definition(self, key: str) -> Definition:
        """By name (its newest active revision), `name:revision`, or ARN."""
        name, _, revision = _name(key).partition(":")
        fitting = [
            each
            for each in self.definitions.get(name, ())
            if each.active and (not revision or each.revision == int(revision))
        ]
        if not fitting:
            raise refuse(f"JobDefinition: {key} does not exist or is inactive")
        return fitting[-1]

    def deregister(self, key: str) -> None:
        self.definition(key).active = False

    def list_definitions(self, body: dict[str, Any]) -> list[Definition]:
        every = [each for revisions in self.definitions.values() for each in revisions]
        if name := body.get("jobDefinitionName"):
            every = [each for each in every if each.name == _name(name).partition(":")[0]]
        if keys := body.get("jobDefinitions"):
            every = [each for each in every if {each.arn, f"{each.name}:{each.revision}"} & set(keys)]
        if status := body.get("status"):
            every = [each for each in every if each.active == (status == "ACTIVE")]
        return every[::-1]


def named(everything: Iterable[Any], keys: list[str] | None) -> list[Any]:
    """Those asked for by name or ARN; all when nobody asks for any."""
    wanted = {_name(key) for key in keys or ()}
    return [each for each in everything if not wanted or each.name in wanted]


def _name(key: str) -> str:
    return key.rpartition("/")[2]


def _check_container(container: dict[str, Any]) -> None:
    if not container.get("image"):
        raise refuse("Error executing request, Exception : Container properties' image should not be null or empty.")
    requirements = {each["type"] for each in container.get("resourceRequirements", ())}
    for requirement, old in (("VCPU", "vcpus"), ("MEMORY", "memory")):
        if requirement not in requirements and old not in container:
            raise refuse(
                f"Error executing request, Exception : Resource requirement {requirement} should not be null or empty."
            )
