"""Says whether the role that EventBridge Scheduler was handed may submit a job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.http.answers import AwsError
from orchestrator.localcloud.http.call import Call
from orchestrator.localcloud.iam.needs import jobs
from orchestrator.localcloud.iam.needs.scene import Scene
from orchestrator.localcloud.iam.service_roles import Duty

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.localcloud.iam.service_roles import ServiceRoles


class JobStarter:
    """Holds schedules to the policies of their roles."""

    def __init__(self, roles: ServiceRoles, account: str) -> None:
        self._roles = roles
        self._account = account

    def check(self, role: str, region: str, job: Mapping[str, Any]) -> None:
        """Raise AwsError unless a role may submit a job."""
        call = Call("batch", region, "SubmitJob", b"", {})
        scene = Scene(
            call, self._account, job, tags_of=lambda _: {}, has_object=lambda *_: False, role_of=lambda *_: ""
        )
        duty = Duty(role, "scheduler.amazonaws.com", "schedule", region)
        if refusal := self._roles.why_not(duty, list(jobs.needs(scene))):
            raise AwsError("AccessDeniedException", refusal, 403)
