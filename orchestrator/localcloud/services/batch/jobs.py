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
LOG_GROUP = "/aws/batch/job"
"""The log group of jobs whose definition names none."""
ENDED = ("SUCCEEDED", "FAILED")


@dataclass(frozen=True)
class JobSpec:
    """What was submitted, with the definition's defaults filled in. An array's children share it."""

    name: str
    queue: str
    """The queue's ARN."""
    definition: str
    """The definition's ARN."""
    definition_name: str
    container: dict[str, Any]
    command: tuple[str, ...]
    environment: dict[str, str]
    vcpus: float
    retry: RetryStrategy
    timeout_s: int | None
    size: int | None
    """The number of children of an array; None for an ordinary job."""
    needs: dict[str, int]
    """The quantities of consumable resources that the job needs, by their names."""
    body: dict[str, Any]
    """The parts of the request that DescribeJobs gives back as they came."""


@dataclass(frozen=True)
class Attempt:
    """An attempt that is over. Moments are milliseconds since 1970."""

    started: int | None
    stopped: int
    exit_code: int | None
    reason: str
    status_reason: str
    log_stream: str | None

    def describe(self, arn: str) -> dict[str, Any]:
        """Return the attempt as DescribeJobs shows it. `arn` is the job's."""
        return {
            "container": _present(
                taskArn=arn, exitCode=self.exit_code, reason=self.reason or None, logStreamName=self.log_stream
            ),
            **_present(startedAt=self.started, stoppedAt=self.stopped, statusReason=self.status_reason),
        }


@dataclass(slots=True, eq=False)
class Job:
    """A job with all that has happened to it. The scheduler's lock guards it. Moments are milliseconds since 1970."""

    id: str
    arn: str
    spec: JobSpec
    created: int
    parent: Job | None = None
    """The array that a child belongs to."""
    index: int | None = None
    """A child's position in its array."""
    status: str = "SUBMITTED"
    status_reason: str | None = None
    started: int | None = None
    stopped: int | None = None
    attempts: list[Attempt] = field(default_factory=list)
    """The attempts that are over."""
    children: list[Job] = field(default_factory=list)
    summary: Counter[str] = field(default_factory=Counter)
    """The number of an array's children in each state."""
    summary_at: int = 0
    """When the summary changed last."""
    end_reason: str | None = None
    """Why the job is being ended: by CancelJob, TerminateJob, or its time-out. No attempt follows."""
    reclaimed: bool = False
    """True when the host of the attempt that runs has been taken away."""
    cancelled: bool = False
    terminated: bool = False
    process: str | None = None
    """The process of the attempt that runs, by the name that `Processes` gave it."""
    tail: Tail | None = None
    """The log of the attempt that runs."""
    alarm: Alarm | None = None
    """The time-out of the attempt that runs."""

    @property
    def is_array(self) -> bool:
        """True for a job with children."""
        return bool(self.children)

    @property
    def log_stream(self) -> str:
        """The log stream of the next attempt. Each attempt has its own, as each has its own container."""
        attempt = len(self.attempts)
        suffix = f"/{attempt + 1}" if attempt else ""
        return f"{self.spec.definition_name}/default/{self.id.replace(':', '/')}{suffix}"

    @property
    def log_group(self) -> str:
        """The log group that the job's definition names, or Batch's own."""
        options = self.spec.container.get("logConfiguration", {}).get("options", {})
        return str(options.get("awslogs-group", LOG_GROUP))

    def move(self, status: str, now: int) -> None:
        """Change the job's state. A child's array counts it, and ends when the last child has ended."""
        parent = self.parent
        if parent:
            parent.summary[self.status] -= 1
            parent.summary[status] += 1
            parent.summary_at = now
        self.status = status
        if parent and status in ENDED:
            parent._end_with_last_child(now)

    def _end_with_last_child(self, now: int) -> None:
        if self.summary["SUCCEEDED"] + self.summary["FAILED"] != len(self.children):
            return
        self.stopped = now
        if self.summary["FAILED"]:
            self.status = "FAILED"
            self.status_reason = "Array Child Job failed"
        else:
            self.status = "SUCCEEDED"

    def brief(self) -> dict[str, Any]:
        """Return the job as ListJobs shows it."""
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
                container=self._last_exit() or None,
                arrayProperties=self._array_properties(brief=True),
            ),
        }

    def describe(self) -> dict[str, Any]:
        """Return the job as DescribeJobs shows it."""
        task = _present(taskArn=self.arn if self.started else None, logStreamName=self._shown_stream())
        return {
            **self.spec.body,
            "jobArn": self.arn,
            "jobId": self.id,
            "jobName": self.spec.name,
            "jobQueue": self.spec.queue,
            "jobDefinition": self.spec.definition,
            "status": self.status,
            "createdAt": self.created,
            "container": {**self.spec.container, **task, **self._last_exit()},
            "attempts": [attempt.describe(self.arn) for attempt in self.attempts],
            "isCancelled": self.cancelled,
            "isTerminated": self.terminated,
            **_present(
                statusReason=self.status_reason,
                startedAt=self.started,
                stoppedAt=self.stopped,
                arrayProperties=self._array_properties(brief=False),
            ),
        }

    def _last_exit(self) -> dict[str, Any]:
        """Return the exit code and the reason of the last attempt that is over, as far as it has them."""
        if not self.attempts:
            return {}
        last = self.attempts[-1]
        return _present(exitCode=last.exit_code, reason=last.reason or None)

    def _shown_stream(self) -> str | None:
        """Return the log stream of the last attempt that is over; before that, of the attempt that runs."""
        if self.attempts:
            return self.attempts[-1].log_stream
        return self.tail.stream.name if self.tail else None

    def _array_properties(self, *, brief: bool) -> dict[str, Any] | None:
        if self.parent:
            return {"index": self.index}
        if not self.is_array:
            return None
        if brief:
            return {"size": len(self.children)}
        summary = {status: self.summary[status] for status in STATES}
        return {"size": len(self.children), "statusSummary": summary, "statusSummaryLastUpdatedAt": self.summary_at}


def _present(**values: Any) -> dict[str, Any]:
    """Return the values that are not None."""
    return {key: value for key, value in values.items() if value is not None}
