"""Capacity blocks for ML: instances of EC2 that are paid for already, for a while."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.aws.answers import understood
from orchestrator.aws.errors import aws_errors
from orchestrator.platforms.feed import Feed, Reading

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from orchestrator.aws.session import Clients

_ASKING = "list the capacity reservations"
_OURS = ("active", "scheduled")
"""The states of reservations that are there, or will be."""


def read(clients: Clients, region: str, now: datetime) -> Reading:  # noqa: ARG001 (a feed is told the moment)
    """Return a row for each capacity block of this Region that is not over.

    Reservations of another kind are told: their instances cost what they cost on demand, used or not.
    """
    rows, left_out = [], []
    with understood(_ASKING, where=region):
        for found in _reservations(clients, region):
            name = str(found["CapacityReservationId"])
            if found.get("State") not in _OURS:
                continue
            if found.get("ReservationType") != "capacity-block" or not found.get("EndDate"):
                cost = f"its {found['InstanceType']} cost what they cost on demand"
                left_out.append(f"{name} is no capacity block: {cost}")
                continue
            rows.append(_row(found, region, f"{region}/{name}"))
    return Reading(tuple(rows), tuple(left_out))


def _reservations(clients: Clients, region: str) -> Iterator[dict[str, Any]]:
    with aws_errors(_ASKING, where=region), understood(_ASKING, where=region):
        for page in clients.client("ec2", region).get_paginator("describe_capacity_reservations").paginate():
            for found in page["CapacityReservations"]:
                yield dict(found)


def _row(found: dict[str, Any], region: str, name: str) -> dict[str, object]:
    return {
        "commitment": name,
        "kind": "training_plan",
        "platform": "ec2",
        "region": region,
        "instance_type": found["InstanceType"],
        "slots": found["TotalInstanceCount"],
        "usd_per_hour": None,
        "discount": None,
        "starts_at": found["StartDate"],
        "ends_at": found["EndDate"],
        "arn": found["CapacityReservationArn"],
    }


FEED = Feed(
    name="capacity-blocks",
    kind="commitments",
    about="instances of EC2 that are paid for already, for a while",
    actions=("ec2:DescribeCapacityReservations",),
    read=read,
    may_be_empty=True,
)
