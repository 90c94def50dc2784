"""Queues, compute environments and definitions of AWS Batch; describing and listing jobs.

Sources: [A] API reference of the operation; [G] user guide, chapter named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.localcloud.conftest import WAIT_FOR_SIGTERM, BatchDesk, eventually, refused

if TYPE_CHECKING:
    from collections.abc import Callable

# Compute environments and queues


def test_max_vcpus_bounds_how_many_run_at_once(batch: BatchDesk) -> None:
    """[G] Compute environment parameters, maxvCpus."""
    batch.own_queue()
    array = batch.submit(WAIT_FOR_SIGTERM, arrayProperties={"size": 6})
    eventually(lambda: batch.job(array)["arrayProperties"]["statusSummary"]["RUNNING"] == 4)
    assert batch.job(array)["arrayProperties"]["statusSummary"]["RUNNABLE"] == 2
    batch.client.update_compute_environment(computeEnvironment=batch.name, computeResources={"maxvCpus": 2})
    eventually(lambda: batch.job(array)["arrayProperties"]["statusSummary"]["RUNNING"] == 6)
    batch.client.terminate_job(jobId=array, reason="done")
    batch.end(array)


def test_a_disabled_queue_takes_no_jobs(batch: BatchDesk) -> None:
    batch.own_queue()
    definition = batch.define(["true"])
    batch.client.update_job_queue(jobQueue=batch.name, state="DISABLED")
    submit = batch.client.submit_job
    assert "not ENABLED" in refused(submit, jobName="a", jobQueue=batch.name, jobDefinition=definition)


def test_a_definition_gets_a_revision_each_time_it_is_registered(batch: BatchDesk) -> None:
    first, second = batch.define(["true"]), batch.define(["false"])
    assert (first.rpartition(":")[2], second.rpartition(":")[2]) == ("1", "2")
    assert batch.end(batch.submit([], definition=batch.name))["status"] == "FAILED"
    assert batch.end(batch.submit([], definition=f"{batch.name}:1"))["status"] == "SUCCEEDED"
    batch.client.deregister_job_definition(jobDefinition=second)
    found = batch.client.describe_job_definitions(jobDefinitionName=batch.name, status="ACTIVE")["jobDefinitions"]
    assert [each["revision"] for each in found] == [1]


# Describe and list


def test_describe_takes_at_most_100_ids(batch: BatchDesk) -> None:
    """[A] DescribeJobs; the text is seen in github.com/pegasus-isi/pegasus/issues/2086."""
    assert "100" in refused(batch.client.describe_jobs, jobs=[f"job-{n}" for n in range(101)])
    assert batch.client.describe_jobs(jobs=["unknown"])["jobs"] == []


def test_list_shows_running_jobs_unless_asked_otherwise(batch: BatchDesk) -> None:
    """[A] ListJobs, jobStatus."""
    array = batch.submit('[ "$AWS_BATCH_JOB_ARRAY_INDEX" = 0 ]', arrayProperties={"size": 2})
    batch.end(array)
    listed = {
        status: [each["jobId"] for each in batch.client.list_jobs(arrayJobId=array, **arguments)["jobSummaryList"]]
        for status, arguments in {"": {}, "S": {"jobStatus": "SUCCEEDED"}, "F": {"jobStatus": "FAILED"}}.items()
    }
    assert listed == {"": [], "S": [f"{array}:0"], "F": [f"{array}:1"]}


def test_list_comes_in_pages(batch: BatchDesk) -> None:
    """[A] ListJobs, maxResults and nextToken."""
    array = batch.submit(["true"], arrayProperties={"size": 5})
    batch.end(array)
    pages = batch.client.get_paginator("list_jobs").paginate(
        arrayJobId=array, jobStatus="SUCCEEDED", PaginationConfig={"PageSize": 2}
    )
    sizes = [len(page["jobSummaryList"]) for page in pages]
    assert (sum(sizes), max(sizes)) == (5, 2)


def test_a_name_filter_finds_jobs_in_any_state(batch: BatchDesk) -> None:
    """[A] ListJobs, filters: jobStatus is ignored; a value may end in an asterisk."""
    job = batch.submit(["true"])
    batch.end(job)
    by_name = [{"name": "JOB_NAME", "values": [batch.name]}]
    by_prefix = [{"name": "JOB_NAME", "values": [batch.name[:-2] + "*"]}]
    for filters in (by_name, by_prefix):
        listed = batch.client.list_jobs(jobQueue="sweep", filters=filters, jobStatus="RUNNING")["jobSummaryList"]
        assert [each["jobId"] for each in listed] == [job]


def test_tags_are_given_back(batch: BatchDesk) -> None:
    job = batch.submit(["true"], tags={"run": "nightly"})
    assert batch.job(job)["tags"] == {"run": "nightly"}
    batch.client.tag_resource(resourceArn=batch.job(job)["jobArn"], tags={"owner": "ada"})
    assert batch.client.list_tags_for_resource(resourceArn=batch.job(job)["jobArn"])["tags"] == {
        "run": "nightly",
        "owner": "ada",
    }


def test_regions_know_nothing_of_each_other(batch: BatchDesk, client: Callable[..., Any]) -> None:
    job = batch.submit(["true"])
    assert client("batch", "eu-west-1").describe_jobs(jobs=[job])["jobs"] == []
    batch.end(job)
