"""Capacity reservations of EC2: instances that are paid for already, whether they run or not.

There are two kinds: a capacity block is for a while, and an on-demand reservation lasts until it is cancelled or ends.
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-reservations.html
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orchestrator.aws.answers import understood
from orchestrator.aws.errors import aws_errors

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from orchestrator.aws.session import Clients

_ASKING = "list the capacity reservations"
ACTIVE = "active"
_STATES = (ACTIVE, "scheduled")
"""The states of reservations that are there, or will be."""
_FITS = {
    "InstancePlatform": ("Linux/UNIX",),
    "Tenancy": ("default",),
    "InstanceMatchCriteria": ("open", "targeted"),
}
"""What a reservation must say so that a training's instances, which name it, can run in it."""
_HINDERS = {
    "OutpostArn": "is on an Outpost",
    "PlacementGroupArn": "is for one placement group",
    "Interruptible": "may be taken back",
}
"""What a reservation may not say."""


@dataclass(frozen=True)
class Reserved:
    """A capacity reservation that is there, or will be."""

    id: str
    arn: str
    owner: str
    """The account that pays for it: ours, or one that shares it with us."""
    instance_type: str
    zone: str
    is_block: bool
    is_active: bool
    total: int
    free: int
    """Instances that nobody uses."""
    starts_at: datetime
    ends_at: datetime | None
    """None if it lasts until it is cancelled."""
    unfit: str
    """Why trainings cannot run in it; empty where they can."""


def list_reservations(clients: Clients, region: str, now: datetime) -> Iterator[Reserved]:
    """Yield the capacity reservations of a Region that are not over, those that others share with us among them.

    Raise CloudError for an answer that is not known here.
    """
    with aws_errors(_ASKING, where=region), understood(_ASKING, where=region):
        for page in clients.client("ec2", region).get_paginator("describe_capacity_reservations").paginate():
            for found in page["CapacityReservations"]:
                if found["State"] in _STATES and (found.get("EndDate") is None or found["EndDate"] > now):
                    yield _read(found)


def _read(found: dict[str, Any]) -> Reserved:
    is_block = found.get("ReservationType") == "capacity-block"
    is_active = found["State"] == ACTIVE
    return Reserved(
        id=str(found["CapacityReservationId"]),
        arn=str(found["CapacityReservationArn"]),
        owner=str(found["CapacityReservationArn"]).split(":")[4],
        instance_type=str(found["InstanceType"]),
        zone=str(found["AvailabilityZone"]),
        is_block=is_block,
        is_active=is_active,
        total=int(found["TotalInstanceCount"]),
        free=int(found["AvailableInstanceCount"]) if is_active else int(found["TotalInstanceCount"]),
        starts_at=found["StartDate"] if found.get("StartDate") else found["CreateDate"],
        ends_at=found.get("EndDate"),
        unfit=_unfit(found, is_block=is_block),
    )


def _unfit(found: dict[str, Any], *, is_block: bool) -> str:
    for fact, allowed in _FITS.items():
        if found.get(fact) not in allowed:
            return f"has the {fact} {found.get(fact)}"
    for fact, why in _HINDERS.items():
        if found.get(fact):
            return why
    if is_block and not found.get("EndDate"):
        return "is a capacity block without an end"
    return ""
