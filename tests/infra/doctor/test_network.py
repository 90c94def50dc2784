"""Launchers find a way to S3, and a dear one is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.infra.doctor import network
from tests.infra.doctor.account import REGION, states

if TYPE_CHECKING:
    from orchestrator.infra.doctor.subject import Subject


def test_launchers_need_a_way_out_and_a_nat_costs(subject: Subject) -> None:
    ec2 = subject.clients.client("ec2", REGION)
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
    (closed,) = network.ways_to_s3(subject, [subnet])
    assert (closed.state, "has no way out" in closed.message) == ("wrong", True)
    (table,) = ec2.describe_route_tables(Filters=[{"Name": "vpc-id", "Values": [vpc]}])["RouteTables"]
    address = ec2.allocate_address(Domain="vpc")["AllocationId"]
    nat = ec2.create_nat_gateway(SubnetId=subnet, AllocationId=address)["NatGateway"]["NatGatewayId"]
    ec2.create_route(RouteTableId=table["RouteTableId"], DestinationCidrBlock="0.0.0.0/0", NatGatewayId=nat)
    (dear,) = network.ways_to_s3(subject, [subnet])
    assert (dear.state, "$0.045" in dear.message) == ("warning", True)
    assert dear.mend.startswith(f"aws ec2 create-vpc-endpoint --vpc-id {vpc}")
    ec2.create_vpc_endpoint(VpcId=vpc, ServiceName=f"com.amazonaws.{REGION}.s3", RouteTableIds=[table["RouteTableId"]])
    assert states(network.ways_to_s3(subject, [subnet, "subnet-0123456789abcdef0"])) == {
        subnet: "ok",
        "subnet-0123456789abcdef0": "wrong",
    }
