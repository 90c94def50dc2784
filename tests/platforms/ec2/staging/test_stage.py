"""What a launch would lack is found when a plan is submitted, in one line, before anything is written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from orchestrator.aws.session import Clients
from orchestrator.errors import NotFound
from orchestrator.platforms.ec2.staging.stage import stage
from orchestrator.platforms.registry import make_planning
from orchestrator.wire.task import Lane, Purchase
from tests.platforms.ec2.ec2_sweeps import REGION
from tests.platforms.sweeps import staging, sweep

if TYPE_CHECKING:
    from collections.abc import Iterator

ROLE = "arn:aws:iam::123456789012:role/sweep-training"
AMI = "ami-03cf127a"
"""One of those that moto has in every Region."""
LANE = Lane("ec2", REGION, "c5.xlarge", Purchase.SPOT)


@pytest.fixture(scope="module")
def account() -> Iterator[Clients]:
    """An account in which all is there: a default VPC, an instance profile, and an image."""
    keys = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}
    with pytest.MonkeyPatch.context() as patch, mock_aws():
        for name, value in keys.items():
            patch.setenv(name, value)
        for name in ("AWS_ENDPOINT_URL", "AWS_PROFILE"):
            patch.delenv(name, raising=False)
        yield prepared(Clients())


def prepared(clients: Clients) -> Clients:
    iam = clients.client("iam", REGION)
    allow = {"Effect": "Allow", "Principal": {"Service": ["sagemaker.amazonaws.com", "ec2.amazonaws.com"]}}
    trust = json.dumps({"Version": "2012-10-17", "Statement": [{**allow, "Action": "sts:AssumeRole"}]})
    iam.create_role(RoleName="sweep-training", AssumeRolePolicyDocument=trust)
    iam.create_instance_profile(InstanceProfileName="sweep-training")
    iam.add_role_to_instance_profile(InstanceProfileName="sweep-training", RoleName="sweep-training")
    return clients


def staged(clients: Clients, region: str = REGION, **ec2: Any) -> dict[str, Any]:
    """Return what EC2's part of a Region's template is, where the settings say this."""
    asked = sweep({"image": None}, {"instance_types": ["c5.xlarge"], "platforms": ["ec2"]})
    planning = make_planning("ec2", {"ami": AMI, **ec2})
    given = staging(asked, role=ROLE, region=region, lanes=(LANE,))
    return dict(planning.stage(given, clients).body["ec2"])


def vpc_with_subnet(clients: Clients) -> tuple[str, str]:
    ec2 = clients.client("ec2", REGION)
    vpc = str(ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"])
    made = ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24", AvailabilityZone=f"{REGION}b")
    return vpc, str(made["Subnet"]["SubnetId"])


def group_in(clients: Clients, vpc: str) -> str:
    made = clients.client("ec2", REGION).create_security_group(GroupName="g", Description="g", VpcId=vpc)
    return str(made["GroupId"])


def refusal(clients: Clients, region: str = REGION, **ec2: Any) -> NotFound:
    with pytest.raises(NotFound) as caught:
        staged(clients, region, **ec2)
    assert caught.value.where == region
    assert "\n" not in str(caught.value)
    return caught.value


def test_a_region_where_all_is_there_is_staged_with_its_zones(account: Clients) -> None:
    made = staged(account)
    assert set(made["subnets"].values()) == {f"{REGION}a", f"{REGION}b", f"{REGION}c"}
    assert set(made["offered"]["c5.xlarge"]) == {f"{REGION}a", f"{REGION}b", f"{REGION}c"}
    assert made["profile"] == {"Name": "sweep-training"}


def test_an_instance_profile_that_is_not_there(account: Clients) -> None:
    found = refusal(account, instance_profile="trainings-of-ours")
    assert found.message == "there is no instance profile trainings-of-ours"
    assert found.hint is not None
    assert "platforms.ec2.instance_profile" in found.hint
    arn = "arn:aws:iam::123456789012:instance-profile/teams/gone"
    assert refusal(account, instance_profile=arn).message == "there is no instance profile gone"


def test_a_profile_whose_role_is_missing_or_is_not_for_ec2(account: Clients) -> None:
    iam = account.client("iam", REGION)
    iam.create_instance_profile(InstanceProfileName="empty")
    assert refusal(account, instance_profile="empty").message == (
        "the instance profile empty has no role: its instances may do nothing"
    )
    iam.create_role(RoleName="of-batch", AssumeRolePolicyDocument='{"Version": "2012-10-17", "Statement": []}')
    iam.add_role_to_instance_profile(InstanceProfileName="empty", RoleName="of-batch")
    assert refusal(account, instance_profile="empty").message == (
        "the instance profile empty has the role of-batch, which does not let EC2 take it on"
    )


def test_a_subnet_that_is_gone(account: Clients) -> None:
    found = refusal(account, network={REGION: {"subnets": ["subnet-0123456789abcdef0"]}})
    assert "subnet-0123456789abcdef0" in found.message
    assert found.hint == f"name one that is there under platforms.ec2.network.{REGION}.subnets"


def test_a_region_without_a_default_vpc(account: Clients) -> None:
    ec2 = account.client("ec2", "us-west-1")
    for one in ec2.describe_subnets()["Subnets"]:
        ec2.delete_subnet(SubnetId=one["SubnetId"])
    found = refusal(account, "us-west-1")
    assert found.message == "there is no default VPC"
    assert found.hint == "write `network: {us-west-1: {subnets: [...]}}` under platforms.ec2"


def test_a_security_group_that_is_gone_or_lies_in_another_vpc(account: Clients) -> None:
    vpc, subnet = vpc_with_subnet(account)
    gone = {"subnets": [subnet], "security_groups": ["sg-0123456789abcdef0"]}
    assert "sg-0123456789abcdef0" in refusal(account, network={REGION: gone}).message
    other, _ = vpc_with_subnet(account)
    elsewhere = group_in(account, other)
    found = refusal(account, network={REGION: {"subnets": [subnet], "security_groups": [elsewhere]}})
    assert found.message == f"the security group {elsewhere} lies in {other}, the subnets in {vpc}"
    ours = group_in(account, vpc)
    assert staged(account, network={REGION: {"subnets": [subnet], "security_groups": [ours]}})["groups"] == [ours]


def test_subnets_of_two_vpcs(account: Clients) -> None:
    subnets = [vpc_with_subnet(account)[1], vpc_with_subnet(account)[1]]
    assert "the subnets lie in several VPCs" in refusal(account, network={REGION: {"subnets": subnets}}).message


def test_a_key_pair_that_is_not_there(account: Clients) -> None:
    assert refusal(account, key_name="ada").message == "there is no key pair ada"
    account.client("ec2", REGION).create_key_pair(KeyName="ada")
    assert staged(account, key_name="ada")["key_name"] == "ada"


def test_a_type_that_no_zone_of_the_subnets_offers(account: Clients, monkeypatch: pytest.MonkeyPatch) -> None:
    _, subnet = vpc_with_subnet(account)
    network = {REGION: {"subnets": [subnet]}}
    offers = {"c5.xlarge": [f"{REGION}a", f"{REGION}c"]}
    monkeypatch.setattr(f"{stage.__module__}.find_offers", lambda *_: offers)
    found = refusal(account, network=network)
    assert found.message == f"c5.xlarge is offered in {REGION}a, {REGION}c only, and no subnet is there"
    assert found.hint == "name one under platforms.ec2.network, and plan again"
    offers["c5.xlarge"] = []
    assert refusal(account, network=network).message == (
        "c5.xlarge is offered nowhere in this Region, and no subnet is there"
    )


def test_who_may_not_look_at_profiles_submits_all_the_same(account: Clients, monkeypatch: pytest.MonkeyPatch) -> None:
    def deny(**_: object) -> None:
        raise ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "GetInstanceProfile")

    monkeypatch.setattr(account.client("iam", REGION), "get_instance_profile", deny)
    assert staged(account, instance_profile="unknown")["profile"] == {"Name": "unknown"}
