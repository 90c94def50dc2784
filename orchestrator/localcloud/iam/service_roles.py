"""What services do under the roles that they were handed: they give containers keys, pull images, write logs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from orchestrator.localcloud.iam.evaluation import Asked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.localcloud.iam.authority import Authority
    from orchestrator.localcloud.iam.identities import Callers
    from orchestrator.localcloud.services.moto.identities import Identities

IMAGE = re.compile(r"(?P<account>\d{12})\.dkr\.ecr\.(?P<region>[^./]+)\.[^/]+/(?P<name>[^@:]+)")
_KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")


class CannotTakeOn(Exception):
    """A role that is not there, or does not let a service take it on."""


@dataclass(frozen=True)
class Duty:
    """A role that a service has taken on for one job or training."""

    role: str
    service: str
    session: str
    region: str


class ServiceRoles(Protocol):
    """What services may do under roles."""

    def variables(self, duty: Duty) -> dict[str, str]:
        """Return the variables with the keys that a container gets. CannotTakeOn for a role that cannot be had."""

    def why_not(self, duty: Duty, asked: Sequence[Asked]) -> str:
        """Return why one of these is not allowed; nothing if all are."""


class Unbounded:
    """The roles of a cloud that holds nobody to policies: containers have the cloud's own key."""

    def variables(self, duty: Duty) -> dict[str, str]:  # noqa: ARG002
        return {}

    def why_not(self, duty: Duty, asked: Sequence[Asked]) -> str:  # noqa: ARG002
        return ""


class Bounded:
    """The roles of a cloud that holds everybody to policies."""

    def __init__(self, authority: Authority, callers: Callers, identities: Identities) -> None:
        self._authority = authority
        self._callers = callers
        self._identities = identities

    def variables(self, duty: Duty) -> dict[str, str]:
        if not duty.role:  # a container without a role has no keys
            return dict.fromkeys(_KEYS, "")
        self._check(duty)
        made = self._identities.take_on(duty.role, duty.session)
        return dict(zip(_KEYS, (made.key_id, made.secret, made.token), strict=True))

    def why_not(self, duty: Duty, asked: Sequence[Asked]) -> str:
        try:
            self._check(duty)
        except CannotTakeOn as error:
            return str(error)
        principal = self._callers.of_role(duty.role, duty.session)
        return self._authority.why_not(principal, asked, duty.region)

    def _check(self, duty: Duty) -> None:
        if not self._authority.trusted(duty.role, duty.service):
            raise CannotTakeOn(
                f"{duty.service} may not take on the role {duty.role}: it is not there, or does not trust the service"
            )


def pull(image: str) -> list[Asked]:
    """Return what it takes to pull an image: nothing for one that is not in ECR."""
    found = IMAGE.match(image)
    if found is None:
        return []
    repository = f"arn:aws:ecr:{found['region']}:{found['account']}:repository/{found['name']}"
    actions = ("BatchCheckLayerAvailability", "GetDownloadUrlForLayer", "BatchGetImage")
    return [Asked("ecr:GetAuthorizationToken", "*"), *(Asked(f"ecr:{action}", repository) for action in actions)]


def write_logs(account: str, region: str, group: str, stream: str) -> list[Asked]:
    """Return what it takes to write to a log stream."""
    arn = f"arn:aws:logs:{region}:{account}:log-group:{group}:log-stream:{stream}"
    return [Asked("logs:CreateLogStream", arn), Asked("logs:PutLogEvents", arn)]
