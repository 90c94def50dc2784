"""A job of AWS Batch as its answers tell of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mypy_boto3_batch.type_defs import JobDetailTypeDef, JobSummaryTypeDef


@dataclass(frozen=True)
class Job:
    """A job, an array or one child of an array, as Batch sees it now."""

    id: str
    name: str
    status: str
    """SUBMITTED, PENDING, RUNNABLE, STARTING, RUNNING, SUCCEEDED or FAILED."""
    index: int = 0
    size: int = 1
    counts: Mapping[str, int] = field(default_factory=dict)
    """The number of an array's children in each status; empty for an ordinary job."""
    exit_code: int | None = None
    starts: int = 0
    """Times that Batch has started it; 0 in a listing, which does not say."""
    reason: str = ""
    log_stream: str = ""
    created_at: float | None = field(default=None, compare=False)
    """Seconds since the epoch; a child is created with its array."""
    started_at: float | None = field(default=None, compare=False)
    stopped_at: float | None = field(default=None, compare=False)
    environment: Mapping[str, str] = field(default_factory=dict, compare=False)
    """The variables that its submitter gave it; empty in a listing, which does not say."""
    terminated: bool = field(default=False, compare=False)
    """Somebody has terminated or cancelled it; never so in a listing, which does not say."""

    @property
    def ended(self) -> bool:
        """The job has succeeded or failed."""
        return self.status in {"SUCCEEDED", "FAILED"}


def job_of_detail(job: JobDetailTypeDef) -> Job:
    """Return a job as DescribeJobs tells of it."""
    array = job.get("arrayProperties", {})
    container = job.get("container", {})
    return Job(
        id=job["jobId"],
        name=job["jobName"],
        status=job["status"],
        index=array.get("index", _index(job["jobId"])),
        size=array.get("size", 1),
        counts=dict(array.get("statusSummary", {})),
        exit_code=container.get("exitCode"),
        starts=len(job.get("attempts", [])),
        reason=_reason(job.get("statusReason"), container.get("reason")),
        log_stream=container.get("logStreamName", ""),
        environment={each["name"]: each.get("value", "") for each in container.get("environment", [])},
        created_at=_seconds(job.get("createdAt")),
        started_at=_seconds(job.get("startedAt")),
        stopped_at=_seconds(job.get("stoppedAt")),
        terminated=bool(job.get("isTerminated") or job.get("isCancelled")),
    )


def job_of_summary(job: JobSummaryTypeDef) -> Job:
    """Return a job as ListJobs tells of it, which is less."""
    array = job.get("arrayProperties", {})
    container = job.get("container", {})
    return Job(
        id=job["jobId"],
        name=job["jobName"],
        status=job.get("status", ""),
        index=array.get("index", _index(job["jobId"])),
        exit_code=container.get("exitCode"),
        reason=_reason(job.get("statusReason"), container.get("reason")),
        created_at=_seconds(job.get("createdAt")),
        started_at=_seconds(job.get("startedAt")),
        stopped_at=_seconds(job.get("stoppedAt")),
    )


def _seconds(milliseconds: int | None) -> float | None:
    return milliseconds / 1000 if milliseconds else None


def _index(job_id: str) -> int:
    """Return the index that a child's id ends with, after a colon; 0 for the id of any other job."""
    index = job_id.rpartition(":")[2]
    return int(index) if ":" in job_id and index.isdigit() else 0


def _reason(*parts: str | None) -> str:
    return "; ".join(dict.fromkeys(part for part in parts if part))
