"""Requests that nobody can answer, and the connections they come on."""

from __future__ import annotations

import http.client
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.localcloud import LocalCloud


def refusal(call: Callable[..., Any], **arguments: Any) -> tuple[int, str]:
    with pytest.raises(ClientError) as caught:
        call(**arguments)
    return caught.value.response["ResponseMetadata"]["HTTPStatusCode"], str(caught.value)


@pytest.mark.parametrize(
    ("service", "operation", "arguments"),
    [
        ("batch", "list_service_jobs", {"jobQueue": "sweep"}),
        ("sagemaker", "create_workforce", {"WorkforceName": "w"}),
        ("savingsplans", "describe_savings_plans", {}),
        ("ec2", "get_spot_placement_scores", {"TargetCapacity": 1}),
    ],
)
def test_what_is_not_supported_is_said_so_and_not_retried(
    client: Callable[..., Any], service: str, operation: str, arguments: dict[str, Any]
) -> None:
    status, message = refusal(getattr(client(service), operation), **arguments)
    assert 400 <= status < 500
    assert "does not support" in message


def test_a_region_that_this_cloud_has_not_is_named(client: Callable[..., Any]) -> None:
    status, message = refusal(client("batch", "ap-south-1").list_jobs, jobQueue="sweep")
    assert status == 400
    assert "no Region ap-south-1; it has us-east-1" in message


def test_a_connection_serves_many_requests(cloud: LocalCloud) -> None:
    connection = http.client.HTTPConnection(cloud.endpoint.removeprefix("http://"), timeout=10)
    connection.connect()
    socket = connection.sock
    for _ in range(3):
        connection.request("GET", "/sweep-local")
        connection.getresponse().read()
        assert connection.sock is socket
    connection.close()


def test_a_large_object_comes_back_as_it_was(client: Callable[..., Any], name: str) -> None:
    body = bytes(range(256)) * 4096 * 16
    s3 = client("s3")
    s3.put_object(Bucket="sweep-local", Key=name, Body=body)
    assert s3.get_object(Bucket="sweep-local", Key=name)["Body"].read() == body
    part = s3.get_object(Bucket="sweep-local", Key=name, Range="bytes=256-511")["Body"].read()
    assert part == bytes(range(256))


def test_every_region_has_a_bucket_and_a_queue(cloud: LocalCloud, client: Callable[..., Any]) -> None:
    for region in cloud.regions:
        location = client("s3", region).get_bucket_location(Bucket=f"sweep-local-{region}")["LocationConstraint"]
        assert (location or "us-east-1") == region
        assert client("batch", region).describe_job_queues(jobQueues=["sweep"])["jobQueues"][0]["state"] == "ENABLED"
