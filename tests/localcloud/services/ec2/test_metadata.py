"""What an instance is told, as UserGuide/instancedata-data-retrieval.html and its neighbours have it."""

from __future__ import annotations

import json
import re
import socket
import urllib.error
import urllib.request
from typing import TYPE_CHECKING

from orchestrator.localcloud.services.ec2.metadata.owner import is_ours
from orchestrator.localcloud.services.ec2.metadata.service import MetadataService, Told
from tests.localcloud.services.ec2.conftest import METADATA

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.localcloud.services.ec2.conftest import InstanceDesk


class Asking:
    """A metadata service without an instance, and whoever asks it."""

    def __init__(self, **options: object) -> None:
        self.now = 1000.0
        self.told: list[object] = []
        usual = {"HttpTokens": "required", "HttpEndpoint": "enabled", "HttpPutResponseHopLimit": 2}
        facts = {"/meta-data/instance-id": "i-1"}
        self.service = MetadataService(
            "127.0.0.1",
            Told(usual | options, facts.get, lambda order: str(self.told.append(order)), lambda: self.now),
        )

    def ask(self, path: str, method: str = "GET", **headers: str) -> tuple[int, str]:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(f"{self.service.url}{path}", headers=given, method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=30) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, ""

    def token(self, lasts: str = "60", **headers: str) -> tuple[int, str]:
        return self.ask("/latest/api/token", "PUT", X_aws_ec2_metadata_token_ttl_seconds=lasts, **headers)

    def look(self, **headers: str) -> tuple[int, str]:
        return self.ask("/latest/meta-data/instance-id", **headers)


def test_who_brings_no_token_is_not_answered_where_one_is_required() -> None:
    asking = Asking()
    assert asking.look() == (401, "")
    status, token = asking.token()
    assert status == 200
    assert asking.look(X_aws_ec2_metadata_token=token) == (200, "i-1")
    assert asking.look(X_aws_ec2_metadata_token="made-up") == (401, "")
    assert Asking().look(X_aws_ec2_metadata_token=token) == (401, "")
    open_to_all = Asking(HttpTokens="optional")
    assert open_to_all.look() == (200, "i-1")
    assert open_to_all.ask("/2021-03-23/meta-data/instance-id", Host="169.254.169.254") == (200, "i-1")
    assert open_to_all.ask("/meta-data/instance-id") == (404, "")
    assert "latest" in open_to_all.ask("/")[1].split()


def test_a_token_lasts_as_long_as_was_asked_for() -> None:
    asking = Asking()
    _, token = asking.token("60")
    asking.now += 59
    assert asking.look(X_aws_ec2_metadata_token=token)[0] == 200
    asking.now += 2
    assert asking.look(X_aws_ec2_metadata_token=token)[0] == 401
    assert [asking.token(lasts)[0] for lasts in ("", "0", "21601", "ten")] == [400] * 4
    assert asking.token("21600")[0] == 200


def test_no_token_goes_to_who_was_forwarded_or_led_here_by_another_name() -> None:
    assert Asking().token(X_Forwarded_For="10.0.0.1")[0] == 403
    assert Asking().token(Host="metadata.example")[0] == 403
    assert Asking(HttpEndpoint="disabled").token()[0] == 403


def test_the_answer_to_a_put_may_take_so_many_hops() -> None:
    """The hop limit is the time to live of the packets that bring a token."""
    asking = Asking(HttpPutResponseHopLimit=7)
    seen: dict[str, int] = {}
    real = socket.socket.setsockopt

    def spy(self: socket.socket, level: int, option: int, value: int) -> None:
        if (level, option) == (socket.IPPROTO_IP, socket.IP_TTL):
            seen["hops"] = value
        real(self, level, option, value)

    class Watched(socket.socket):
        setsockopt = spy  # type: ignore[assignment]

    before, socket.socket = socket.socket, Watched  # type: ignore[assignment,misc]
    try:
        asking.token()
    finally:
        socket.socket = before  # type: ignore[misc]
    assert seen == {"hops": 7}


def test_a_connection_of_ours_is_known_as_ours() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        with socket.create_connection(listener.getsockname()) as asking:
            connection, peer = listener.accept()
            with connection:
                assert is_ours(peer, listener.getsockname())
            assert not is_ours(("127.0.0.1", 1), listener.getsockname())
        assert asking.fileno() == -1


def test_an_instance_is_told_who_it_is(desk: InstanceDesk) -> None:
    paths = (
        *("instance-id", "ami-launch-index", "local-ipv4", "placement/region", "placement/availability-zone"),
        *("tags/instance", "tags/instance/Name", "iam/security-credentials/", "spot/instance-action"),
        *("events/recommendations/rebalance", "instance-life-cycle"),
    )
    asked = "\n".join(f"look meta-data/{path}" for path in paths)
    keys = "look meta-data/iam/security-credentials/node | tr -d '\\n'; echo"
    said = desk.run(f"{METADATA}{asked}\n{keys}\nlook user-data | head -1")
    (shown,) = desk.mine()
    found = dict(zip(paths, re.findall(r"(.*) (\d{3})$", said, re.MULTILINE), strict=False))
    assert found["instance-id"] == (shown["InstanceId"], "200")
    assert found["ami-launch-index"] == ("0", "200")
    assert found["placement/region"] == ("us-east-1", "200")
    assert found["placement/availability-zone"] == (shown["Placement"]["AvailabilityZone"], "200")
    assert found["tags/instance"] == ("Name", "200")
    assert found["tags/instance/Name"] == (desk.name, "200")
    assert found["iam/security-credentials/"] == ("node", "200")
    assert found["instance-life-cycle"] == ("on-demand", "200")
    assert [found[name][1] for name in ("spot/instance-action", "events/recommendations/rebalance")] == ["404", "404"]
    assert found["local-ipv4"][0].startswith("127.")
    assert "#!/bin/bash" in said
    given = json.loads(re.findall(r"^\{.*\}", said, re.MULTILINE)[0])
    assert check_keys(desk, given)


def check_keys(desk: InstanceDesk, given: Mapping[str, str]) -> bool:
    """Return whether keys are those of the role's session."""
    import boto3

    client = boto3.client(
        "sts",
        region_name=desk.region,
        endpoint_url=desk.ec2.meta.endpoint_url,
        aws_access_key_id=given["AccessKeyId"],
        aws_secret_access_key=given["SecretAccessKey"],
        aws_session_token=given["Token"],
    )
    return ":assumed-role/node/i-" in str(client.get_caller_identity()["Arn"])
