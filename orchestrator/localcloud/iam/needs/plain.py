"""Services whose calls take one permission, called as the operation is, on one resource that a parameter names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from orchestrator.localcloud.iam.evaluation import Asked
    from orchestrator.localcloud.iam.needs.scene import Scene

_NO_RESOURCE = ("ecr:GetAuthorizationToken", "ssm:DescribeParameters", "sts:GetCallerIdentity")
"""Actions that take no resource, whatever parameters their calls have."""
_SCHEDULES = re.compile(r"/schedules/(?P<name>[^/]+)")
_SCHEDULE_GROUPS = re.compile(r"/schedule-groups/(?P<name>[^/]+)")


def needs(scene: Scene) -> Iterator[Asked]:
    """Yield the permission that a call takes, and the roles that it hands over.

    Where it is not known which resource a call is about, only what is granted on all does.
    """
    service = scene.call.service
    action = f"{_PREFIXES.get(service, service)}:{scene.call.operation}"
    reader = _READERS.get(service)
    resource = reader(scene, scene.document) if reader and action not in _NO_RESOURCE else ""
    given = {
        key: (str(scene.document[name]),) for name, key in _CONTEXT.get(service, {}).items() if name in scene.document
    }
    yield scene.ask(action, resource or "*", **given)
    role = scene.document.get("Target", {}).get("RoleArn") if service == "scheduler" else None
    if role:
        yield scene.pass_role(role, "scheduler.amazonaws.com")


def _registry(scene: Scene, said: Mapping[str, Any]) -> str:
    names = said.get("repositoryNames") or [said.get("repositoryName", "*")]
    return scene.arn("ecr", f"repository/{names[0]}")


def _logs(scene: Scene, said: Mapping[str, Any]) -> str:
    group = said.get("logGroupName", "")
    if said.get("logStreamName"):
        return scene.arn("logs", f"log-group:{group}:log-stream:{said['logStreamName']}")
    return scene.arn("logs", f"log-group:{group}:{'*' if group else 'log-stream:'}")


def _iam(scene: Scene, said: Mapping[str, Any]) -> str:
    for parameter, kind in (
        ("RoleName", "role"),
        ("UserName", "user"),
        ("GroupName", "group"),
        ("PolicyName", "policy"),
    ):
        if parameter in said:
            return f"arn:aws:iam::{scene.account}:{kind}/{said[parameter]}"
    return str(said.get("PolicyArn") or said.get("PolicySourceArn") or "")


def _stack(scene: Scene, said: Mapping[str, Any]) -> str:
    for name in (said.get("StackName", ""), said.get("ChangeSetName", "")):
        if name and (name.startswith("arn:") or "StackName" in said):
            return str(name) if name.startswith("arn:") else scene.arn("cloudformation", f"stack/{name}/*")
    return ""


def _secret(scene: Scene, said: Mapping[str, Any]) -> str:
    name = str(said.get("SecretId") or said.get("Name", ""))
    return name if name.startswith("arn:") or not name else scene.arn("secretsmanager", f"secret:{name}-??????")


def _parameter(scene: Scene, said: Mapping[str, Any]) -> str:
    name = str(said.get("Name", ""))
    if name.startswith("/aws/service/"):  # Amazon's own, of no account
        return f"arn:aws:ssm:{scene.call.region}::parameter{name}"
    return scene.arn("ssm", f"parameter/{name.lstrip('/')}") if name else ""


def _topic(scene: Scene, said: Mapping[str, Any]) -> str:
    return str(said.get("TopicArn") or (scene.arn("sns", said["Name"]) if "Name" in said else ""))


def _queue(scene: Scene, said: Mapping[str, Any]) -> str:
    name = said.get("QueueName") or str(said.get("QueueUrl", "")).rpartition("/")[2]
    return scene.arn("sqs", name) if name else ""


def _schedule(scene: Scene, said: Mapping[str, Any]) -> str:
    path = unquote(scene.call.environ["PATH_INFO"])
    if group := _SCHEDULE_GROUPS.fullmatch(path):
        return scene.arn("scheduler", f"schedule-group/{group['name']}")
    if schedule := _SCHEDULES.fullmatch(path):
        query = parse_qs(scene.call.environ.get("QUERY_STRING", ""))
        group_name = said.get("GroupName") or query.get("groupName", ["default"])[0]
        return scene.arn("scheduler", f"schedule/{group_name}/{schedule['name']}")
    return ""


def _cluster(scene: Scene, said: Mapping[str, Any]) -> str:
    return scene.arn("eks", f"cluster/{said['name']}") if "name" in said else ""


def _assumed(scene: Scene, said: Mapping[str, Any]) -> str:  # noqa: ARG001 - a role's ARN says its account
    return str(said.get("RoleArn", ""))


_READERS: dict[str, Callable[[Scene, Mapping[str, Any]], str]] = {
    "ecr": _registry,
    "logs": _logs,
    "iam": _iam,
    "cloudformation": _stack,
    "secretsmanager": _secret,
    "ssm": _parameter,
    "sns": _topic,
    "sqs": _queue,
    "scheduler": _schedule,
    "sts": _assumed,
    "eks": _cluster,
}
"""A reader for each service: it returns the resource that a call's parameters name, and nothing if there is none."""
_PREFIXES = {"monitoring": "cloudwatch", "email": "ses"}
"""Services whose actions are not called as the service is in a signature."""
_CONTEXT = {"iam": {"PermissionsBoundary": "iam:permissionsboundary", "PolicyArn": "iam:policyarn"}}
"""Parameters that are keys of conditions, too."""
