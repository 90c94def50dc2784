"""AWS Batch, as its user guide and API reference describe it.

Sources: [A] API reference of the operation; [G] user guide, chapter named; [L] service quotas of AWS Batch.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.localcloud.conftest import WAIT_FOR_SIGTERM, BatchDesk, eventually, refused

if TYPE_CHECKING:
    from collections.abc import Callable


GROUP = "/aws/batch/job"
IGNORE_SIGTERM = "trap '' TERM; echo ready; while :; do sleep 0.05; done"


def has_printed(client: Callable[..., Any], job: dict[str, Any], text: str) -> bool:
    stream = job["container"]["logStreamName"]
    events = client("logs").get_log_events(logGroupName=GROUP, logStreamName=stream, startFromHead=True)["events"]
    return any(text in event["message"] for event in events)


# Ordinary jobs


def test_a_job_runs_its_command_and_succeeds(batch: BatchDesk) -> None:
    job = batch.end(batch.submit(["true"]))
    assert (job["status"], job["container"]["exitCode"]) == ("SUCCEEDED", 0)
    assert job["createdAt"] <= job["startedAt"] <= job["stoppedAt"]


def test_a_command_that_fails_fails_the_job(batch: BatchDesk) -> None:
    job = batch.end(batch.submit("exit 3"))
    assert (job["status"], job["container"]["exitCode"]) == ("FAILED", 3)
    assert job["statusReason"] == "Essential container in task exited"
    assert [attempt["container"]["exitCode"] for attempt in job["attempts"]] == [3]


def test_a_command_that_does_not_exist_cannot_start_its_container(batch: BatchDesk) -> None:
    job = batch.end(batch.submit(["no-such-program"]))
    assert job["status"] == "FAILED"
    assert job["container"]["reason"].startswith("CannotStartContainerError")
    assert "exitCode" not in job["container"]


def test_a_job_sees_its_environment_and_batchs(batch: BatchDesk, client: Callable[..., Any]) -> None:
    """[G] Job environment variables."""
    definition = batch.define(
        ["python", "-c", "import json, os; print(json.dumps(dict(os.environ)))"],
        container={"environment": [{"name": "COLOUR", "value": "red"}, {"name": "SHAPE", "value": "round"}]},
    )
    overrides = {"environment": [{"name": "COLOUR", "value": "blue"}]}
    job = batch.end(batch.submit([], definition=definition, containerOverrides=overrides))
    stream = job["container"]["logStreamName"]
    event = client("logs").get_log_events(logGroupName=GROUP, logStreamName=stream)["events"][0]
    seen = json.loads(event["message"])
    assert (seen["COLOUR"], seen["SHAPE"]) == ("blue", "round")
    assert seen["AWS_BATCH_JOB_ID"] == job["jobId"]
    assert (seen["AWS_BATCH_JOB_ATTEMPT"], seen["AWS_BATCH_JQ_NAME"], seen["AWS_BATCH_CE_NAME"]) == (
        "1",
        "sweep",
        "sweep",
    )
    assert "AWS_BATCH_JOB_ARRAY_INDEX" not in seen


def test_parameters_fill_the_places_that_name_them(batch: BatchDesk, client: Callable[..., Any]) -> None:
    """[G] Job definition parameters."""
    definition = batch.define(["echo", "Ref::what"], parameters={"what": "tea"})
    job = batch.end(batch.submit([], definition=definition, parameters={"what": "coffee"}))
    assert has_printed(client, job, "coffee")


def test_a_log_stream_is_named_after_definition_and_job(batch: BatchDesk) -> None:
    job = batch.end(batch.submit(["true"]))
    assert job["container"]["logStreamName"] == f"{batch.name}/default/{job['jobId']}"


# Arrays


def test_each_child_of_an_array_knows_its_index(batch: BatchDesk) -> None:
    """[G] Array jobs: the exit code here is the index."""
    array = batch.submit('exit "$AWS_BATCH_JOB_ARRAY_INDEX"', arrayProperties={"size": 3})
    parent = batch.end(array)
    children = [batch.job(f"{array}:{index}") for index in range(3)]
    assert [child["container"]["exitCode"] for child in children] == [0, 1, 2]
    assert [child["arrayProperties"]["index"] for child in children] == [0, 1, 2]
    assert parent["status"] == "FAILED"
    assert parent["arrayProperties"]["size"] == 3
    assert parent["arrayProperties"]["statusSummary"]["FAILED"] == 2
    assert parent["arrayProperties"]["statusSummary"]["SUCCEEDED"] == 1


def test_a_parent_is_pending_while_its_children_run(batch: BatchDesk) -> None:
    array = batch.submit(WAIT_FOR_SIGTERM, arrayProperties={"size": 2})
    batch.in_state(f"{array}:0", "RUNNING")
    assert batch.job(array)["status"] == "PENDING"
    batch.client.terminate_job(jobId=array, reason="enough")
    assert batch.end(array)["status"] == "FAILED"


@pytest.mark.parametrize("size", [0, 1, 10_001])
def test_an_array_has_2_to_10000_children(batch: BatchDesk, size: int) -> None:
    """[L] Array size."""
    definition = batch.define(["true"])
    message = refused(
        batch.client.submit_job,
        jobName="a",
        jobQueue="sweep",
        jobDefinition=definition,
        arrayProperties={"size": size},
    )
    assert "between 2 and 10000" in message


# What is refused, and what fails later


def test_a_request_is_at_most_30_kib(batch: BatchDesk) -> None:
    """[L] Maximum job payload size."""
    definition = batch.define(["true"])
    message = refused(
        batch.client.submit_job,
        jobName="a",
        jobQueue="sweep",
        jobDefinition=definition,
        parameters={"p": "x" * 47 * 1024},
    )
    assert "Job size must be less than 30 KiB, got 47 KiB" in message


def test_a_definition_is_at_most_24_kib(batch: BatchDesk) -> None:
    """[L] Maximum job definition size."""
    assert "24 KiB" in refused(batch.define, command=["true"], parameters={"p": "x" * 25 * 1024})


def test_there_are_at_most_50_queues_of_3_environments(batch: BatchDesk, client: Callable[..., Any]) -> None:
    """[L] Job queues, and compute environments of a queue."""
    batch.own_queue()
    there = client("batch", "us-west-2")
    orders = [{"order": n, "computeEnvironment": "sweep"} for n in range(4)]
    make = {"priority": 1, "computeEnvironmentOrder": orders[:1]}
    names = [f"{batch.name}-{n}" for n in range(50 - len(there.describe_job_queues()["jobQueues"]))]
    for name in names:
        there.create_job_queue(jobQueueName=name, **make)
    assert "at most 50" in refused(there.create_job_queue, jobQueueName="one-more", **make)
    for name in names:
        there.delete_job_queue(jobQueue=name)
    many = {**make, "computeEnvironmentOrder": orders}
    assert "at most 3" in refused(there.create_job_queue, jobQueueName="wide", **many)


def test_overrides_over_8192_characters_fail_the_job_after_submit(batch: BatchDesk) -> None:
    """A limit of ECS: seen in github.com/ASFHyP3/hyp3/issues/3041."""
    overrides = {"environment": [{"name": "LONG", "value": "x" * 8192}]}
    job = batch.end(batch.submit(["true"], containerOverrides=overrides))
    assert job["status"] == "FAILED"
    assert job["statusReason"] == "Container Overrides length must be at most 8192"
    assert job["attempts"] == []


def test_an_unknown_queue_and_an_unknown_definition_are_refused(batch: BatchDesk) -> None:
    definition = batch.define(["true"])
    submit = batch.client.submit_job
    assert "does not exist" in refused(submit, jobName="a", jobQueue="none", jobDefinition=definition)
    assert "does not exist" in refused(submit, jobName="a", jobQueue="sweep", jobDefinition="none")


def test_a_time_out_is_at_least_60_seconds(batch: BatchDesk) -> None:
    """[A] SubmitJob, timeout."""
    definition = batch.define(["true"])
    message = refused(
        batch.client.submit_job,
        jobName="a",
        jobQueue="sweep",
        jobDefinition=definition,
        timeout={"attemptDurationSeconds": 59},
    )
    assert "60" in message


# Retries


def attempts(batch: BatchDesk, script: str, strategy: dict[str, Any]) -> int:
    return len(batch.end(batch.submit(script, retryStrategy=strategy))["attempts"])


def test_a_failed_attempt_is_retried_as_often_as_asked(batch: BatchDesk) -> None:
    """[G] Automated job retries."""
    assert attempts(batch, "exit 1", {"attempts": 3}) == 3


def test_an_attempt_that_succeeds_is_the_last(batch: BatchDesk, client: Callable[..., Any]) -> None:
    job = batch.end(
        batch.submit('echo n=$AWS_BATCH_JOB_ATTEMPT; [ "$AWS_BATCH_JOB_ATTEMPT" = 2 ]', retryStrategy={"attempts": 5})
    )
    assert job["status"] == "SUCCEEDED"
    assert [attempt["container"]["exitCode"] for attempt in job["attempts"]] == [1, 0]
    assert has_printed(client, job, "n=2")


def test_evaluate_on_exit_decides_by_the_first_rule_that_matches(batch: BatchDesk) -> None:
    """[G] Automated job retries: a pattern may end in an asterisk; without a match Batch retries."""
    rules = [{"onExitCode": "75", "action": "RETRY"}, {"onExitCode": "7*", "action": "EXIT"}]
    strategy = {"attempts": 2, "evaluateOnExit": rules}
    assert attempts(batch, "exit 75", strategy) == 2
    assert attempts(batch, "exit 76", strategy) == 1
    assert attempts(batch, "exit 1", strategy) == 2


def test_all_conditions_of_a_rule_must_match(batch: BatchDesk) -> None:
    rule = {"onExitCode": "1", "onStatusReason": "Host EC2*", "action": "EXIT"}
    assert attempts(batch, "exit 1", {"attempts": 2, "evaluateOnExit": [rule]}) == 2


def test_the_definitions_strategy_holds_when_the_request_has_none(batch: BatchDesk) -> None:
    definition = batch.define(["sh", "-c", "exit 1"], retryStrategy={"attempts": 2})
    assert len(batch.end(batch.submit([], definition=definition))["attempts"]) == 2


# Cancel and terminate


def test_terminate_sends_sigterm_and_keeps_the_reason(batch: BatchDesk, client: Callable[..., Any]) -> None:
    """[A] TerminateJob."""
    job = batch.submit(WAIT_FOR_SIGTERM, retryStrategy={"attempts": 3})
    running = batch.in_state(job, "RUNNING")
    eventually(lambda: has_printed(client, running, "ready"))
    batch.client.terminate_job(jobId=job, reason="not needed")
    ended = batch.end(job)
    assert (ended["status"], ended["statusReason"], ended["isTerminated"]) == ("FAILED", "not needed", True)
    assert (ended["container"]["exitCode"], len(ended["attempts"])) == (5, 1)


def test_cancel_ends_what_has_not_started_and_leaves_what_has(batch: BatchDesk) -> None:
    """[A] CancelJob."""
    batch.own_queue()
    array = batch.submit(WAIT_FOR_SIGTERM, arrayProperties={"size": 6})
    eventually(lambda: batch.job(array)["arrayProperties"]["statusSummary"]["RUNNING"] == 4)
    batch.client.cancel_job(jobId=array, reason="too many")
    summary = batch.job(array)["arrayProperties"]["statusSummary"]
    assert (summary["RUNNING"], summary["FAILED"]) == (4, 2)
    assert batch.job(f"{array}:5")["statusReason"] == "too many"
    batch.client.terminate_job(jobId=array, reason="done")
    assert batch.end(array)["arrayProperties"]["statusSummary"]["FAILED"] == 6


def test_ending_what_has_ended_changes_nothing(batch: BatchDesk) -> None:
    job = batch.end(batch.submit(["true"]))
    batch.client.terminate_job(jobId=job["jobId"], reason="late")
    batch.client.cancel_job(jobId=job["jobId"], reason="late")
    assert batch.job(job["jobId"])["status"] == "SUCCEEDED"
