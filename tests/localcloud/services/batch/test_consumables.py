"""Consumable resources: jobs that wait for what there is little of.

Sources: [G] AWS Batch user guide, "Resource-aware scheduling"; [A] API reference of the operation.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.localcloud.conftest import WAIT_FOR_SIGTERM, BatchDesk, eventually, refused


def needing(batch: BatchDesk, quantity: int = 1) -> dict[str, Any]:
    return {"consumableResourceList": [{"consumableResource": batch.name, "quantity": quantity}]}


def create(batch: BatchDesk, total: int, **more: Any) -> str:
    made = batch.client.create_consumable_resource(consumableResourceName=batch.name, totalQuantity=total, **more)
    return str(made["consumableResourceArn"])


def quantities(batch: BatchDesk) -> tuple[int, int, int]:
    """Return the quantities in all, in use, and available."""
    found = batch.client.describe_consumable_resource(consumableResource=batch.name)
    return found["totalQuantity"], found["inUseQuantity"], found["availableQuantity"]


def test_only_as_many_jobs_run_as_there_is_for_them(batch: BatchDesk) -> None:
    """[G] Locked when a job goes to STARTING, unlocked when it goes to SUCCEEDED or FAILED; meanwhile others wait."""
    batch.own_queue()
    create(batch, 2)
    definition = batch.define(["sh", "-c", WAIT_FOR_SIGTERM], consumableResourceProperties=needing(batch))
    array = batch.submit([], definition=definition, arrayProperties={"size": 3})
    eventually(lambda: batch.counts(array) == {"RUNNING": 2, "RUNNABLE": 1})
    assert quantities(batch) == (2, 2, 0)
    batch.client.terminate_job(jobId=f"{array}:0", reason="make room")
    eventually(lambda: batch.counts(array) == {"FAILED": 1, "RUNNING": 2})
    batch.client.terminate_job(jobId=array, reason="done")
    batch.end(array)
    assert quantities(batch) == (2, 0, 2)


def test_a_job_at_the_head_of_a_queue_holds_back_those_behind_it(batch: BatchDesk) -> None:
    """[G] A job that reaches the head waits in RUNNABLE until all that it requires is available."""
    batch.own_queue()
    create(batch, 0)
    head = batch.submit(["true"], consumableResourcePropertiesOverride=needing(batch))
    behind = batch.submit(["true"])
    elsewhere = batch.client.submit_job(jobName="a", jobQueue="sweep", jobDefinition=batch.name)["jobId"]
    batch.end(elsewhere)
    assert [batch.job(job)["status"] for job in (head, behind)] == ["RUNNABLE", "RUNNABLE"]
    batch.client.update_consumable_resource(consumableResource=batch.name, operation="ADD", quantity=1)
    assert [batch.end(job)["status"] for job in (head, behind)] == ["SUCCEEDED", "SUCCEEDED"]


def test_a_submission_may_ask_for_another_quantity_than_its_definition(batch: BatchDesk) -> None:
    """[A] SubmitJob, consumableResourcePropertiesOverride."""
    create(batch, 5)
    definition = batch.define(["sh", "-c", WAIT_FOR_SIGTERM], consumableResourceProperties=needing(batch, 1))
    job = batch.submit([], definition=definition, consumableResourcePropertiesOverride=needing(batch, 3))
    batch.in_state(job, "RUNNING")
    assert quantities(batch) == (5, 3, 2)
    assert batch.job(job)["consumableResourceProperties"] == needing(batch, 3)
    batch.client.terminate_job(jobId=job, reason="done")
    batch.end(job)


def test_what_is_not_replenishable_is_used_up(batch: BatchDesk) -> None:
    """[G] Subtracted from both the total and the available quantity, whether the job succeeds or fails."""
    create(batch, 2, resourceType="NON_REPLENISHABLE")
    assert batch.end(batch.submit(["false"], consumableResourcePropertiesOverride=needing(batch)))["attempts"]
    assert quantities(batch) == (1, 0, 1)


def test_a_retry_gives_back_what_its_attempt_held(batch: BatchDesk) -> None:
    create(batch, 1)
    job = batch.submit(["false"], consumableResourcePropertiesOverride=needing(batch), retryStrategy={"attempts": 3})
    assert len(batch.end(job)["attempts"]) == 3
    assert quantities(batch) == (1, 0, 1)


def test_a_quantity_is_set_added_to_and_removed_from(batch: BatchDesk) -> None:
    """[A] UpdateConsumableResource; a clientToken makes two equal requests one."""
    arn = create(batch, 1)
    update = batch.client.update_consumable_resource
    assert update(consumableResource=arn, operation="SET", quantity=10)["totalQuantity"] == 10
    for _ in range(2):
        changed = update(consumableResource=arn, operation="ADD", quantity=5, clientToken="once")
        assert changed["totalQuantity"] == 15
    assert update(consumableResource=batch.name, operation="REMOVE", quantity=3)["totalQuantity"] == 12
    assert "non-negative" in refused(update, consumableResource=arn, operation="REMOVE", quantity=13)


def test_a_resource_is_listed_until_it_is_deleted(batch: BatchDesk) -> None:
    """[A] ListConsumableResources, filters; DeleteConsumableResource."""
    create(batch, 7, tags={"lane": "spot"})
    assert "already exists" in refused(create, batch=batch, total=1)
    by_name = [{"name": "CONSUMABLE_RESOURCE_NAME", "values": [batch.name[:-2].upper() + "*"]}]
    listed = batch.client.list_consumable_resources(filters=by_name)["consumableResources"]
    assert [(each["consumableResourceName"], each["totalQuantity"]) for each in listed] == [(batch.name, 7)]
    described = batch.client.describe_consumable_resource(consumableResource=batch.name)
    assert (described["resourceType"], described["tags"]) == ("REPLENISHABLE", {"lane": "spot"})
    batch.client.delete_consumable_resource(consumableResource=batch.name)
    assert batch.client.list_consumable_resources(filters=by_name)["consumableResources"] == []


def test_jobs_are_found_by_what_they_require(batch: BatchDesk) -> None:
    """[A] ListJobsByConsumableResource; at most 100 a page."""
    batch.own_queue()
    create(batch, 0)
    array = batch.submit(["true"], arrayProperties={"size": 120}, consumableResourcePropertiesOverride=needing(batch))
    pages = batch.client.get_paginator("list_jobs_by_consumable_resource").paginate(
        consumableResource=batch.name, filters=[{"name": "JOB_STATUS", "values": ["RUNNABLE"]}]
    )
    assert [len(page["jobs"]) for page in pages] == [100, 20]
    batch.client.terminate_job(jobId=array, reason="done")


@pytest.mark.parametrize("number", [1, 6])
def test_a_job_requires_at_most_five_resources_that_exist(batch: BatchDesk, number: int) -> None:
    """[G] Specify the resources needed to run a job."""
    names = [{"consumableResource": f"none-{n}", "quantity": 1} for n in range(number)]
    text = refused(
        batch.submit, command=["true"], consumableResourcePropertiesOverride={"consumableResourceList": names}
    )
    assert ("at most 5" if number > 5 else "does not exist") in text
