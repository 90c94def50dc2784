"""EventBridge Scheduler: what starts a job at a time of day, in a place's own zone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orchestrator.aws.errors import aws_errors
from orchestrator.errors import AlreadyExists, NotFound

if TYPE_CHECKING:
    from orchestrator.aws.session import Clients

SUBMIT_JOB = "arn:aws:scheduler:::aws-sdk:batch:submitJob"
_RETRY = {"MaximumEventAgeInSeconds": 3600, "MaximumRetryAttempts": 20}
"""A job that Batch does not take is sent again for an hour. Then it is a dead letter, if there is a queue for it."""


@dataclass(frozen=True)
class Timer:
    """A schedule of EventBridge Scheduler that submits a job to Batch."""

    group: str
    name: str
    expression: str
    """When it is due, as `cron(…)`."""
    zone: str
    role: str
    """The ARN of the role under which the job is submitted."""
    input: str
    """The request of SubmitJob as JSON, its members with capitals."""
    enabled: bool = True
    dead_letters: str = ""
    """The ARN of the queue for what could not be delivered; empty for none."""


class Scheduler:
    """EventBridge Scheduler in one Region."""

    def __init__(self, clients: Clients, region: str) -> None:
        self.clients = clients
        self.region = region

    def ensure_group(self, name: str) -> None:
        """Make the group, unless it is there."""
        try:
            with aws_errors(f"make the schedule group {name}", where=self.region):
                self._client.create_schedule_group(Name=name)
        except AlreadyExists:
            return

    def put(self, timer: Timer) -> None:
        """Let this be the timer of its name, whatever it was before."""
        body = _request(timer)
        try:
            with aws_errors(f"make the schedule {timer.name}", where=self.region):
                self._client.create_schedule(**body)
        except AlreadyExists:
            with aws_errors(f"change the schedule {timer.name}", where=self.region):
                self._client.update_schedule(**body)

    def find(self, group: str, name: str) -> Timer | None:
        """Return the timer of this name; None if there is none."""
        try:
            with aws_errors(f"look for the schedule {name}", where=self.region):
                found = self._client.get_schedule(GroupName=group, Name=name)
        except NotFound:
            return None
        target = found["Target"]
        return Timer(
            group=group,
            name=name,
            expression=found["ScheduleExpression"],
            zone=found.get("ScheduleExpressionTimezone", "UTC"),
            role=target["RoleArn"],
            input=target.get("Input", ""),
            enabled=found["State"] == "ENABLED",
            dead_letters=target.get("DeadLetterConfig", {}).get("Arn", ""),
        )

    def delete(self, group: str, name: str) -> None:
        """Take a timer away. That it is gone already is no error."""
        try:
            with aws_errors(f"delete the schedule {name}", where=self.region):
                self._client.delete_schedule(GroupName=group, Name=name)
        except NotFound:
            return

    @property
    def _client(self) -> Any:
        return self.clients.client("scheduler", self.region)


def _request(timer: Timer) -> dict[str, Any]:
    target: dict[str, Any] = {"Arn": SUBMIT_JOB, "RoleArn": timer.role, "Input": timer.input, "RetryPolicy": _RETRY}
    if timer.dead_letters:
        target["DeadLetterConfig"] = {"Arn": timer.dead_letters}
    return {
        "GroupName": timer.group,
        "Name": timer.name,
        "ScheduleExpression": timer.expression,
        "ScheduleExpressionTimezone": timer.zone,
        "FlexibleTimeWindow": {"Mode": "OFF"},
        "State": "ENABLED" if timer.enabled else "DISABLED",
        "Target": target,
    }
