"""Batch's permissions: https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsbatch.html."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from orchestrator.localcloud.iam.evaluation import Asked
    from orchestrator.localcloud.iam.needs.scene import Scene

_TASKS = "ecs-tasks.amazonaws.com"
_ONE = {
    "TerminateJob": ("job", "jobId"),
    "CancelJob": ("job", "jobId"),
    "RegisterJobDefinition": ("job-definition", "jobDefinitionName"),
    "DeregisterJobDefinition": ("job-definition", "jobDefinition"),
    "CreateComputeEnvironment": ("compute-environment", "computeEnvironmentName"),
    "UpdateComputeEnvironment": ("compute-environment", "computeEnvironment"),
    "DeleteComputeEnvironment": ("compute-environment", "computeEnvironment"),
    "CreateJobQueue": ("job-queue", "jobQueueName"),
    "UpdateJobQueue": ("job-queue", "jobQueue"),
    "DeleteJobQueue": ("job-queue", "jobQueue"),
    "CreateConsumableResource": ("consumable-resource", "consumableResourceName"),
    "DescribeConsumableResource": ("consumable-resource", "consumableResource"),
    "UpdateConsumableResource": ("consumable-resource", "consumableResource"),
    "DeleteConsumableResource": ("consumable-resource", "consumableResource"),
    "ListJobsByConsumableResource": ("consumable-resource", "consumableResource"),
}
"""The kind of resource that an operation is about, and the parameter that names it. Others take no resource."""


def needs(scene: Scene) -> Iterator[Asked]:
    """Yield the permissions that a call to Batch takes."""
    body, operation = scene.document, scene.call.operation
    action = f"batch:{operation}"
    if operation == "SubmitJob":
        yield from _submit(scene, body)
    elif operation in ("TagResource", "UntagResource", "ListTagsForResource"):
        yield scene.with_tags(scene.ask(action, body["resourceArn"]), body.get("tags", {}))
    elif operation in ("TerminateJobs", "CancelJobs"):
        for job in body["jobs"]:
            yield scene.ask(action.removesuffix("s"), _arn(scene, "job", job))
    elif operation in _ONE:
        kind, parameter = _ONE[operation]
        resource = _arn(scene, kind, body[parameter])
        tags = body.get("tags", {})
        yield scene.with_tags(scene.ask(action, resource), tags)
        if tags:
            yield scene.with_tags(scene.ask("batch:TagResource", resource), tags)
        yield from _beside(scene, body)
    else:
        yield scene.ask(action)


def _submit(scene: Scene, body: Mapping[str, Any]) -> Iterator[Asked]:
    """Yield what submitting a job takes: on its definition, its queue, and each resource that it consumes."""
    tags: Mapping[str, str] = body.get("tags", {})
    for kind, parameter in (("job-definition", "jobDefinition"), ("job-queue", "jobQueue")):
        yield scene.with_tags(scene.ask("batch:SubmitJob", _arn(scene, kind, body[parameter])), tags)
    consumed = body.get("consumableResourcePropertiesOverride", {}).get("consumableResourceList", ())
    for each in consumed:
        resource = _arn(scene, "consumable-resource", each["consumableResource"])
        yield scene.with_tags(scene.ask("batch:SubmitJob", resource), tags)
    if tags:
        yield scene.with_tags(scene.ask("batch:TagResource", scene.arn("batch", "job/*")), tags)


def _beside(scene: Scene, body: Mapping[str, Any]) -> Iterator[Asked]:
    """Yield the roles that a definition hands over, and the environments that a queue is put on."""
    container = body.get("containerProperties", {})
    for member in ("jobRoleArn", "executionRoleArn"):
        if container.get(member):
            yield scene.pass_role(container[member], _TASKS)
    if "serviceRole" in body:
        yield scene.pass_role(body["serviceRole"], "batch.amazonaws.com")
    for each in body.get("computeEnvironmentOrder", ()):
        environment = _arn(scene, "compute-environment", each["computeEnvironment"])
        yield scene.ask(f"batch:{scene.call.operation}", environment)


def _arn(scene: Scene, kind: str, name: str) -> str:
    return name if name.startswith("arn:") else scene.arn("batch", f"{kind}/{name}")
