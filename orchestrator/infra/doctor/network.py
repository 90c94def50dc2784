"""Do launchers find a way to S3 from their subnets, and what does it cost?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.aws.errors import aws_errors
from orchestrator.errors import InvalidRequest, NotFound
from orchestrator.infra.doctor.finding import Finding, Subject, ok, warning, wrong

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_NAT = "$0.045 an hour and for each GB, by the list price of us-east-1"


def ways_to_s3(subject: Subject, subnets: Sequence[str]) -> Iterator[Finding]:
    """Yield for each subnet how its launchers get to S3, and to the rest of AWS."""
    region = subject.names.region
    ec2 = subject.clients.client("ec2", region)
    for subnet in subnets:
        try:
            with aws_errors(f"look at the subnet {subnet}", where=region):
                (found,) = ec2.describe_subnets(SubnetIds=[subnet])["Subnets"]
        except (NotFound, InvalidRequest):
            mend = f"aws ec2 describe-subnets --region {region}"
            yield wrong("subnet", subnet, f"not there, in {region}", mend)
            continue
        yield _way(ec2, region, subnet, found["VpcId"])


def _way(ec2: Any, region: str, subnet: str, vpc: str) -> Finding:
    table = _route_table(ec2, region, subnet, vpc)
    with aws_errors(f"look at the endpoints of {vpc}", where=region):
        filters = [{"Name": "vpc-id", "Values": [vpc]}]
        endpoints = ec2.describe_vpc_endpoints(Filters=filters)["VpcEndpoints"]
    to_s3 = [
        each
        for each in endpoints
        if each["ServiceName"].endswith(".s3") and table.get("RouteTableId") in each.get("RouteTableIds", ())
    ]
    out: dict[str, Any] = next(
        (each for each in table.get("Routes", ()) if each.get("DestinationCidrBlock") == "0.0.0.0/0"), {}
    )
    endpoint = (
        f"aws ec2 create-vpc-endpoint --vpc-id {vpc} --service-name com.amazonaws.{region}.s3 "
        f"--route-table-ids {table.get('RouteTableId', '…')} --region {region}"
    )
    if not out:
        # S3 alone is not enough: launchers also ask the platform in every Region.
        gateway = f"aws ec2 describe-route-tables --filters Name=vpc-id,Values={vpc} --region {region}"
        return wrong("subnet", subnet, "has no way out: launchers cannot reach other Regions", gateway)
    if to_s3:
        return ok("subnet", subnet, "reaches S3 by a gateway endpoint")
    if out.get("NatGatewayId"):
        return warning("subnet", subnet, f"reaches S3 through a NAT: {_NAT}", endpoint)
    return ok("subnet", subnet, "reaches S3 through the internet gateway")


def _route_table(ec2: Any, region: str, subnet: str, vpc: str) -> dict[str, Any]:
    """Return the routes of a subnet: its own, or else the main ones of its network."""
    with aws_errors(f"look at the routes of {subnet}", where=region):
        tables = ec2.describe_route_tables(Filters=[{"Name": "vpc-id", "Values": [vpc]}])["RouteTables"]
    own = [table for table in tables if any(each.get("SubnetId") == subnet for each in table["Associations"])]
    main = [table for table in tables if any(each.get("Main") for each in table["Associations"])]
    return next(iter([*own, *main]), {})
