"""The types of AWS::EC2 that make up a network."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from orchestrator.localcloud.services.cloudformation.kinds.kind import Named, Properties

if TYPE_CHECKING:
    from orchestrator.localcloud.services.cloudformation.caller import Caller


class Network(Named, ABC):
    """A part of a network. Nothing of it is changed in place but its tags: each part is small, and made anew."""

    def update(self, caller: Caller, physical: str, wanted: Properties) -> None:
        if wanted.get("Tags"):
            caller.client("ec2").create_tags(Resources=[physical], Tags=wanted["Tags"])

    def delete(self, caller: Caller, physical: str) -> None:
        try:
            self.remove(caller.client("ec2"), physical)
        except ClientError as error:
            if "NotFound" not in error.response["Error"]["Code"]:
                raise

    @abstractmethod
    def remove(self, ec2: Any, physical: str) -> None:
        """Delete the part by EC2's own operation."""

    def tag(self, ec2: Any, physical: str, wanted: Properties) -> str:
        """Give a new part its tags, and return its physical id."""
        if wanted.get("Tags"):
            ec2.create_tags(Resources=[physical], Tags=wanted["Tags"])
        return physical


class Vpc(Network):
    properties = frozenset({"CidrBlock", "EnableDnsSupport", "EnableDnsHostnames", "Tags"})
    fixed = frozenset({"CidrBlock"})

    def create(self, caller: Caller, wanted: Properties) -> str:
        ec2 = caller.client("ec2")
        physical = str(ec2.create_vpc(CidrBlock=wanted["CidrBlock"])["Vpc"]["VpcId"])
        for name in ("EnableDnsSupport", "EnableDnsHostnames"):
            ec2.modify_vpc_attribute(VpcId=physical, **{name: {"Value": bool(wanted.get(name))}})
        return self.tag(ec2, physical, wanted)

    def read(self, caller: Caller, physical: str) -> Properties | None:
        ec2 = caller.client("ec2")
        found = _first(ec2.describe_vpcs, "Vpcs", VpcIds=[physical])
        if found is None:
            return None
        names = ("enableDnsSupport", "enableDnsHostnames")
        dns = {f"E{name[1:]}": ec2.describe_vpc_attribute(VpcId=physical, Attribute=name) for name in names}
        return {**found, **{name: answer[name]["Value"] for name, answer in dns.items()}}

    def remove(self, ec2: Any, physical: str) -> None:
        ec2.delete_vpc(VpcId=physical)


class Subnet(Network):
    properties = frozenset({"VpcId", "CidrBlock", "AvailabilityZone", "MapPublicIpOnLaunch", "Tags"})
    fixed = frozenset({"VpcId", "CidrBlock", "AvailabilityZone"})

    def create(self, caller: Caller, wanted: Properties) -> str:
        ec2 = caller.client("ec2")
        asked = {key: wanted[key] for key in self.fixed}
        physical = str(ec2.create_subnet(**asked)["Subnet"]["SubnetId"])
        public = bool(wanted.get("MapPublicIpOnLaunch"))
        ec2.modify_subnet_attribute(SubnetId=physical, MapPublicIpOnLaunch={"Value": public})
        return self.tag(ec2, physical, wanted)

    def read(self, caller: Caller, physical: str) -> Properties | None:
        return _first(caller.client("ec2").describe_subnets, "Subnets", SubnetIds=[physical])

    def remove(self, ec2: Any, physical: str) -> None:
        ec2.delete_subnet(SubnetId=physical)


class InternetGateway(Network):
    properties = frozenset({"Tags"})

    def create(self, caller: Caller, wanted: Properties) -> str:
        ec2 = caller.client("ec2")
        return self.tag(ec2, str(ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]), wanted)

    def read(self, caller: Caller, physical: str) -> Properties | None:
        ask = caller.client("ec2").describe_internet_gateways
        return _first(ask, "InternetGateways", InternetGatewayIds=[physical])

    def remove(self, ec2: Any, physical: str) -> None:
        ec2.delete_internet_gateway(InternetGatewayId=physical)


class GatewayAttachment(Network):
    properties = frozenset({"VpcId", "InternetGatewayId"})
    fixed = properties

    def create(self, caller: Caller, wanted: Properties) -> str:
        caller.client("ec2").attach_internet_gateway(**wanted)
        return f"{wanted['InternetGatewayId']}|{wanted['VpcId']}"

    def read(self, caller: Caller, physical: str) -> Properties | None:
        gateway, vpc = physical.split("|")
        ask = caller.client("ec2").describe_internet_gateways
        found = _first(ask, "InternetGateways", InternetGatewayIds=[gateway])
        attached = found is not None and any(each["VpcId"] == vpc for each in found["Attachments"])
        return {"InternetGatewayId": gateway, "VpcId": vpc} if attached else None

    def remove(self, ec2: Any, physical: str) -> None:
        gateway, vpc = physical.split("|")
        ec2.detach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)


