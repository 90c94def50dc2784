"""EC2's spot market: how its prices have changed."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.aws.answers import understood
from orchestrator.aws.errors import aws_errors

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from orchestrator.aws.session import Clients

PRODUCTS = ("Linux/UNIX", "Linux/UNIX (Amazon VPC)")
"""Linux has two names in the history; which one is used differs by Region and by the account's age."""


class Change(NamedTuple):
    """A new spot price, in one zone."""

    instance_type: str
    market: str
    """The zone, by the id that is the same in all accounts, and the product."""
    at: datetime
    usd: str
    """The dollars for an hour, as AWS writes them: a text that may be no number."""


def _is_local(row: Mapping[str, Any], region: str) -> bool:
    """Return whether a price is of a local zone: it is listed with its Region's, and nothing is trained there.

    A zone of the Region is called us-east-1a, with the id use1-az1; a local one us-east-1-bos-1a, with use1-bos1-az1.
    """
    if row.get("AvailabilityZoneId"):
        return bool(row["AvailabilityZoneId"].count("-") > 1)
    return len(row["AvailabilityZone"].removeprefix(region)) > 1


def price_changes(clients: Clients, region: str, since: datetime, until: datetime) -> Iterator[Change]:
    """Yield all changes between two moments, and before them the last one of each market, whenever it was."""
    asking = "read the history of spot prices"
    with aws_errors(asking, where=region), understood(asking, where=region):
        pages = clients.client("ec2", region).get_paginator("describe_spot_price_history")
        for page in pages.paginate(StartTime=since, EndTime=until, ProductDescriptions=list(PRODUCTS)):
            for row in page["SpotPriceHistory"]:
                if _is_local(row, region):
                    continue
                zone = row.get("AvailabilityZoneId") or row["AvailabilityZone"]
                market = f"{zone} {row['ProductDescription']}"
                at = row["Timestamp"].astimezone(timezone.utc)
                yield Change(str(row["InstanceType"]), market, at, str(row["SpotPrice"]))
