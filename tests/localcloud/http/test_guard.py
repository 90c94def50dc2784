"""Attacks on a cloud that serves: as a web page in its owner's browser, another user, or a program can send them.

`test_browser.py` has a real browser try the same.
"""

from __future__ import annotations

import http.client
import json
import stat
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.exceptions import ClientError

from orchestrator.localcloud import LocalCloudError, Steering
from orchestrator.localcloud.names import Access

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.localcloud import LocalCloud

COMMAND = {
    "jobDefinitionName": "stolen",
    "type": "container",
    "containerProperties": {"image": "any", "command": ["touch", "/tmp/stolen"], "memory": 512, "vcpus": 1},
}
SCOPE = "X-Amz-Credential=x/20261122/us-east-1/batch/aws4_request"


def send(cloud: LocalCloud, method: str, path: str, headers: dict[str, str], body: Any = None) -> tuple[int, str]:
    """Send a request as it is, and return the answer's status and text."""
    connection = http.client.HTTPConnection(cloud.endpoint.removeprefix("http://"), timeout=10)
    connection.request(method, path, body if body is None else json.dumps(body), headers)
    answer = connection.getresponse()
    assert "access-control-allow-origin" not in {name.lower() for name in answer.headers}
    return answer.status, answer.read().decode()


def steering(cloud: LocalCloud) -> dict[str, str]:
    return {"Authorization": f"Bearer {cloud.serving.secret}"}


FROM_A_PAGE = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site", "Content-Type": "text/plain"}
"""What a browser adds to a post that a page sends with `mode: "no-cors"`."""


@pytest.mark.parametrize("headers", [FROM_A_PAGE, {}, {"Content-Type": "text/plain"}])
@pytest.mark.parametrize(
    ("path", "body"),
    [
        (f"/v1/registerjobdefinition?{SCOPE}", COMMAND),
        (f"/v1/submitjob?{SCOPE}", {"jobName": "stolen", "jobQueue": "sweep", "jobDefinition": "stolen"}),
        ("/_local/faults", {"kind": "down"}),
        ("/_local/clock", {"advance": 1e6}),
        ("/moto-api/reset", None),
        ("/sweep-local/stolen", None),
    ],
)
def test_a_post_of_any_page_runs_nothing(
    cloud: LocalCloud, client: Callable[..., Any], path: str, body: Any, headers: dict[str, str]
) -> None:
    status, text = send(cloud, "POST", path, headers, body)
    assert status == 403
    assert "AccessDenied" in text
    assert client("batch").describe_job_definitions(jobDefinitionName="stolen")["jobDefinitions"] == []
    assert cloud.steering.faults() == []


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example:{port}", "", "127.0.0.1"])
def test_another_name_for_this_machine_is_refused_even_with_the_secret(cloud: LocalCloud, host: str) -> None:
    port = cloud.endpoint.rpartition(":")[2]
    headers = {**steering(cloud), "Host": host.format(port=port)}
    assert send(cloud, "GET", "/_local/faults", headers)[0] == 403
    assert send(cloud, "GET", "/_local/faults", {**headers, "Host": f"localhost:{port}"})[0] == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_another_sites_page_is_refused_even_with_the_secret(cloud: LocalCloud, headers: dict[str, str]) -> None:
    assert send(cloud, "GET", "/_local/overview", {**steering(cloud), **headers})[0] == 403
    page = cloud.serving.page.removeprefix(cloud.endpoint)
    assert send(cloud, "GET", page, headers)[0] == 403
    assert send(cloud, "OPTIONS", "/_local/overview", headers)[0] == 403


def test_the_page_opens_by_its_own_address_only(cloud: LocalCloud) -> None:
    page = cloud.serving.page.removeprefix(cloud.endpoint)
    assert cloud.serving.secret not in page
    assert send(cloud, "GET", page, {"Sec-Fetch-Site": "none"})[0] == 200
    assert send(cloud, "GET", page, {"Sec-Fetch-Site": "same-origin"})[0] == 200
    for wrong in ("/", "/?key=", page[:-1] + "g", f"{page}&x=1"):
        status, text = send(cloud, "GET", wrong, {})
        assert status == 403
        assert "`sweep local status` prints it" in text


@pytest.mark.parametrize("given", ["", "Bearer ", "Bearer wrong", "Bearer \u00fc"])
def test_steering_takes_the_secret(cloud: LocalCloud, given: str) -> None:
    for method, path in (("GET", "overview"), ("GET", "faults"), ("DELETE", "faults"), ("POST", "clock")):
        assert send(cloud, method, f"/_local/{path}", {"Authorization": given}, {"advance": 1})[0] == 403
    with pytest.raises(LocalCloudError, match="secret"):
        Steering(Access(cloud.endpoint, "any", "wrong")).advance(1)


def test_a_key_of_another_cloud_is_told_where_the_right_one_is(cloud: LocalCloud) -> None:
    for service, call in (("s3", "list_buckets"), ("batch", "describe_job_queues"), ("sts", "get_caller_identity")):
        for key, secret in ((cloud.serving.key_id, "local"), ("local", cloud.serving.secret)):
            stranger = boto3.session.Session(key, secret, region_name="us-east-1")
            with pytest.raises(ClientError) as caught:
                getattr(stranger.client(service, endpoint_url=cloud.endpoint), call)()
            assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 403
            assert ("`sweep local status`" in str(caught.value)) == (key == "local")


def test_a_role_that_is_assumed_here_has_a_key_of_its_own(cloud: LocalCloud, client: Callable[..., Any]) -> None:
    role = cloud.environment["SWEEP_ROLE"]
    given = client("sts").assume_role(RoleArn=role, RoleSessionName="someone")["Credentials"]
    session = boto3.session.Session(given["AccessKeyId"], given["SecretAccessKey"], given["SessionToken"])
    there = session.client("batch", region_name="us-east-1", endpoint_url=cloud.endpoint)
    assert there.describe_job_queues(jobQueues=["sweep"])["jobQueues"]


def test_the_key_is_for_its_owners_eyes(cloud: LocalCloud) -> None:
    assert stat.S_IMODE((cloud.home / "server.json").stat().st_mode) == 0o600
    assert stat.S_IMODE((cloud.home / "work").stat().st_mode) == 0o700
    assert cloud.serving.secret not in repr(cloud.serving)
