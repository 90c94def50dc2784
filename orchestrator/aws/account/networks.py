"""The networks of this account in one Region: how does traffic of a subnet get out?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orchestrator.aws.errors import aws_errors
from orchestrator.errors import InvalidRequest, NotFound

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.aws.session import Clients


@dataclass(frozen=True)
class WayOut:
    """The way of a subnet's traffic."""

    vpc: str
    table: str
    """The route table that holds for the subnet; empty if there is none."""
    has_route: bool
    """True if it has a route to everywhere."""
    through_nat: bool
    has_s3_endpoint: bool
    """True if S3 is reached by a gateway endpoint, which costs nothing."""


def way_out(clients: Clients, region: str, subnet: str) -> WayOut | None:
    """Return the way out of a subnet; None if there is no such subnet."""
    ec2 = clients.client("ec2", region)
    try:
        with aws_errors(f"look at the subnet {subnet}", where=region):
            (found,) = ec2.describe_subnets(SubnetIds=[subnet])["Subnets"]
    except (NotFound, InvalidRequest):
        return None
    vpc = found["VpcId"]
    filters = [{"Name": "vpc-id", "Values": [vpc]}]
    with aws_errors(f"look at the routes of {subnet}", where=region):
        tables = ec2.describe_route_tables(Filters=filters)["RouteTables"]
        endpoints = ec2.describe_vpc_endpoints(Filters=filters)["VpcEndpoints"]
    table = _table_of(subnet, tables)
    number = table.get("RouteTableId", "")
    routes = [each for each in table.get("Routes", ()) if each.get("DestinationCidrBlock") == "0.0.0.0/0"]
    gateways = [each for each in endpoints if each["ServiceName"].endswith(".s3")]
    return WayOut(
        vpc,
        number,
        has_route=bool(routes),
        through_nat=any(each.get("NatGatewayId") for each in routes),
        has_s3_endpoint=any(number in each.get("RouteTableIds", ()) for each in gateways),
    )


def _table_of(subnet: str, tables: list[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the route table of a subnet: its own, or else the main one of its network."""
    own = [table for table in tables if any(each.get("SubnetId") == subnet for each in table["Associations"])]
    main = [table for table in tables if any(each.get("Main") for each in table["Associations"])]
    return next(iter([*own, *main]), {})
