"""Nothing of an instance is left when its cloud ends, however that ends; and roles are held to their policies."""

from __future__ import annotations

import json
import os
import signal
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.localcloud import LocalCloud, down, up
from tests.fixtures.cloud import client_of
from tests.localcloud.conftest import eventually
from tests.localcloud.services.ec2.conftest import InstanceDesk, refused
from tests.localcloud.test_cloud import living

if TYPE_CHECKING:
    from pathlib import Path

HOLDS_ON = "#!/bin/bash\ntrap '' TERM\nsetsid sh -c 'trap \"\" TERM; echo ready; sleep 600' &\nsleep 600\n"
"""A script that ignores SIGTERM, and has a child that left its session."""


def as_cloud(endpoint: str, key: str, secret: str) -> Any:
    """Return what `client_of` reads of a cloud."""
    return SimpleNamespace(endpoint=endpoint, environment={"AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret})


@pytest.mark.long
def test_a_cloud_that_ends_takes_its_instances_with_it(tmp_path: Path) -> None:
    with LocalCloud(tmp_path, regions=["us-east-1"]) as cloud:
        desk = InstanceDesk(client_of(cloud), "ends")
        desk.says(desk.start(HOLDS_ON), "ready")
        assert len(living(tmp_path)) >= 3
    assert living(tmp_path) == []
    assert not (tmp_path / "work").exists()


@pytest.mark.long
def test_a_cloud_that_is_killed_leaves_no_instance(tmp_path: Path) -> None:
    serving = up(tmp_path, regions=["us-east-1"])
    desk = InstanceDesk(client_of(as_cloud(serving.endpoint, serving.key_id, serving.secret)), "killed")
    desk.says(desk.start(HOLDS_ON), "ready")
    os.kill(serving.pid, signal.SIGKILL)
    eventually(lambda: living(tmp_path) == [])
    down(tmp_path)


def allow(*statements: dict[str, Any]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", **each} for each in statements]})


@pytest.mark.long
def test_an_instance_may_do_what_its_role_may_and_a_user_hand_over_what_it_may(tmp_path: Path) -> None:
    with LocalCloud(tmp_path, regions=["us-east-1"], iam=True) as cloud:
        make = client_of(cloud)
        desk = InstanceDesk(make, "bounded")
        mine = "arn:aws:s3:::sweep-local/mine/*"
        make("iam").put_role_policy(
            RoleName="node", PolicyName="s3", PolicyDocument=allow({"Action": "s3:PutObject", "Resource": mine})
        )
        program = (
            "import boto3; s3 = boto3.client('s3', region_name='us-east-1'); "
            "s3.put_object(Bucket='sweep-local', Key='mine/a', Body=b'x'); print('written'); "
            "s3.put_object(Bucket='sweep-local', Key='theirs/a', Body=b'x')"
        )
        said = desk.run(f'#!/bin/sh\npython3 -c "{program}"')
        assert "written" in said
        assert "AccessDenied" in said
        assert "assumed-role/node/i-" in said
        make("iam").create_user(UserName="ann")
        launching = {"Action": ["ec2:RunInstances", "ec2:CreateTags"], "Resource": "*"}
        make("iam").put_user_policy(UserName="ann", PolicyName="run", PolicyDocument=allow(launching))
        key = make("iam").create_access_key(UserName="ann")["AccessKey"]
        ann = client_of(as_cloud(cloud.endpoint, key["AccessKeyId"], key["SecretAccessKey"]))("ec2")
        assert refused(ann.run_instances, **desk.request()) == "UnauthorizedOperation"
        request = desk.request()
        del request["IamInstanceProfile"]
        assert len(ann.run_instances(**request)["Instances"]) == 1
        role = make("iam").get_role(RoleName="node")["Role"]["Arn"]
        passing = {
            "Action": "iam:PassRole",
            "Resource": role,
            "Condition": {"StringEquals": {"iam:PassedToService": "ec2.amazonaws.com"}},
        }
        make("iam").put_user_policy(UserName="ann", PolicyName="pass", PolicyDocument=allow(passing))
        assert len(ann.run_instances(**desk.request())["Instances"]) == 1
        assert refused(ann.describe_instances) == "UnauthorizedOperation"
