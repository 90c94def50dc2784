from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
import pytest

from orchestrator.aws.jobs.batch import ArrayJob, Batch, register_definition_request, submit_job_request
from orchestrator.aws.jobs.batch_job import Job
from orchestrator.aws.jobs.definitions import render
from orchestrator.errors import InvalidRequest
from tests.aws.jobs.test_definitions import LAUNCHER, VALUES
from tests.fixtures.aws import REGION

if TYPE_CHECKING:
    from orchestrator.aws.session import Clients

ARRAY = ArrayJob(
    name="nightly-s1-a0",
    queue="sweep",
    definition="sweep-launcher",
    size=3,
    environment={"SWEEP_MANIFEST": "s3://control/runs/nightly/submissions/1/0.manifest"},
    tags={"sweep:run": "nightly", "sweep:owner": "ada"},
)


@pytest.fixture
def definition() -> dict[str, Any]:
    return render(Path(LAUNCHER).read_text(), VALUES)


@pytest.fixture
def batch(clients: Clients) -> Batch:
    role = boto3.client("iam").create_role(RoleName="batch", AssumeRolePolicyDocument="{}")["Role"]["Arn"]
    client = clients.client("batch", REGION)
    environment = client.create_compute_environment(
        computeEnvironmentName="sweep",
        type="UNMANAGED",
        state="ENABLED",
        serviceRole=role,
    )["computeEnvironmentArn"]
    client.create_job_queue(
        jobQueueName="sweep",
        state="ENABLED",
        priority=1,
        computeEnvironmentOrder=[{"order": 1, "computeEnvironment": environment}],
    )
    return Batch(clients, REGION)


def test_a_queue_that_is_not_there_is_told_with_what_makes_it(batch: Batch, definition: dict[str, Any]) -> None:
    elsewhere = replace(ARRAY, queue="elsewhere", definition=batch.ensure_definition(definition))
    for call in (lambda: batch.find("nightly-s1-a0", "elsewhere"), lambda: batch.submit(elsewhere)):
        with pytest.raises(InvalidRequest) as caught:
            call()
        assert "sweep infra deploy" in caught.value.hint


def test_a_definition_is_registered_once_and_used_again(batch: Batch, definition: dict[str, Any]) -> None:
    arn = batch.ensure_definition(definition)
    assert batch.ensure_definition(dict(reversed(definition.items()))) == arn
    assert batch.ensure_definition(definition | {"propagateTags": False}) != arn
    known = batch.clients.client("batch", REGION).describe_job_definitions()["jobDefinitions"]
    assert len(known) == 2


def test_a_definition_that_was_deregistered_is_registered_anew(batch: Batch, definition: dict[str, Any]) -> None:
    arn = batch.ensure_definition(definition)
    batch.clients.client("batch", REGION).deregister_job_definition(jobDefinition=arn)
    assert batch.ensure_definition(definition) != arn


def test_a_definitions_name_is_its_contents_hash(definition: dict[str, Any]) -> None:
    name = register_definition_request(definition)["jobDefinitionName"]
    assert name.startswith("sweep-launcher-")
    assert register_definition_request(definition)["jobDefinitionName"] == name
    assert register_definition_request(definition | {"tags": {"sweep:owner": "bob"}})["jobDefinitionName"] != name


def test_the_request_carries_the_manifests_address_and_nothing_else() -> None:
    assert submit_job_request(ARRAY) == {
        "jobName": "nightly-s1-a0",
        "jobQueue": "sweep",
        "jobDefinition": "sweep-launcher",
        "arrayProperties": {"size": 3},
        "containerOverrides": {
            "environment": [{"name": "SWEEP_MANIFEST", "value": "s3://control/runs/nightly/submissions/1/0.manifest"}]
        },
        "tags": {"sweep:run": "nightly", "sweep:owner": "ada"},
        "propagateTags": True,
    }


def test_a_single_task_is_an_ordinary_job() -> None:
    assert "arrayProperties" not in submit_job_request(replace(ARRAY, size=1))


def test_what_children_hold_while_they_run_is_an_override() -> None:
    held = [{"consumableResource": "slots", "quantity": 4}]
    body = submit_job_request(replace(ARRAY, needs={"slots": 4}))
    assert body["consumableResourcePropertiesOverride"] == {"consumableResourceList": held}
    assert "consumableResourcePropertiesOverride" not in submit_job_request(ARRAY)


def test_a_submitted_array_is_found_by_its_exact_name(batch: Batch, definition: dict[str, Any]) -> None:
    arn = batch.ensure_definition(definition)
    assert batch.find(ARRAY.name, "sweep") is None
    job = batch.submit(replace(ARRAY, definition=arn))
    batch.submit(replace(ARRAY, definition=arn, name="nightly-s1-a01"))
    assert batch.find(ARRAY.name, "sweep") == job
    assert batch.find("nightly-s1-a", "sweep") is None


def test_jobs_are_described_with_their_size(batch: Batch, definition: dict[str, Any]) -> None:
    arn = batch.ensure_definition(definition)
    array, single = batch.submit(replace(ARRAY, definition=arn)), batch.submit(replace(ARRAY, definition=arn, size=1))
    assert [(job.id, job.size) for job in batch.describe([array, single])] == [(array, 3), (single, 1)]


def test_children_that_failed_are_found_with_their_index(
    batch: Batch, definition: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOTO_SIMPLE_BATCH_FAIL_AFTER", "0")
    arn = batch.ensure_definition(definition)
    array, single = batch.submit(replace(ARRAY, definition=arn)), batch.submit(replace(ARRAY, definition=arn, size=1))
    assert sorted(job.index for job in batch.failed_children(array)) == [0, 1, 2]
    assert [job.id for job in batch.failed_children(single)] == [single]


def test_an_unknown_queue_is_one_clear_line(clients: Clients) -> None:
    with pytest.raises(InvalidRequest, match="us-west-2 nowhere SubmitJob: could not submit the job nightly-s1-a0: "):
        Batch(clients, REGION).submit(replace(ARRAY, queue="nowhere"))


def test_a_job_has_ended_when_it_succeeded_or_failed() -> None:
    assert [Job("i", "n", status).ended for status in ("PENDING", "RUNNING", "SUCCEEDED", "FAILED")] == [
        False, False, True, True,
    ]  # fmt: skip
