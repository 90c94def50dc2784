"""Capacity reservations: instances of a zone that are kept for the account, and count whether they run or not.

https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-reservations.html
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.http.answers import AwsError
from orchestrator.localcloud.services.ec2.kept import CapacityReservation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from orchestrator.localcloud.clock import Clock
    from orchestrator.localcloud.services.ec2.capacity import Pool
    from orchestrator.localcloud.services.ec2.instance import Instance

_RUNS_HERE = ("Linux/UNIX", "default")
"""The platform and the tenancy of all instances of this cloud."""


class CapacityReservations:
    """The capacity reservations of one Region. It knows instances by their launches; who guards these calls it."""

    def __init__(self, region: str, clock: Clock) -> None:
        self.region = region
        self._clock = clock
        self._all: dict[str, CapacityReservation] = {}

    def add(self, request: dict[str, Any], ends: float | None) -> CapacityReservation:
        """Make a reservation, which is active at once."""
        made = CapacityReservation(f"cr-0{secrets.token_hex(8)}", self.region, request, self._clock.now(), ends)
        self._all[made.id] = made
        return made

    def find(self, names: Iterable[str]) -> list[CapacityReservation]:
        """Return the reservations of some ids, or all. Raise AwsError for an id that none has."""
        wanted = list(names)
        for name in wanted:
            if name not in self._all:
                raise AwsError(
                    "InvalidCapacityReservationId.NotFound", f"The Capacity Reservation ID '{name}' does not exist"
                )
        return [self._all[name] for name in wanted] if wanted else list(self._all.values())

    def active(self) -> list[CapacityReservation]:
        return [each for each in self._all.values() if self.state(each) == "active"]

    def state(self, reservation: CapacityReservation) -> str:
        return reservation.state(self._clock.now())

    def free(self, reservation: CapacityReservation, instances: Iterable[Instance]) -> int:
        """Return how many of its instances nobody uses. `instances` are those of the Region."""
        return reservation.total - sum(each.reserved_by is reservation and is_held(each) for each in instances)

    def choose(
        self, request: dict[str, Any], pool: Pool, count: int, instances: Sequence[Instance]
    ) -> CapacityReservation | None:
        """Return the reservation that so many instances come from; None if they come from what everybody buys.

        Without a word of it, EC2 takes an open reservation that fits and has room. Raise AwsError for one that is
        named, and is not there, is over, does not fit, or is full.
        """
        asked = request.get("CapacityReservationSpecification", {})
        target = asked.get("CapacityReservationTarget", {}).get("CapacityReservationId", "")
        if target:
            return self._named(target, request, pool, count, instances)
        if asked.get("CapacityReservationPreference", "open") == "none":
            return None
        fitting = (
            each for each in self.active() if _fits(each, pool) and each.request["InstanceMatchCriteria"] == "open"
        )
        return next((each for each in fitting if self.free(each, instances) >= count), None)

    def _named(
        self, name: str, request: dict[str, Any], pool: Pool, count: int, instances: Sequence[Instance]
    ) -> CapacityReservation:
        (found,) = self.find([name])
        if self.state(found) != "active":
            raise AwsError(
                "InvalidCapacityReservationState",
                f"The Capacity Reservation {name} is {self.state(found)}, not active.",
            )
        if not _fits(found, pool) or request.get("Placement", {}).get("GroupName"):
            raise AwsError(
                "InvalidParameterValue",
                f"The attributes of the request do not match those of the Capacity Reservation {name}: "
                f"{found.instance_type} in {found.zone}, on demand, in no placement group.",
            )
        if self.free(found, instances) < count:
            raise AwsError(
                "ReservationCapacityExceeded",
                f"The requested reservation {name} does not have sufficient compatible and available capacity for this "
                "request.",
            )
        return found


def _fits(reservation: CapacityReservation, pool: Pool) -> bool:
    """Return whether instances of a zone, a type and a purchase can run in it."""
    asked, own = reservation.request, (reservation.instance_type, reservation.zone)
    fits_all = (asked["InstancePlatform"], asked["Tenancy"]) == _RUNS_HERE
    return fits_all and not pool.spot and (pool.instance_type, pool.zone) == own


def is_held(instance: Instance) -> bool:
    """Return whether an instance still takes its place in a reservation."""
    return instance.state not in ("terminated", "stopped")
