from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from orchestrator.platforms.sagemaker.described.outcome import read_outcome
from orchestrator.wire.result import Attempt, Cause, TaskState
from tests.platforms.sweeps import SPOT

START = datetime(2026, 11, 20, 12, tzinfo=timezone.utc)
ATTEMPT = Attempt(912, 3, 0, SPOT.lane, "nightly-912-3", "hash", 3600, 0.0, rate=1.5, instances=2)


def described(status: str, secondary: str = "", **fields: Any) -> Any:
    return read_outcome(ATTEMPT, {"TrainingJobStatus": status, "SecondaryStatus": secondary or status, **fields})


@pytest.mark.parametrize(
    ("secondary", "state"),
    [
        ("Starting", TaskState.STARTING),
        ("Pending", TaskState.STARTING),
        ("LaunchingMLInstances", TaskState.STARTING),
        ("PreparingTrainingStack", TaskState.STARTING),
        ("Downloading", TaskState.RUNNING),
        ("Training", TaskState.RUNNING),
        ("Interrupted", TaskState.RUNNING),
        ("Restarting", TaskState.RUNNING),
        ("Uploading", TaskState.RUNNING),
        ("Updating", TaskState.RUNNING),
    ],
)
def test_a_job_in_progress_is_starting_until_it_has_a_machine(secondary: str, state: TaskState) -> None:
    assert described("InProgress", secondary).state is state


def test_a_stopping_job_still_runs() -> None:
    assert described("Stopping").state is TaskState.RUNNING


@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        ("AlgorithmError: ExecuteUserScriptError, exit code: 1", Cause.TASK),
        ("ClientError: Data download failed: no such key", Cause.TASK),
        ("CapacityError: Unable to provision requested ML compute capacity. Please retry.", Cause.CAPACITY),
        ("Unable to provision requested ML compute capacity. Please retry.", Cause.CAPACITY),
        ("InternalServerError: We encountered an internal error. Please try again.", Cause.INTERRUPTED),
        ("", Cause.TASK),
    ],
)
def test_a_failure_is_the_tasks_own_unless_aws_takes_the_blame(reason: str, cause: Cause) -> None:
    made = described("Failed", FailureReason=reason)
    assert (made.state, made.cause) == (TaskState.FAILED, cause)
    assert made.reason


@pytest.mark.parametrize(
    "blamed", ["InternalServerError", "InternalServiceError", "CapacityError", "InsufficientCapacity"]
)
@pytest.mark.parametrize("kind", ["AlgorithmError", "ClientError"])
def test_a_failure_stays_the_tasks_own_whatever_its_error_text_says(kind: str, blamed: str) -> None:
    text = f"{blamed}: Unable to provision requested ML compute capacity, said the cluster; {blamed}"
    reason = f'{kind}: ExecuteUserScriptError:\nExitCode 1\nErrorMessage "{text}", exit code: 1'
    assert described("Failed", FailureReason=reason).cause is Cause.TASK


def test_a_job_that_ran_out_of_time_failed_by_timeout() -> None:
    made = described("Stopped", "MaxRuntimeExceeded", StoppingCondition={"MaxRuntimeInSeconds": 60})
    assert (made.state, made.cause, made.reason) == (TaskState.FAILED, Cause.TIMEOUT, "it ran for longer than 60 s")


def test_spot_that_never_came_or_never_stayed_is_missing_capacity() -> None:
    made = described("Stopped", "MaxWaitTimeExceeded", StoppingCondition={"MaxWaitTimeInSeconds": 90})
    assert (made.state, made.cause) == (TaskState.FAILED, Cause.CAPACITY)


def test_a_job_that_waited_too_long_for_its_machine_is_missing_capacity() -> None:
    message = "Maximum pending time exceeded"
    made = described("Stopped", SecondaryStatusTransitions=[{"StatusMessage": message}])
    assert (made.cause, made.reason) == (Cause.CAPACITY, message)


def test_a_job_stopped_by_somebody_was_cancelled() -> None:
    made = described("Stopped", TrainingStartTime=START, TrainingEndTime=START + timedelta(minutes=5))
    assert (made.state, made.cause) == (TaskState.CANCELLED, Cause.STOPPED)


def test_the_bill_is_billable_time_by_rate_by_instances() -> None:
    made = described(
        "Completed",
        TrainingTimeInSeconds=3600,
        BillableTimeInSeconds=1200,
        TrainingStartTime=START,
        TrainingEndTime=START + timedelta(hours=1),
        ModelArtifacts={"S3ModelArtifacts": "s3://team/model.tar.gz"},
        FinalMetricDataList=[{"MetricName": "loss", "Value": 0.25}, {"MetricName": "bad", "Value": float("nan")}],
    )
    assert (made.state, made.seconds, made.billable_s, made.usd) == (TaskState.DONE, 3600, 1200, 1.0)
    assert (made.number, made.training, made.instances) == (3, "nightly-912-3", 2)
    assert (made.started_at, made.ended_at) == (START.timestamp(), START.timestamp() + 3600)
    assert (made.artifact, made.metrics) == ("s3://team/model.tar.gz", {"loss": 0.25})


def test_until_sagemaker_says_what_it_bills_all_that_ran_counts() -> None:
    made = described("InProgress", "Training", TrainingStartTime=START, LastModifiedTime=START + timedelta(minutes=30))
    assert (made.billable_s, made.usd) == (1800, 1.5)


def test_what_was_never_billed_costs_nothing() -> None:
    made = described("Failed", FailureReason="CapacityError: none", LastModifiedTime=START)
    assert (made.usd, made.ended_at) == (0.0, START.timestamp())
