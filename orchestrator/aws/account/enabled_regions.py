"""Which Regions may the account use?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.aws.errors import aws_errors

if TYPE_CHECKING:
    from orchestrator.aws.session import Clients


def enabled_regions(clients: Clients, region: str) -> frozenset[str]:
    """Return the Regions that are enabled in this account, as EC2 in one of them says.

    Raise AccessDenied if we may not ask.
    """
    with aws_errors("ask which Regions are enabled", where=region):
        found = clients.client("ec2", region).describe_regions()["Regions"]
    return frozenset(str(one["RegionName"]) for one in found)
