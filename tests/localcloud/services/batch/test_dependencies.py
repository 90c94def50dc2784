"""Jobs that wait for others.

Source: AWS Batch user guide, chapters "Job dependencies" and "Array jobs", unless a test names another.
"""

from __future__ import annotations

import itertools
import time

import pytest

from tests.localcloud.conftest import WAIT_FOR_SIGTERM, BatchDesk, eventually, refused


def test_a_job_is_pending_until_the_one_it_depends_on_has_succeeded(batch: BatchDesk) -> None:
    first = batch.submit("while [ ! -e ../$NAME ]; do sleep 0.05; done", containerOverrides=named(batch))
    second = batch.submit(["true"], dependsOn=[{"jobId": first}])
    batch.in_state(first, "RUNNING")
    assert batch.job(second)["status"] == "PENDING"
    assert batch.job(second)["dependsOn"] == [{"jobId": first}]
    opener = batch.submit("touch ../$NAME", containerOverrides=named(batch))
    ended = [batch.end(job) for job in (opener, first, second)]
    assert [job["status"] for job in ended] == ["SUCCEEDED"] * 3
    assert ended[1]["stoppedAt"] <= ended[2]["startedAt"]


def named(batch: BatchDesk) -> dict[str, list[dict[str, str]]]:
    return {"environment": [{"name": "NAME", "value": batch.name}]}


def test_a_job_fails_when_one_that_it_depends_on_fails(batch: BatchDesk) -> None:
    """The dependent goes from PENDING to FAILED if any dependency fails, and so do those behind it."""
    first = batch.submit("exit 1")
    second = batch.submit(["true"], dependsOn=[{"jobId": first}])
    third = batch.submit(["true"], dependsOn=[{"jobId": second}])
    for job in (second, third):
        ended = batch.end(job)
        assert (ended["status"], ended["statusReason"]) == ("FAILED", "Dependent Job failed")
        assert ended["attempts"] == []


def test_a_job_that_has_ended_is_not_waited_for(batch: BatchDesk) -> None:
    good, bad = batch.submit(["true"]), batch.submit(["false"])
    batch.end(good)
    batch.end(bad)
    assert batch.end(batch.submit(["true"], dependsOn=[{"jobId": good}]))["status"] == "SUCCEEDED"
    assert batch.end(batch.submit(["true"], dependsOn=[{"jobId": bad}]))["status"] == "FAILED"


def test_an_array_is_waited_for_as_a_whole(batch: BatchDesk) -> None:
    array = batch.submit(["true"], arrayProperties={"size": 3})
    job = batch.end(batch.submit(["true"], dependsOn=[{"jobId": array}]))
    assert job["status"] == "SUCCEEDED"
    assert job["startedAt"] >= batch.job(array)["stoppedAt"]


def test_the_children_of_a_sequential_array_run_one_after_another(batch: BatchDesk) -> None:
    array = batch.submit(["true"], arrayProperties={"size": 4}, dependsOn=[{"type": "SEQUENTIAL"}])
    assert batch.end(array)["status"] == "SUCCEEDED"
    children = [batch.job(f"{array}:{index}") for index in range(4)]
    for before, after in itertools.pairwise(children):
        assert before["stoppedAt"] <= after["startedAt"]


def test_in_a_sequential_array_what_follows_a_failure_fails(batch: BatchDesk) -> None:
    array = batch.submit(
        '[ "$AWS_BATCH_JOB_ARRAY_INDEX" = 0 ]', arrayProperties={"size": 2000}, dependsOn=[{"type": "SEQUENTIAL"}]
    )
    assert batch.end(array)["status"] == "FAILED"
    assert batch.counts(array) == {"SUCCEEDED": 1, "FAILED": 1999}
    assert batch.job(f"{array}:1999")["statusReason"] == "Dependent Job failed"


def test_n_to_n_children_wait_for_the_child_of_the_same_index(batch: BatchDesk) -> None:
    first = batch.submit('[ "$AWS_BATCH_JOB_ARRAY_INDEX" != 1 ]', arrayProperties={"size": 3})
    second = batch.submit(["true"], arrayProperties={"size": 3}, dependsOn=[{"jobId": first, "type": "N_TO_N"}])
    batch.end(second)
    assert [batch.job(f"{second}:{index}")["status"] for index in range(3)] == ["SUCCEEDED", "FAILED", "SUCCEEDED"]
    assert batch.job(f"{first}:0")["stoppedAt"] <= batch.job(f"{second}:0")["startedAt"]


