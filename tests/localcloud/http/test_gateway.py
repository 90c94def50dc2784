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
        ("savingsplans", "create_savings_plan", {"savingsPlanOfferingId": "o", "commitment": "1"}),
        ("ec2", "purchase_capacity_block", {"CapacityBlockOfferingId": "o", "InstancePlatform": "Linux/UNIX"}),
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
        connection.request("GET", "/_local/faults", headers={"Authorization": f"Bearer {cloud.serving.secret}"})
        assert connection.getresponse().read()
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


# S3 in several Regions


def raw(cloud: LocalCloud, method: str, bucket: str, region: str) -> http.client.HTTPResponse:
    """Return the answer to a signed request, without an SDK that follows where it is led."""
    from botocore.auth import S3SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    access = cloud.serving.access
    request = AWSRequest(method, f"{cloud.endpoint}/{bucket}")
    S3SigV4Auth(Credentials(access.key_id, access.secret), "s3", region).add_auth(request)
    connection = http.client.HTTPConnection(cloud.endpoint.removeprefix("http://"), timeout=10)
    connection.request(method, f"/{bucket}", headers=dict(request.headers))
    return connection.getresponse()


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_another_regions_bucket_is_a_redirect(cloud: LocalCloud, method: str) -> None:
    """S3 user guide, "Making requests": a request to the wrong Region is answered 301, PermanentRedirect; seen with its
    header in github.com/JuliaCloud/AWSS3.jl/issues/25."""
    answer = raw(cloud, method, "sweep-local-eu-west-1", "us-west-2")
    assert (answer.status, answer.headers["x-amz-bucket-region"]) == (301, "eu-west-1")
    body = answer.read().decode()
    if method == "GET":
        assert "<Code>PermanentRedirect</Code>" in body
        assert "<Endpoint>sweep-local-eu-west-1.s3.eu-west-1.amazonaws.com</Endpoint>" in body
    assert raw(cloud, method, "sweep-local-eu-west-1", "eu-west-1").status == 200


def test_an_sdk_follows_to_the_buckets_region(client: Callable[..., Any], name: str) -> None:
    client("s3", "us-west-2").put_object(Bucket="sweep-local-eu-west-1", Key=name, Body=b"there")
    found = client("s3", "eu-west-1").get_object(Bucket="sweep-local-eu-west-1", Key=name)
    assert found["Body"].read() == b"there"
    location = client("s3", "us-east-1").get_bucket_location(Bucket="sweep-local-eu-west-1")
    assert location["LocationConstraint"] == "eu-west-1"


def test_a_presigned_url_needs_no_header(client: Callable[..., Any], name: str) -> None:
    import urllib.request

    s3 = client("s3", "eu-west-1")
    s3.put_object(Bucket="sweep-local-eu-west-1", Key=name, Body=b"signed")
    url = s3.generate_presigned_url("get_object", Params={"Bucket": "sweep-local-eu-west-1", "Key": name})
    with urllib.request.urlopen(url, timeout=10) as answer:
        assert answer.read() == b"signed"
