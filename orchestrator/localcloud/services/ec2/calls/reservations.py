"""EC2's operations on capacity reservations in one Region."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.http.answers import AwsError
from orchestrator.localcloud.services.ec2.calls.filters import matches, page
from orchestrator.localcloud.services.ec2.calls.request_checks import tags_of
from orchestrator.localcloud.services.ec2.calls.wire import read, written
from orchestrator.localcloud.services.ec2.capacity import Pool
from orchestrator.localcloud.services.ec2.vcpus import vcpus_of
from orchestrator.localcloud.services.market.price_table import REGIONS, is_offered

if TYPE_CHECKING:
    from orchestrator.localcloud.services.ec2.capacity import Capacity
    from orchestrator.localcloud.services.ec2.capacity_reservations import CapacityReservations
    from orchestrator.localcloud.services.ec2.kept import CapacityReservation
    from orchestrator.localcloud.services.ec2.lifecycle import InstanceLifecycle
    from orchestrator.localcloud.services.moto.ec2 import Ec2Store
    from orchestrator.localcloud.site import Site

Body = dict[str, Any]

_USUAL = {"InstanceMatchCriteria": "open", "Tenancy": "default", "EndDateType": "unlimited"}
_NEEDED = ("InstanceType", "InstancePlatform", "InstanceCount", "AvailabilityZone")
_NOT_PLAYED = ("StartDate", "CommitmentDuration", "OutpostArn", "PlacementGroupArn", "AvailabilityZoneId")


class Reservations:
    """Capacity reservations in one Region. Each operation is a method of boto3's name, which takes a form."""

    def __init__(
        self, site: Site, store: Ec2Store, lifecycle: InstanceLifecycle, capacity: Capacity, all_: CapacityReservations
    ) -> None:
        self._site = site
        self._store = store
        self._lifecycle = lifecycle
        self._capacity = capacity
        self._all = all_

    def create_capacity_reservation(self, body: Body) -> Body:
        request = _USUAL | read("CreateCapacityReservation", body)
        region = self._all.region
        _check(request, region)
        ends = (
            datetime.fromisoformat(request["EndDate"].replace("Z", "+00:00")).timestamp()
            if "EndDate" in request
            else None
        )
        if ends is not None and ends <= self._site.clock.now():
            raise AwsError("InvalidParameterValue", "The EndDate must be in the future.")
        pool = Pool(region, request["AvailabilityZone"], request["InstanceType"], spot=False)
        with self._lifecycle.lock:
            instances = self._lifecycle.in_region(region)
            self._capacity.check(pool, [], None)
            self._capacity.check_quota(pool, request["InstanceCount"], instances, self._all.active())
            made = self._all.add(request, ends)
            if tags := tags_of(request).get("capacity-reservation"):
                self._store.tag([made.id], tags)
            return written("CreateCapacityReservation", {"CapacityReservation": self._show(made)})

    def describe_capacity_reservations(self, body: Body) -> Body:
        request = read("DescribeCapacityReservations", body)
        with self._lifecycle.lock:
            found = self._all.find(request.get("CapacityReservationIds", ()))
            shown, token = page([self._show(each) for each in found if matches(self._facts(each), request)], request)
        return written("DescribeCapacityReservations", {"CapacityReservations": shown, "NextToken": token})

    def cancel_capacity_reservation(self, body: Body) -> Body:
        request = read("CancelCapacityReservation", body)
        with self._lifecycle.lock:
            (found,) = self._all.find([request["CapacityReservationId"]])
            if self._all.state(found) != "active":
                raise AwsError(
                    "InvalidCapacityReservationState",
                    f"The Capacity Reservation {found.id} is {self._all.state(found)}, not active.",
                )
            found.cancelled = True
            for instance in self._lifecycle.in_region(found.region):
                if instance.reserved_by is found:
                    instance.reserved_by = None  # it runs on, and is paid for by the hour
        return {"return": "true"}

    def _show(self, found: CapacityReservation) -> Body:
        """Return a reservation as DescribeCapacityReservations shows it."""
        state = self._all.state(found)
        zone_id = dict(REGIONS[found.region].zones)[found.zone]
        free = self._all.free(found, self._lifecycle.in_region(found.region)) if state == "active" else 0
        kept = (
            "InstanceType",
            "InstancePlatform",
            "Tenancy",
            "InstanceMatchCriteria",
            "EndDateType",
            "AvailabilityZone",
        )
        return {
            **{name: found.request[name] for name in kept},
            "CapacityReservationId": found.id,
            "CapacityReservationArn": self._site.arn("ec2", found.region, f"capacity-reservation/{found.id}"),
            "OwnerId": self._site.account,
            "AvailabilityZoneId": zone_id,
            "ReservationType": "default",
            "TotalInstanceCount": found.total if state == "active" else 0,
            "AvailableInstanceCount": free,
            "EbsOptimized": bool(found.request.get("EbsOptimized")),
            "EphemeralStorage": False,
            "State": state,
            "StartDate": found.created,
            "CreateDate": found.created,
            "EndDate": found.ends,
            "Tags": [{"Key": key, "Value": value} for key, value in self._store.tags(found.id).items()],
        }

    def _facts(self, found: CapacityReservation) -> dict[str, list[str]]:
        """Return what filters look at."""
        tags = self._store.tags(found.id)
        return {
            "instance-type": [found.instance_type],
            "availability-zone": [found.zone],
            "owner-id": [self._site.account],
            "state": [self._all.state(found)],
            "tenancy": [found.request["Tenancy"]],
            "instance-platform": [found.request["InstancePlatform"]],
            "instance-match-criteria": [found.request["InstanceMatchCriteria"]],
            "tag-key": list(tags),
            **{f"tag:{key}": [value] for key, value in tags.items()},
        }


def _check(request: Body, region: str) -> None:
    """Raise AwsError for a reservation that nobody can make."""
    if missing := [name for name in _NEEDED if name not in request]:
        raise AwsError("MissingParameter", f"The request must contain the parameter {missing[0]}")
    if played := [name for name in _NOT_PLAYED if name in request]:
        raise AwsError("UnsupportedOperation", f"the local cloud makes no reservations with {played[0]}")
    kind, zone = request["InstanceType"], request["AvailabilityZone"]
    if vcpus_of(kind) is None or not is_offered(kind, region):
        raise AwsError("InvalidParameterValue", f"Invalid value '{kind}' for InstanceType.")
    if zone not in dict(REGIONS[region].zones):
        raise AwsError("InvalidParameterValue", f"Invalid availability zone: [{zone}]")
    if request["InstanceCount"] < 1:
        raise AwsError("InvalidParameterValue", "InstanceCount must be at least 1")
    if request["InstanceMatchCriteria"] not in ("open", "targeted"):
        raise AwsError("InvalidParameterValue", "InstanceMatchCriteria is open or targeted")
    if (request["EndDateType"] == "limited") != ("EndDate" in request):
        raise AwsError(
            "InvalidParameterCombination", "An EndDate goes with the EndDateType limited, and with no other."
        )
