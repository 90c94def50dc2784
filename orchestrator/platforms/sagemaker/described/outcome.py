"""Reads what DescribeTrainingJob says of a training: how it stands, and why. It sends nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orchestrator.platforms.sagemaker.described.held import read_held
from orchestrator.platforms.sagemaker.described.waits import lost_at, times_interrupted, waited_seconds
from orchestrator.wire.result import Cause, Outcome, TaskState

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from orchestrator.wire.result import Attempt

_WAITING = {"Starting", "Pending", "LaunchingMLInstances", "PreparingTrainingStack"}
_FAILURES = (
    (Cause.CAPACITY, ("CapacityError", "InsufficientCapacity", "Unable to provision requested ML compute capacity")),
    (Cause.INTERRUPTED, ("InternalServerError", "InternalServiceError")),
)
"""Beginnings of a FailureReason, by cause, when the training itself is not to blame. Only the beginning is SageMaker's
own word: after `AlgorithmError: ... ErrorMessage` come the training's words, and they may say anything."""


@dataclass(frozen=True)
class _End:
    state: TaskState
    cause: Cause
    reason: str = ""


def read_outcome(attempt: Attempt, job: Mapping[str, Any]) -> Outcome:
    """Return the outcome of the attempt from DescribeTrainingJob's answer."""
    end = _end(job)
    seconds = float(job.get("TrainingTimeInSeconds") or _seconds_between(job))
    # What SageMaker bills for one instance. Until it says so, whatever ran is taken as billed.
    billable = seconds
    if "BillableTimeInSeconds" in job:
        billable = float(job["BillableTimeInSeconds"] or 0)
    ended_at = job.get("TrainingEndTime")
    if not ended_at and end.state.terminal:
        ended_at = job.get("LastModifiedTime")
    held = read_held(attempt, job)
    transitions = job.get("SecondaryStatusTransitions") or []
    return Outcome(
        number=attempt.number,
        lane=held.lane,
        training=attempt.training,
        state=end.state,
        cause=end.cause,
        reason=end.reason,
        seconds=seconds,
        billable_s=billable,
        # SageMaker bills a spot training's shortened time at the rate on demand, so the rate is what is paid.
        usd=billable / 3600 * held.rate * held.instances,
        instances=held.instances,
        started_at=_epoch(job.get("TrainingStartTime")),
        ended_at=_epoch(ended_at),
        metrics=_metrics(job),
        artifact=(job.get("ModelArtifacts") or {}).get("S3ModelArtifacts", ""),
        note=held.note,
        requested_at=_epoch(job.get("CreationTime")),
        waited_s=waited_seconds(transitions, _epoch(job.get("TrainingStartTime") or job.get("LastModifiedTime"))),
        freed_at=_epoch(job.get("LastModifiedTime")) if end.state.terminal else None,
        interruptions=times_interrupted(transitions),
        lost_at=None if end.state.terminal else lost_at(transitions),
    )


def _end(job: Mapping[str, Any]) -> _End:
    status, secondary = job["TrainingJobStatus"], job.get("SecondaryStatus", "")
    reason = " ".join(str(job.get("FailureReason") or "").split())
    if status == "Completed":
        return _End(TaskState.DONE, Cause.NONE)
    if status == "Failed":
        return _End(TaskState.FAILED, _cause(reason), reason or "SageMaker gives no reason")
    if status == "Stopped":
        return _stopped(job, secondary, reason)
    state = TaskState.STARTING if secondary in _WAITING else TaskState.RUNNING
    return _End(state, Cause.NONE)


def _cause(reason: str) -> Cause:
    return next((cause for cause, beginnings in _FAILURES if reason.startswith(beginnings)), Cause.TASK)


def _stopped(job: Mapping[str, Any], secondary: str, reason: str) -> _End:
    """Return whether a limit has stopped it or somebody: SageMaker calls both of them Stopped."""
    limit = job.get("StoppingCondition", {})
    if secondary == "MaxRuntimeExceeded":
        text = f"it ran for longer than {limit.get('MaxRuntimeInSeconds')} s"
        return _End(TaskState.FAILED, Cause.TIMEOUT, reason or text)
    if secondary == "MaxWaitTimeExceeded":
        text = f"spot capacity did not let it finish within {limit.get('MaxWaitTimeInSeconds')} s"
        return _End(TaskState.FAILED, Cause.CAPACITY, reason or text)
    last = str((job.get("SecondaryStatusTransitions") or [{}])[-1].get("StatusMessage") or "")
    if not job.get("TrainingStartTime") and "pending" in f"{reason} {last}".lower():
        return _End(TaskState.FAILED, Cause.CAPACITY, reason or last)
    return _End(TaskState.CANCELLED, Cause.STOPPED, reason or "it was stopped")


def _metrics(job: Mapping[str, Any]) -> dict[str, float]:
    """Return the last value of each metric. JSON knows neither nan nor infinity, and no ranking does."""
    values = {metric["MetricName"]: float(metric["Value"]) for metric in job.get("FinalMetricDataList") or []}
    return {name: value for name, value in values.items() if math.isfinite(value)}


def _seconds_between(job: Mapping[str, Any]) -> float:
    start = job.get("TrainingStartTime")
    end = job.get("TrainingEndTime") or job.get("LastModifiedTime")
    return max((end - start).total_seconds(), 0.0) if start and end else 0.0


def _epoch(moment: datetime | None) -> float | None:
    return moment.timestamp() if moment else None
