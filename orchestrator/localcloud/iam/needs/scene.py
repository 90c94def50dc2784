"""What is known where a call is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.iam.evaluation import Asked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from orchestrator.localcloud.http.call import Call

Tags = "Mapping[str, str]"


@dataclass(frozen=True)
class Scene:
    """A call, with what its services know of what it is about."""

    call: Call
    account: str
    document: Mapping[str, Any]
    """The call's parameters."""
    tags_of: Callable[[str], Mapping[str, str]]
    """Returns the tags of what an ARN names; none where there is no such thing."""
    has_object: Callable[[str, str], bool]
    """Says whether a bucket has an object."""
    role_of: Callable[[str, str], str]
    """Returns the ARN of the role of an instance profile, which has this name or this ARN; nothing if there is none."""

    def arn(self, service: str, resource: str) -> str:
        """Return the ARN of a resource of this account, in the call's Region."""
        return f"arn:aws:{service}:{self.call.region}:{self.account}:{resource}"

    def ask(self, action: str, resource: str = "*", **more: tuple[str, ...]) -> Asked:
        """Return one permission, with the tags that its resource has. `more` are further keys of conditions."""
        tags = {} if resource == "*" else self.tags_of(resource)
        known = {f"aws:resourcetag/{key.lower()}": (value,) for key, value in tags.items()}
        return Asked(action, resource, {**known, **more})

    def with_tags(self, asked: Asked, tags: Mapping[str, str]) -> Asked:
        """Return a permission that is asked for with tags in the request."""
        given = {f"aws:requesttag/{key.lower()}": (value,) for key, value in tags.items()}
        keys = {"aws:tagkeys": tuple(tags)} if tags else {}
        return Asked(asked.action, asked.resource, {**asked.context, **given, **keys})

    def pass_role(self, role: str, service: str) -> Asked:
        """Return the permission to hand a role over to a service."""
        return self.ask("iam:PassRole", role, **{"iam:passedtoservice": (service,)})