class RouteTable(Network):
    properties = frozenset({"VpcId", "Tags"})
    fixed = frozenset({"VpcId"})

    def create(self, caller: Caller, wanted: Properties) -> str:
        ec2 = caller.client("ec2")
        return self.tag(ec2, str(ec2.create_route_table(VpcId=wanted["VpcId"])["RouteTable"]["RouteTableId"]), wanted)

    def read(self, caller: Caller, physical: str) -> Properties | None:
        return _first(caller.client("ec2").describe_route_tables, "RouteTables", RouteTableIds=[physical])

    def remove(self, ec2: Any, physical: str) -> None:
        ec2.delete_route_table(RouteTableId=physical)


class Route(Network):
    properties = frozenset({"RouteTableId", "DestinationCidrBlock", "GatewayId"})
    fixed = properties

    def create(self, caller: Caller, wanted: Properties) -> str:
        caller.client("ec2").create_route(**wanted)
        return f"{wanted['RouteTableId']}|{wanted['DestinationCidrBlock']}"

    def read(self, caller: Caller, physical: str) -> Properties | None:
        table, destination = physical.split("|")
        found = _first(caller.client("ec2").describe_route_tables, "RouteTables", RouteTableIds=[table])
        routes = [each for each in (found or {}).get("Routes", ()) if each.get("DestinationCidrBlock") == destination]
        return {"RouteTableId": table, **routes[0]} if routes else None

    def remove(self, ec2: Any, physical: str) -> None:
        table, destination = physical.split("|")
        ec2.delete_route(RouteTableId=table, DestinationCidrBlock=destination)


class RouteTableAssociation(Network):
    properties = frozenset({"SubnetId", "RouteTableId"})
    fixed = properties

    def create(self, caller: Caller, wanted: Properties) -> str:
        return str(caller.client("ec2").associate_route_table(**wanted)["AssociationId"])

    def read(self, caller: Caller, physical: str) -> Properties | None:
        tables = caller.client("ec2").describe_route_tables()["RouteTables"]
        every = (each for table in tables for each in table["Associations"])
        return next((each for each in every if each.get("RouteTableAssociationId") == physical), None)

    def remove(self, ec2: Any, physical: str) -> None:
        ec2.disassociate_route_table(AssociationId=physical)


class VpcEndpoint(Network):
    properties = frozenset({"VpcId", "ServiceName", "VpcEndpointType", "RouteTableIds"})
    fixed = properties

    def create(self, caller: Caller, wanted: Properties) -> str:
        return str(caller.client("ec2").create_vpc_endpoint(**wanted)["VpcEndpoint"]["VpcEndpointId"])

    def read(self, caller: Caller, physical: str) -> Properties | None:
        found = _first(caller.client("ec2").describe_vpc_endpoints, "VpcEndpoints", VpcEndpointIds=[physical])
        return None if found is None or found.get("State") == "deleted" else found

    def remove(self, ec2: Any, physical: str) -> None:
        ec2.delete_vpc_endpoints(VpcEndpointIds=[physical])


class SecurityGroup(Network):
    properties = frozenset({"GroupDescription", "VpcId", "SecurityGroupEgress", "Tags"})
    fixed = frozenset({"GroupDescription", "VpcId"})

    def create(self, caller: Caller, wanted: Properties) -> str:
        ec2, name = caller.client("ec2"), f"cloudformation-{wanted['VpcId']}"
        made = ec2.create_security_group(GroupName=name, Description=wanted["GroupDescription"], VpcId=wanted["VpcId"])
        physical = str(made["GroupId"])
        # A new group lets everything out. What the template says takes the place of that.
        ec2.revoke_security_group_egress(GroupId=physical, IpPermissions=[_permission("-1", "0.0.0.0/0")])
        for rule in wanted.get("SecurityGroupEgress", ()):
            allowed = [_permission(rule["IpProtocol"], rule["CidrIp"])]
            ec2.authorize_security_group_egress(GroupId=physical, IpPermissions=allowed)
        return self.tag(ec2, physical, wanted)

    def read(self, caller: Caller, physical: str) -> Properties | None:
        found = _first(caller.client("ec2").describe_security_groups, "SecurityGroups", GroupIds=[physical])
        if found is None:
            return None
        rules = [
            {"IpProtocol": rule["IpProtocol"], "CidrIp": each["CidrIp"]}
            for rule in found["IpPermissionsEgress"]
            for each in rule["IpRanges"]
        ]
        shown = {"GroupDescription": found["Description"], "SecurityGroupEgress": rules}
        return {**shown, "VpcId": found["VpcId"], "Tags": found.get("Tags", [])}

    def attribute(self, caller: Caller, physical: str, name: str) -> str:  # noqa: ARG002
        return {"GroupId": physical}[name]

    def remove(self, ec2: Any, physical: str) -> None:
        ec2.delete_security_group(GroupId=physical)


def _permission(protocol: str, to: str) -> dict[str, Any]:
    return {"IpProtocol": protocol, "IpRanges": [{"CidrIp": to}]}


def _first(ask: Any, member: str, **which: Any) -> dict[str, Any] | None:
    """Return the one resource that is asked for; None when there is none."""
    try:
        found = ask(**which)[member]
    except ClientError as error:
        if "NotFound" in error.response["Error"]["Code"]:
            return None
        raise
    return found[0] if found else None
