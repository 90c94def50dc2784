"""The instances of an attempt, as DescribeInstances tells of them: in all states, for about an hour after their end."""

from __future__ import annotations

import re
from calendar import timegm
from dataclasses import dataclass
from time import strptime
from typing import TYPE_CHECKING, Any

from orchestrator.aws.answers import understood
from orchestrator.aws.errors import aws_errors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.aws.session import Clients

_ASKING = "look for instances"
WAITING, RUNNING = "pending", "running"
ALIVE = (WAITING, RUNNING)
_ENDED_AT = re.compile(r"\((\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) GMT\)")


@dataclass(frozen=True)
class Machine:
    """One instance, as EC2 sees it."""

    id: str
    index: int
    state: str
    zone: str
    launched_at: float
    ended_at: float | None
    """The moment of its end, where EC2 tells it."""
    code: str
    """EC2's own word for why it has ended, such as `Server.SpotInstanceTermination`; empty while it runs."""
    words: str
    tags: dict[str, str]
    instance_type: str
    is_spot: bool
    reservation: str = ""
    """The id of the capacity reservation that it runs in; empty if in none."""
    was_sent_there: bool = False
    """False where it only fell into an open reservation, as EC2 places instances by itself."""
    spot_request: str = ""
    """The id of the spot request that it was launched by; empty if by none."""

    @property
    def alive(self) -> bool:
        return self.state in ALIVE


def find_machines(clients: Clients, region: str, *filters: tuple[str, str]) -> Iterator[list[Machine]]:
    """Yield the instances that all filters fit, a page at a time, in whatever state they are."""
    asked = [{"Name": name, "Values": value.split(",")} for name, value in filters]
    with aws_errors(_ASKING, where=region), understood(_ASKING, where=region):
        pages = clients.client("ec2", region).get_paginator("describe_instances").paginate(Filters=asked)
        for page in pages:
            yield [_read(found) for one in page["Reservations"] for found in one["Instances"]]


def _read(found: dict[str, Any]) -> Machine:
    why = found.get("StateReason") or {}
    reservation = found.get("CapacityReservationId") or ""
    ended = _ENDED_AT.search(found.get("StateTransitionReason") or "")
    return Machine(
        id=found["InstanceId"],
        index=int(found.get("AmiLaunchIndex") or 0),
        state=found["State"]["Name"],
        zone=(found.get("Placement") or {}).get("AvailabilityZone", ""),
        launched_at=found["LaunchTime"].timestamp(),
        ended_at=float(timegm(strptime(ended[1], "%Y-%m-%d %H:%M:%S"))) if ended else None,
        code=why.get("Code", ""),
        words=" ".join(str(why.get("Message", "")).split()),
        tags={tag["Key"]: tag["Value"] for tag in found.get("Tags") or ()},
        instance_type=_text(found.get("InstanceType", "")),
        is_spot=found.get("InstanceLifecycle") == "spot",
        reservation=reservation,
        was_sent_there=bool(reservation) and _target(found) == reservation,
        spot_request=found.get("SpotInstanceRequestId") or "",
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _target(found: dict[str, Any]) -> str:
    """Return the id of the reservation that an instance's launch has named; empty if it named none."""
    asked = found.get("CapacityReservationSpecification") or {}
    return (asked.get("CapacityReservationTarget") or {}).get("CapacityReservationId") or ""
