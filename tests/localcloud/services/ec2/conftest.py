"""Helpers of these tests: they launch instances, wait for a state, read what the user data printed."""

from __future__ import annotations

import contextlib
import json
import time
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from tests.localcloud.conftest import eventually

if TYPE_CHECKING:
    from collections.abc import Callable


DLAMI = "/aws/service/deeplearning/ami/x86_64/oss-nvidia-driver-gpu-pytorch-2.7-ubuntu-22.04/latest/ami-id"
TRUST = {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}
STAYS = "#!/bin/sh\necho ready\nsleep 600\n"
METADATA = """#!/bin/bash
base=$AWS_EC2_METADATA_SERVICE_ENDPOINT/latest
token=$(curl -sf -X PUT "$base/api/token" -H "X-aws-ec2-metadata-token-ttl-seconds: 60")
look() { curl -s -o /dev/stdout -w ' %{http_code}\\n' -H "X-aws-ec2-metadata-token: $token" "$base/$1"; }
"""
"""The beginning of a script that asks its metadata service: `look meta-data/instance-id`."""


@cache
def given(make: Callable[..., Any], region: str) -> str:
    """Make a profile `node` in a cloud, unless it is there, and return an image of a Region: both once."""
    iam = make("iam")
    with contextlib.suppress(iam.exceptions.EntityAlreadyExistsException):
        trust = json.dumps({"Version": "2012-10-17", "Statement": [TRUST]})
        iam.create_role(RoleName="node", AssumeRolePolicyDocument=trust)
        iam.create_instance_profile(InstanceProfileName="node")
        iam.add_role_to_instance_profile(InstanceProfileName="node", RoleName="node")
    return str(make("ssm", region).get_parameter(Name=DLAMI)["Parameter"]["Value"])


class InstanceDesk:
    """A Region's EC2, with an instance profile and a name that no other test uses."""

    def __init__(self, make: Callable[..., Any], name: str, region: str = "us-east-1") -> None:
        self.ec2 = make("ec2", region)
        self.s3 = make("s3", region)
        self.region = region
        self.name = name
        self.image = given(make, region)

    def request(self, script: str = STAYS, count: int = 1, **more: Any) -> dict[str, Any]:
        """Return the request of instances that terminate when they shut down."""
        tagged = ("instance", "volume", "network-interface")
        return {
            "ImageId": self.image,
            "InstanceType": "c5.large",
            "MinCount": count,
            "MaxCount": count,
            "UserData": script,
            "IamInstanceProfile": {"Name": "node"},
            "InstanceInitiatedShutdownBehavior": "terminate",
            "MetadataOptions": {"HttpTokens": "required", "InstanceMetadataTags": "enabled"},
            "TagSpecifications": [
                {"ResourceType": kind, "Tags": [{"Key": "Name", "Value": self.name}]} for kind in tagged
            ],
            **more,
        }

    def launch(self, script: str = STAYS, count: int = 1, **more: Any) -> list[dict[str, Any]]:
        """Launch instances, and return them as RunInstances shows them."""
        launched: list[dict[str, Any]] = self.send(**self.request(script, count, **more))["Instances"]
        return launched

    def send(self, **request: Any) -> dict[str, Any]:
        """Send a RunInstances, again while there are too many, and return its answer."""
        while True:
            try:
                answer: dict[str, Any] = self.ec2.run_instances(**request)
            except ClientError as error:
                if error.response["Error"]["Code"] != "RequestLimitExceeded":
                    raise
                time.sleep(0.1)
            else:
                return answer

    def start(self, script: str = STAYS, **more: Any) -> str:
        """Launch one instance, and return its id once it runs."""
        name = str(self.launch(script, **more)[0]["InstanceId"])
        self.in_state("running", name)
        return name

    def mine(self) -> list[dict[str, Any]]:
        """Return this test's instances that calls find by now."""
        named = [{"Name": "tag:Name", "Values": [self.name]}]
        found = self.ec2.describe_instances(Filters=named)["Reservations"]
        return [each for reservation in found for each in reservation["Instances"]]

    def instance(self, name: str) -> dict[str, Any] | None:
        return next((each for each in self.mine() if each["InstanceId"] == name), None)

    def in_state(self, state: str, name: str) -> dict[str, Any]:
        """Wait until an instance is in a state, and return it."""

        def look() -> dict[str, Any] | None:
            found = self.instance(name)
            return found if found and found["State"]["Name"] == state else None

        found: dict[str, Any] = eventually(look)
        return found

    def run(self, script: str, **more: Any) -> str:
        """Launch an instance whose script ends with a shutdown, wait for its end, and return what it printed."""
        name = str(self.launch(f"{script}\nshutdown -h now\n", **more)[0]["InstanceId"])
        self.in_state("terminated", name)
        return self.console(name)

    def console(self, name: str) -> str:
        return str(self.ec2.get_console_output(InstanceId=name)["Output"])

    def says(self, name: str, text: str) -> None:
        """Wait until an instance has printed a text."""
        eventually(lambda: self.instance(name) and text in self.console(name))

    def end(self) -> None:
        """Terminate all instances of this test."""
        names = [each["InstanceId"] for each in self.mine() if each["State"]["Name"] != "terminated"]
        if names:
            self.ec2.terminate_instances(InstanceIds=names)

    def refused(self, **changes: Any) -> str:
        """Return the code of RunInstances' refusal of a request with these changes; None takes a parameter away."""
        request = {name: value for name, value in (self.request() | changes).items() if value is not None}
        return refused(self.ec2.run_instances, **request)


def refused(call: Callable[..., Any], **arguments: Any) -> str:
    """Return the code of the refusal of a call. Whoever asks too often is told so first, and asks again."""
    while True:
        with pytest.raises(ClientError) as caught:
            call(**arguments)
        code = str(caught.value.response["Error"]["Code"])
        if code != "RequestLimitExceeded":
            return code
        time.sleep(0.1)


@pytest.fixture
def desk(client: Callable[..., Any], name: str) -> Any:
    found = InstanceDesk(client, name)
    yield found
    found.end()
