"""Do launchers find a way to S3 from their subnets, and what does it cost?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.aws.account.networks import way_out
from orchestrator.platforms.account.finding import Finding, ok, warning, wrong

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from orchestrator.infra.doctor.subject import Subject

_NAT = "$0.045 an hour and for each GB, by the list price of us-east-1"


def ways_to_s3(subject: Subject, subnets: Sequence[str]) -> Iterator[Finding]:
    """Yield for each subnet how its launchers get to S3, and to the rest of AWS."""
    for subnet in subnets:
        yield _way(subject, subnet)


def _way(subject: Subject, subnet: str) -> Finding:
    region = subject.names.region
    way = way_out(subject.clients, region, subnet)
    if way is None:
        return wrong("subnet", subnet, f"not there, in {region}", f"aws ec2 describe-subnets --region {region}")
    if not way.has_route:
        # S3 alone is not enough: launchers also ask the platform in every Region.
        look = f"aws ec2 describe-route-tables --filters Name=vpc-id,Values={way.vpc} --region {region}"
        return wrong("subnet", subnet, "has no way out: launchers cannot reach other Regions", look)
    if way.has_s3_endpoint:
        return ok("subnet", subnet, "reaches S3 by a gateway endpoint")
    if way.through_nat:
        endpoint = (
            f"aws ec2 create-vpc-endpoint --vpc-id {way.vpc} --service-name com.amazonaws.{region}.s3 "
            f"--route-table-ids {way.table} --region {region}"
        )
        return warning("subnet", subnet, f"reaches S3 through a NAT: {_NAT}", endpoint)
    return ok("subnet", subnet, "reaches S3 through the internet gateway")
