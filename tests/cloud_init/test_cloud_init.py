"""User data does under the real cloud-init, at the real address of EC2's metadata, what it does without."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.localcloud.services.ec2.conftest import InstanceDesk

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.localcloud import LocalCloud

ROOT = Path(__file__).parents[2]
PACKAGES = ROOT / ".cloud-init" / "root"
MACHINE = Path(__file__).with_name("machine.py")


def why_not() -> str:
    if not (PACKAGES / "usr/bin/cloud-init").exists():
        return "Debian's cloud-init is not here: `make cloud-init` gets it"
    if os.geteuid() != 0:
        return "only root can boot a container with an overlay of this machine"
    return ""


pytestmark = [pytest.mark.long, pytest.mark.skipif(bool(why_not()), reason=why_not())]


def booted(script: str, endpoint: str) -> str:
    """Return user data that becomes a container first, and is run in it by cloud-init."""
    shebang, _, rest = script.partition("\n")
    outside = f'[ -z "$AWS_EC2_METADATA_SERVICE_ENDPOINT" ] || exec /usr/bin/python3 {MACHINE} {PACKAGES}'
    return f"{shebang}\n{outside}\nexport AWS_ENDPOINT_URL={endpoint}\n{rest}"


@pytest.fixture
def desk(client: Callable[..., Any], name: str) -> Any:
    found = InstanceDesk(client, name)
    yield found
    found.end()


def test_a_script_asks_the_real_address_and_ends_its_instance(desk: InstanceDesk, cloud: LocalCloud) -> None:
    key = f"{desk.name}/written"
    write = (
        "import boto3; boto3.client('s3', region_name='us-east-1')"
        f".put_object(Bucket='sweep-local-us-east-1', Key='{key}', Body=b'by an instance')"
    )
    script = f"""#!/bin/bash
base=http://169.254.169.254/latest
token=$(curl -sf -X PUT "$base/api/token" -H "X-aws-ec2-metadata-token-ttl-seconds: 60")
echo "I am $(curl -sf -H "X-aws-ec2-metadata-token: $token" "$base/meta-data/instance-id"), in $(pwd), $0"
env | grep -q AWS_EC2_METADATA && echo told
{sys.executable} -c "{write}"
systemd-run --on-active=1h shutdown -h now
/sbin/shutdown -h now
sleep 600
"""
    (launched,) = desk.launch(booted(script, cloud.endpoint))
    ended = desk.in_state("terminated", launched["InstanceId"])
    said = desk.console(launched["InstanceId"])
    assert ended["StateReason"]["Code"] == "Client.InstanceInitiatedShutdown", said
    assert desk.s3.get_object(Bucket="sweep-local-us-east-1", Key=key)["Body"].read() == b"by an instance"
    assert f"I am {launched['InstanceId']}, in /, /var/lib/cloud/instance/scripts/part-001" in said
    assert "told" not in said.splitlines()
