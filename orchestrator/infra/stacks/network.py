"""A network for launchers, where none is given: two public subnets, and S3 without a detour. By itself it is free.

Launchers get public addresses, and no connection reaches them from outside.
"""

from __future__ import annotations

from typing import Any

SUBNETS: list[Any] = [{"Ref": "SubnetA"}, {"Ref": "SubnetB"}]
SECURITY_GROUPS: list[Any] = [{"Fn::GetAtt": ["SecurityGroup", "GroupId"]}]
WAY_OUT = ["RouteOut", "RoutesA", "RoutesB"]
"""What must be there before anything in the subnets gets out."""
_RANGE = "10.96.0.0/22"


def resources() -> dict[str, Any]:
    """Return the resources of the network, by their names in the template."""
    vpc, table = {"Ref": "Network"}, {"Ref": "Routes"}
    tags = [{"Key": "Name", "Value": "sweep"}]
    return {
        "Network": {
            "Type": "AWS::EC2::VPC",
            "Properties": {"CidrBlock": _RANGE, "EnableDnsSupport": True, "EnableDnsHostnames": True, "Tags": tags},
        },
        "SubnetA": _subnet(vpc, tags, 0),
        "SubnetB": _subnet(vpc, tags, 1),
        "Gateway": {"Type": "AWS::EC2::InternetGateway", "Properties": {"Tags": tags}},
        "GatewayOfNetwork": {
            "Type": "AWS::EC2::VPCGatewayAttachment",
            "Properties": {"VpcId": vpc, "InternetGatewayId": {"Ref": "Gateway"}},
        },
        "Routes": {"Type": "AWS::EC2::RouteTable", "Properties": {"VpcId": vpc, "Tags": tags}},
        "RouteOut": {
            "Type": "AWS::EC2::Route",
            "DependsOn": ["GatewayOfNetwork"],
            "Properties": {
                "RouteTableId": table,
                "DestinationCidrBlock": "0.0.0.0/0",
                "GatewayId": {"Ref": "Gateway"},
            },
        },
        "RoutesA": _association("SubnetA", table),
        "RoutesB": _association("SubnetB", table),
        "WayToS3": {
            "Type": "AWS::EC2::VPCEndpoint",
            "Properties": {
                "VpcId": vpc,
                "ServiceName": "com.amazonaws.${AWS::Region}.s3",
                "VpcEndpointType": "Gateway",
                "RouteTableIds": [table],
            },
        },
        "SecurityGroup": {
            "Type": "AWS::EC2::SecurityGroup",
            "Properties": {
                "GroupDescription": "Launchers of sweep: nothing comes in",
                "VpcId": vpc,
                "SecurityGroupEgress": [{"IpProtocol": "-1", "CidrIp": "0.0.0.0/0"}],
                "Tags": tags,
            },
        },
    }


def _subnet(vpc: Any, tags: list[dict[str, str]], number: int) -> dict[str, Any]:
    properties = {
        "VpcId": vpc,
        "CidrBlock": f"10.96.{number}.0/24",
        "AvailabilityZone": {"Fn::Select": [number, {"Fn::GetAZs": ""}]},
        "MapPublicIpOnLaunch": True,
        "Tags": tags,
    }
    return {"Type": "AWS::EC2::Subnet", "Properties": properties}


def _association(subnet: str, table: Any) -> dict[str, Any]:
    properties = {"SubnetId": {"Ref": subnet}, "RouteTableId": table}
    return {"Type": "AWS::EC2::SubnetRouteTableAssociation", "Properties": properties}
