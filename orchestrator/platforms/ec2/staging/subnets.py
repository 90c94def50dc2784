"""The subnets that instances may be launched into: those that are named, or the default VPC's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orchestrator.aws.errors import aws_code, aws_errors
from orchestrator.errors import InvalidRequest, NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.aws.session import Clients


@dataclass(frozen=True)
class Subnet:
    """A subnet, and where it lies."""

    id: str
    zone: str
    vpc: str


def find_subnets(names: Sequence[str], region: str, clients: Clients) -> list[Subnet]:
    """Return subnets: those that are named, or the default VPC's. NotFound if there are none, or one is not there."""
    wanted: dict[str, Any] = (
        {"SubnetIds": list(names)} if names else {"Filters": [{"Name": "default-for-az", "Values": ["true"]}]}
    )
    try:
        with aws_errors("look at the subnets", where=region):
            found = clients.client("ec2", region).describe_subnets(**wanted)["Subnets"]
    except InvalidRequest as error:
        if not aws_code(error).startswith("InvalidSubnetID"):
            raise
        hint = f"name one that is there under platforms.ec2.network.{region}.subnets"
        raise NotFound(error.message, where=region, hint=hint) from error
    if not found:
        hint = "write `network: {%s: {subnets: [...]}}` under platforms.ec2" % region  # noqa: UP031
        raise NotFound("there is no default VPC", where=region, hint=hint)
    return [Subnet(one["SubnetId"], one["AvailabilityZone"], one["VpcId"]) for one in found]
