"""A Batch job: an ordinary one, an array, or a child of an array."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orchestrator.localcloud.clock import Alarm
    from orchestrator.localcloud.services.batch.retry import RetryStrategy
    from orchestrator.localcloud.services.logs import Tail

STATES = ("SUBMITTED", "PENDING", "RUNNABLE", "STARTING", "RUNNING", "SUCCEEDED", "FAILED")
NOT_STARTED = ("SUBMITTED", "PENDING", "RUNNABLE")
ENDED = ("SUCCEEDED", "FAILED")


@dataclass(frozen=True)
class JobSpec:
    """What was submitted, with the definition's defaults filled in. An array's children share it."""

    name: str
    queue: str
    definition: str
    definition_name: str
    container: dict[str, Any]
    command: tuple[str, ...]
    environment: dict[str, str]
    vcpus: float
    retry: RetryStrategy
    timeout_s: int | None
    size: int | None
    needs: dict[str, int]
    """Consumable resources, by name."""
    body: dict[str, Any]
    """The parts of the request that DescribeJobs gives back as they came."""


@dataclass(frozen=True)
class Attempt:
    started: int | None
    stopped: int
    exit_code: int | None
    reason: str
    status_reason: str
    log_stream: str | None

    def describe(self, arn: str) -> dict[str, Any]:
        return {
            "container": _present(
                taskArn=arn, exitCode=self.exit_code, reason=self.reason or None, logStreamName=self.log_stream
            ),
            **_present(startedAt=self.started, stoppedAt=self.stopped, statusReason=self.status_reason),
        }


@dataclass(slots=True, eq=False)
class Job:
    id: str
    arn: str
    spec: JobSpec
    created: int
    parent: Job | None = None
    index: int | None = None
    status: str = "SUBMITTED"
    status_reason: str | None = None
    started: int | None = None
    stopped: int | None = None
    attempts: list[Attempt] = field(default_factory=list)
    children: list[Job] = field(default_factory=list)
    summary: Counter[str] = field(default_factory=Counter)
    """Of an array: how many children are in each state."""
    summary_at: int = 0
    ending: str | None = None
    """Why it is being ended: by CancelJob, TerminateJob, or by its time-out. Such an attempt is the last."""
    reclaimed: bool = False
    """The host of this attempt has been taken away."""
    cancelled: bool = False
    terminated: bool = False
    process: str | None = None
    tail: Tail | None = None
    alarm: Alarm | None = None

    @property
    def is_array(self) -> bool:
        return bool(self.children)

    @property
    def log_stream(self) -> str:
        """Each attempt has a stream of its own, as each has a container of its own."""
        attempt = len(self.attempts)
        suffix = f"/{attempt + 1}" if attempt else ""
        return f"{self.spec.definition_name}/default/{self.id.replace(':', '/')}{suffix}"

    def move(self, status: str, now: int) -> None:
        """Change state; the parent of a child keeps count, and ends when the last child has."""
        parent = self.parent
        if parent:
            parent.summary[self.status] -= 1
            parent.summary[status] += 1
            parent.summary_at = now
        self.status = status
        if (
            parent
            and status in ENDED
            and parent.summary["SUCCEEDED"] + parent.summary["FAILED"] == len(parent.children)
        ):
            parent.stopped = now
            failed = parent.summary["FAILED"] > 0
            parent.status = "FAILED" if failed else "SUCCEEDED"
            parent.status_reason = "Array Child Job failed" if failed else parent.status_reason

    def brief(self) -> dict[str, Any]:
        """As ListJobs shows it."""
        last = self.attempts[-1] if self.attempts else None
        container = _present(exitCode=last.exit_code, reason=last.reason or None) if last else {}
        return {
            "jobArn": self.arn,
            "jobId": self.id,
            "jobName": self.spec.name,
            "createdAt": self.created,
            "status": self.status,
            "jobDefinition": self.spec.definition,
            **_present(
                statusReason=self.status_reason,
                startedAt=self.started,
                stoppedAt=self.stopped,
                container=container or None,
                arrayProperties=self._array(brief=True),
            ),
        }

    def describe(self) -> dict[str, Any]:
        last = self.attempts[-1] if self.attempts else None
        stream = last.log_stream if last else self.tail.stream.name if self.tail else None
        container = {
            **self.spec.container,
            **_present(
                taskArn=self.arn if self.started else None,
                logStreamName=stream,
                exitCode=last.exit_code if last else None,
                reason=last.reason or None if last else None,
            ),
        }
        return {
            **self.spec.body,
            "jobArn": self.arn,
            "jobId": self.id,
            "jobName": self.spec.name,
            "jobQueue": self.spec.queue,
            "jobDefinition": self.spec.definition,
            "status": self.status,
            "createdAt": self.created,
            "container": container,
            "attempts": [attempt.describe(self.arn) for attempt in self.attempts],
            "isCancelled": self.cancelled,
            "isTerminated": self.terminated,
            **_present(
                statusReason=self.status_reason,
                startedAt=self.started,
                stoppedAt=self.stopped,
                arrayProperties=self._array(brief=False),
            ),
        }

    def _array(self, *, brief: bool) -> dict[str, Any] | None:
        if self.parent:
            return {"index": self.index}
        if not self.is_array:
            return None
        if brief:
            return {"size": len(self.children)}
        summary = {status: self.summary[status] for status in STATES}
        return {"size": len(self.children), "statusSummary": summary, "statusSummaryLastUpdatedAt": self.summary_at}


def _present(**values: Any) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}
