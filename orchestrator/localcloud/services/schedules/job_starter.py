"""Says what EventBridge Scheduler may do under the role that it was handed: submit a job, send a dead letter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.http.answers import AwsError
from orchestrator.localcloud.http.call import Call
from orchestrator.localcloud.iam.evaluation import Asked
from orchestrator.localcloud.iam.needs import jobs
from orchestrator.localcloud.iam.needs.scene import Scene
from orchestrator.localcloud.iam.service_roles import Duty

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
        self._ask(role, region, list(jobs.needs(scene)))

    def check_letter(self, role: str, region: str, queue: str) -> None:
        """Raise AwsError unless a role may send to a queue what could not be delivered."""
        self._ask(role, region, [Asked("sqs:SendMessage", queue)])

    def _ask(self, role: str, region: str, needed: Sequence[Asked]) -> None:
        duty = Duty(role, "scheduler.amazonaws.com", "schedule", region)
        if refusal := self._roles.why_not(duty, needed):
            raise AwsError("AccessDeniedException", refusal, 403)