@pytest.mark.parametrize(
    "dependency", [{"jobId": "no-such-job"}, {"type": "SEQUENTIAL"}, {"type": "N_TO_N", "jobId": "no-such-job"}]
)
def test_a_dependency_that_cannot_be_is_refused(batch: BatchDesk, dependency: dict[str, str]) -> None:
    assert refused(batch.submit, command=["true"], dependsOn=[dependency])


def test_arrays_that_depend_n_to_n_have_one_size(batch: BatchDesk) -> None:
    first = batch.submit(["true"], arrayProperties={"size": 3})
    other = [{"jobId": first, "type": "N_TO_N"}]
    assert "3" in refused(batch.submit, command=["true"], arrayProperties={"size": 2}, dependsOn=other)


def test_a_job_depends_on_at_most_20_others(batch: BatchDesk) -> None:
    """AWS Batch service quotas."""
    others = [{"jobId": str(number)} for number in range(21)]
    assert "at most 20" in refused(batch.submit, command=["true"], dependsOn=others)


def test_a_pending_job_is_cancelled_once_what_it_depends_on_has_ended(batch: BatchDesk) -> None:
    """API reference, CancelJob: a PENDING job is cancelled after all dependency jobs are completed."""
    first = batch.submit(WAIT_FOR_SIGTERM)
    second = batch.submit(["true"], dependsOn=[{"jobId": first}])
    batch.in_state(first, "RUNNING")
    batch.client.cancel_job(jobId=second, reason="not now")
    assert batch.job(second)["status"] == "PENDING"
    batch.client.terminate_job(jobId=first, reason="enough")
    ended = batch.end(second)
    assert (ended["statusReason"], ended["isCancelled"]) == ("not now", True)


# Many at once


def test_many_jobs_are_cancelled_or_terminated_in_one_call(batch: BatchDesk) -> None:
    """API reference, CancelJobs and TerminateJobs."""
    batch.own_queue()
    array = batch.submit(WAIT_FOR_SIGTERM, arrayProperties={"size": 4})
    waiting = [batch.submit(["true"]) for _ in range(3)]
    eventually(lambda: batch.counts(array) == {"RUNNING": 4})
    answer = batch.client.cancel_jobs(jobs=[array, *waiting], reason="too many")
    assert (answer["successful"], answer["errors"]) == ([array, *waiting], [])
    assert {batch.job(job)["status"] for job in waiting} == {"FAILED"}
    assert batch.counts(array) == {"RUNNING": 4}
    children = [f"{array}:{index}" for index in range(4)]
    assert batch.client.terminate_jobs(jobs=children, reason="enough")["successful"] == children
    batch.end(array)
    assert {batch.job(child)["statusReason"] for child in children} == {"enough"}


def test_a_job_that_cannot_be_found_counts_as_processed(batch: BatchDesk) -> None:
    """API reference, CancelJobs."""
    answer = batch.client.cancel_jobs(jobs=["gone"], reason="late")
    assert (answer["successful"], answer["errors"]) == (["gone"], [])


@pytest.mark.parametrize("operation", ["cancel_jobs", "terminate_jobs"])
def test_one_call_takes_at_most_50_jobs(batch: BatchDesk, operation: str) -> None:
    """API reference, CancelJobs and TerminateJobs, jobs and reason."""
    call = getattr(batch.client, operation)
    assert "50" in refused(call, jobs=[str(number) for number in range(51)], reason="too many")
    assert "1024" in refused(call, jobs=["one"], reason="x" * 1025)


def test_a_long_array_is_terminated_at_once(batch: BatchDesk) -> None:
    batch.own_queue()
    array = batch.submit(WAIT_FOR_SIGTERM, arrayProperties={"size": 5000})
    eventually(lambda: batch.counts(array).get("RUNNING") == 4)
    before = time.monotonic()
    batch.client.terminate_job(jobId=array, reason="enough")
    assert batch.counts(array)["FAILED"] >= 4996
    assert batch.end(array)["status"] == "FAILED"
    assert time.monotonic() - before < 30, "one after another would take minutes"
