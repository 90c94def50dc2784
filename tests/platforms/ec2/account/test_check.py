"""Whatever instances would lack in a Region is found before any is launched, with the one command that mends it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.platforms.account.wanted import Wanted
from orchestrator.platforms.registry import make_operating
from tests.platforms.ec2.ec2_sweeps import REGION, ec2_sweep

if TYPE_CHECKING:
    from orchestrator.aws.session import Clients
    from orchestrator.platforms.account.finding import Finding

ROLE = "arn:aws:iam::123456789012:role/sweep-training"
TRUST = (
    '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, '
    '"Action": "sts:AssumeRole"}]}'
)


def found(clients: Clients, about: str, settings: dict[str, Any] | None = None, **more: Any) -> Finding:
    """Return the first thing that is found about something."""
    wanted = Wanted(REGION, settings or {}, ROLE, (), **more)
    return next(one for one in make_operating("ec2").check(clients, wanted) if one.about == about)


def subnet(clients: Clients, *, public: bool = False, gateway: bool = False) -> str:
    ec2 = clients.client("ec2", REGION)
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    made = str(ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"])
    if public:
        ec2.modify_subnet_attribute(SubnetId=made, MapPublicIpOnLaunch={"Value": True})
    if gateway:
        (table,) = ec2.describe_route_tables(Filters=[{"Name": "vpc-id", "Values": [vpc]}])["RouteTables"]
        out = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
        ec2.attach_internet_gateway(InternetGatewayId=out, VpcId=vpc)
        ec2.create_route(RouteTableId=table["RouteTableId"], DestinationCidrBlock="0.0.0.0/0", GatewayId=out)
    return made


def network(name: str, *groups: str) -> dict[str, Any]:
    return {"network": {REGION: {"subnets": [name], "security_groups": list(groups)}}}


def test_a_profile_is_there_with_the_role_of_trainings_or_what_is_wrong_is_told(clients: Clients) -> None:
    iam = clients.client("iam", REGION)
    lacking = found(clients, "instance profile")
    assert (lacking.state, lacking.where, lacking.mend) == ("wrong", "sweep-training", "sweep infra deploy")
    iam.create_instance_profile(InstanceProfileName="sweep-training")
    assert "has no role" in found(clients, "instance profile").message
    iam.create_role(RoleName="sweep-training", AssumeRolePolicyDocument=TRUST)
    iam.add_role_to_instance_profile(InstanceProfileName="sweep-training", RoleName="sweep-training")
    assert found(clients, "instance profile").message == "gives sweep-training"
    other = TRUST.replace("ec2.", "sagemaker.")
    iam.update_assume_role_policy(RoleName="sweep-training", PolicyDocument=other)
    shut = found(clients, "instance profile")
    assert (shut.state, shut.mend) == ("wrong", "sweep infra deploy")
    assert "does not let EC2 take it on" in shut.message


def test_a_region_without_a_default_vpc_is_told(clients: Clients) -> None:
    ec2 = clients.client("ec2", REGION)
    assert found(clients, "subnet").message == "the default VPC has one in eu-west-1a, eu-west-1b, eu-west-1c"
    for one in ec2.describe_subnets()["Subnets"]:
        ec2.delete_subnet(SubnetId=one["SubnetId"])
    lacking = found(clients, "subnet")
    assert (lacking.state, lacking.message) == ("wrong", "there is no default VPC")
    assert f"write `network: {{{REGION}:" in lacking.mend


@pytest.mark.parametrize(
    ("public", "gateway", "state", "says"),
    [
        (True, True, "ok", "reaches S3"),
        (False, True, "wrong", "instances get no public address"),
        (True, False, "wrong", "has no way to S3"),
    ],
)
def test_a_subnet_is_told_whose_instances_cannot_reach_s3(
    clients: Clients, *, public: bool, gateway: bool, state: str, says: str
) -> None:
    name = subnet(clients, public=public, gateway=gateway)
    one = found(clients, "subnet", network(name))
    assert (one.where, one.state, says in one.message) == (name, state, True)


def test_a_subnet_that_is_gone_is_told(clients: Clients) -> None:
    one = found(clients, "subnet", network("subnet-0123456789abcdef0"))
    assert (one.state, "subnet-0123456789abcdef0" in one.message) == ("wrong", True)


def test_a_group_that_shuts_out_the_others_is_told_where_several_instances_train(clients: Clients) -> None:
    ec2 = clients.client("ec2", REGION)
    name = subnet(clients)
    vpc = ec2.describe_subnets(SubnetIds=[name])["Subnets"][0]["VpcId"]
    group = ec2.create_security_group(GroupName="shut", Description="x", VpcId=vpc)["GroupId"]
    several = ec2_sweep({"instances": 2})
    assert found(clients, "security group", network(name, group)).state == "ok"
    lacking = found(clients, "security group", network(name, group), sweep=several)
    assert "does not let itself in" in lacking.message
    pair = {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}
    ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=[pair])
    assert found(clients, "security group", network(name, group), sweep=several).state == "ok"


def test_an_image_that_is_gone_is_told(clients: Clients) -> None:
    gone = found(clients, "image", {"ami": "ami-0123456789abcdef0"})
    assert (gone.state, gone.message) == ("wrong", "there is no image ami-0123456789abcdef0")
    assert found(clients, "image", {"ami": "ami-12c6146b"}).state == "ok"  # one of moto's own


def test_a_region_that_the_settings_leave_out_is_no_fault(clients: Clients) -> None:
    settings = {"network": {"us-east-1": {"subnets": ["subnet-0123456789abcdef0"]}}}
    assert found(clients, "ec2", settings).state == "warning"
