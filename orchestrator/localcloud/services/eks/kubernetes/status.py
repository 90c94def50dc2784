"""Refusals of a Kubernetes API: each is an answer with a Status object. The words are those of its own servers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orchestrator.localcloud.services.eks.kubernetes.resources import Resource


class KubeError(Exception):
    """A refusal, as kubectl and other clients read it."""

    def __init__(self, code: int, reason: str, message: str) -> None:
        super().__init__(f"{reason}: {message}")
        self.code = code
        self.reason = reason
        self.message = message

    def body(self) -> dict[str, Any]:
        """Return the Status object."""
        return {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            "code": self.code,
        }


def unauthorized() -> KubeError:
    return KubeError(401, "Unauthorized", "Unauthorized")


def not_found(resource: Resource, name: str) -> KubeError:
    return KubeError(404, "NotFound", f'{resource.qualified} "{name}" not found')


def no_such_path() -> KubeError:
    return KubeError(404, "NotFound", "the server could not find the requested resource")


def already_exists(resource: Resource, name: str) -> KubeError:
    return KubeError(409, "AlreadyExists", f'{resource.qualified} "{name}" already exists')


def forbidden(resource: Resource, name: str, why: str) -> KubeError:
    """Return what a server says of an object that a quota or an admission webhook refuses."""
    return KubeError(403, "Forbidden", f'{resource.qualified} "{name}" is forbidden: {why}')


def may_not(user: str, verb: str, resource: Resource, namespace: str) -> KubeError:
    """Return what a server says to somebody whom no role allows this."""
    where = f' in the namespace "{namespace}"' if namespace else " at the cluster scope"
    group = f'API group "{resource.group}"'
    message = f'{resource.qualified} is forbidden: User "{user}" cannot {verb} resource "{resource.plural}" in {group}'
    return KubeError(403, "Forbidden", message + where)


def invalid(resource: Resource, name: str, problems: list[str]) -> KubeError:
    what = f"{resource.kind}.{resource.group}" if resource.group else resource.kind
    shown = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
    return KubeError(422, "Invalid", f'{what} "{name}" is invalid: {shown}')


def expired(version: int, oldest: int) -> KubeError:
    """Return what a server says to somebody who asks for more of the past than it keeps."""
    return KubeError(410, "Expired", f"too old resource version: {version} ({oldest})")


def bad_request(message: str) -> KubeError:
    return KubeError(400, "BadRequest", message)
