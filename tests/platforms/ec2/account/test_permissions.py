"""Whoever may submit may clean up after runs, and after runs only: under exactly the statements that are granted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.aws.session import Clients
from orchestrator.errors import AccessDenied
from orchestrator.localcloud import LocalCloud
from orchestrator.platforms.account.leftover import Leftover
from orchestrator.platforms.ec2.account.leftovers import GROUP, INTERFACE, VOLUME, leftovers, remove
from orchestrator.platforms.registry import make_operating
from tests.fixtures.cloud import client_of

if TYPE_CHECKING:
    from pathlib import Path

REGION = "us-east-1"


def become_submitter(cloud: LocalCloud, monkeypatch: pytest.MonkeyPatch) -> None:
    """Go on as a user who has what EC2's operating part grants to those who submit."""
    iam = client_of(cloud)("iam")
    granted = json.dumps(list(make_operating("ec2").permissions("submit")))
    granted = granted.replace("{account}", "*").replace("{buckets}", "*")
    policy = json.dumps({"Version": "2012-10-17", "Statement": json.loads(granted)})
    iam.create_user(UserName="ann")
    iam.put_user_policy(UserName="ann", PolicyName="submit", PolicyDocument=policy)
    key = iam.create_access_key(UserName="ann")["AccessKey"]
    given = {**cloud.environment, "AWS_ACCESS_KEY_ID": key["AccessKeyId"]}
    for name, value in {**given, "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"]}.items():
        monkeypatch.setenv(name, value)


def tagged(kind: str) -> dict[str, Any]:
    tags = {"sweep:run": "gone", "sweep:task": "1", "sweep:attempt": "1"}
    listed = [{"Key": key, "Value": value} for key, value in tags.items()]
    return {"TagSpecifications": [{"ResourceType": kind, "Tags": listed}]}


@pytest.mark.long
def test_who_submits_may_remove_what_runs_have_left_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with LocalCloud(tmp_path, regions=[REGION], iam=True) as cloud:
        ec2 = client_of(cloud)("ec2", REGION)
        subnet = ec2.describe_subnets(Filters=[{"Name": "default-for-az", "Values": ["true"]}])["Subnets"][0]
        zone = subnet["AvailabilityZone"]
        ec2.create_volume(AvailabilityZone=zone, Size=8, **tagged("volume"))
        ec2.create_network_interface(SubnetId=subnet["SubnetId"], **tagged("network-interface"))
        ec2.create_placement_group(GroupName="gone-1-1", Strategy="cluster", **tagged("placement-group"))
        theirs = ec2.create_volume(AvailabilityZone=zone, Size=8)["VolumeId"]
        become_submitter(cloud, monkeypatch)
        left = list(leftovers(Clients(), REGION))
        assert {one.kind for one in left} == {VOLUME, INTERFACE, GROUP}
        for one in left:
            remove(Clients(), one)
        assert list(leftovers(Clients(), REGION)) == []
        with pytest.raises(AccessDenied):
            remove(Clients(), Leftover(VOLUME, theirs, "ec2", REGION, "", "gone", 1, 1, ""))
