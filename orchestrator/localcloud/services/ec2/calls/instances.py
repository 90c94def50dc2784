"""EC2's operations on instances in one Region."""

from __future__ import annotations

import base64
import secrets
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.http.answers import AwsError
from orchestrator.localcloud.machines.instance.address import new_address
from orchestrator.localcloud.services.ec2.calls.client_tokens import ClientTokens
from orchestrator.localcloud.services.ec2.calls.filters import check_names, matches, page
from orchestrator.localcloud.services.ec2.calls.request_checks import check_request
from orchestrator.localcloud.services.ec2.calls.show import facts, show_instance, show_reservation, state
from orchestrator.localcloud.services.ec2.calls.wire import moment, read, written
from orchestrator.localcloud.services.ec2.capacity import Pool
from orchestrator.localcloud.services.ec2.equipment import equip
from orchestrator.localcloud.services.ec2.instance import SHUTDOWN_BY_USER, Instance
from orchestrator.localcloud.services.ec2.launch import Launch
from orchestrator.localcloud.services.ec2.spot_requests import SpotRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.localcloud.services.ec2.capacity import Capacity
    from orchestrator.localcloud.services.ec2.capacity_reservations import CapacityReservations
    from orchestrator.localcloud.services.ec2.instance import Reservation
    from orchestrator.localcloud.services.ec2.kept import CapacityReservation
    from orchestrator.localcloud.services.ec2.lifecycle import InstanceLifecycle
    from orchestrator.localcloud.services.ec2.placement_groups import PlacementGroups
    from orchestrator.localcloud.services.moto.ec2 import Ec2Store
    from orchestrator.localcloud.site import Site

Body = dict[str, Any]

SHOWN_AFTER_S = 0.25
"""Seconds until other calls find a new instance. AWS: "eventual consistency"; it names no time."""


class Instances:
    """EC2's instances in one Region. Each operation is a method: it has boto3's name, takes a form, returns an answer.

    A method raises AwsError to refuse a request.
    """

    def __init__(
        self,
        site: Site,
        region: str,
        store: Ec2Store,
        lifecycle: InstanceLifecycle,
        capacity: Capacity,
        groups: PlacementGroups,
        reserved: CapacityReservations,
    ) -> None:
        self._site = site
        self._region = region
        self._store = store
        self._lifecycle = lifecycle
        self._capacity = capacity
        self._groups = groups
        self._reserved = reserved
        self._launch = Launch(region, store, capacity)
        self._tokens = ClientTokens()

    # Launch

    def run_instances(self, body: Body) -> Body:
        request = read("RunInstances", body)
        check_request(request)
        with self._lifecycle.lock:
            zone = self._named_zone(request)
            reservation = self._tokens.find(request, zone)
            if reservation is None:
                reservation = self._new(request)
                self._tokens.keep(request, zone, reservation)
            shown = [self._show(each) for each in reservation.instances]
        return written("RunInstances", show_reservation(reservation, self._site.account, shown))

    def _named_zone(self, request: Body) -> str:
        """Return the zone that a request names itself, or by its subnet; empty when the choice is EC2's."""
        named = "SubnetId" in request or any("SubnetId" in each for each in request.get("NetworkInterfaces", ()))
        if named:
            return self._launch.subnet(request).zone
        return str(request.get("Placement", {}).get("AvailabilityZone", ""))

    def _new(self, request: Body) -> Reservation:
        """Launch what a request asks for. Raise AwsError for what there is not."""
        now = self._site.clock.now()
        reservation = self._launch.reservation(request, now)
        if reservation.placement_group:
            self._groups.check(reservation.placement_group)
        count, kept = self._count(reservation)
        for index in range(count):
            instance = Instance(f"i-0{secrets.token_hex(8)}", index, reservation, new_address())
            instance.shown_from = now + SHOWN_AFTER_S
            instance.reserved_by = kept
            if reservation.spot:
                spot = SpotRequest.new(instance, now)
                instance.spot_request = spot.id
                self._lifecycle.spot_requests[spot.id] = spot
            equip(instance, self._store)
            reservation.instances.append(instance)
        self._lifecycle.launch(reservation.instances)
        return reservation

    def _count(self, reservation: Reservation) -> tuple[int, CapacityReservation | None]:
        """Return how many instances are launched: as many as the quota allows, and never less than the minimum.

        Beside it stands the capacity reservation that they come from, if they come from one.
        """
        request, subnet = reservation.request, reservation.subnet
        pool = Pool(self._region, subnet.zone, reservation.instance_type, reservation.spot)
        zones = [each.zone for each in self._store.default_subnets() if each.zone != subnet.zone]
        options = request.get("InstanceMarketOptions", {}).get("SpotOptions", {})
        running = self._lifecycle.in_region(self._region)
        kept = self._reserved.choose(request, pool, request["MinCount"], running)
        if kept is not None:
            return min(int(request["MaxCount"]), self._reserved.free(kept, running)), kept
        reserved = self._reserved.active()
        for count in range(request["MaxCount"], request["MinCount"], -1):
            try:
                self._capacity.check_quota(pool, count, running, reserved)
            except AwsError:
                continue
            self._capacity.check(pool, zones, options.get("MaxPrice"))
            return count, None
        self._capacity.check_quota(pool, request["MinCount"], running, reserved)
        self._capacity.check(pool, zones, options.get("MaxPrice"))
        return int(request["MinCount"]), None

    # Look

    def describe_instances(self, body: Body) -> Body:
        request = read("DescribeInstances", body)
        if "InstanceIds" in request and "MaxResults" in request:
            raise AwsError(
                "InvalidParameterCombination",
                "The parameter instancesSet cannot be used with the parameter maxResults",
            )
        with self._lifecycle.lock:
            found, token = page(self._matching(request), request)
            reservations: dict[str, list[Instance]] = {}
            for each in found:
                reservations.setdefault(each.reservation.id, []).append(each)
            shown = [
                show_reservation(each[0].reservation, self._site.account, [self._show(one) for one in each])
                for each in reservations.values()
            ]
        return written("DescribeInstances", {"Reservations": shown, "NextToken": token})

    def describe_instance_status(self, body: Body) -> Body:
        request = read("DescribeInstanceStatus", body)
        with self._lifecycle.lock:
            found = self._matching(request)
            if not request.get("IncludeAllInstances"):
                found = [each for each in found if each.state == "running"]
            shown, token = page([_status(each) for each in found], request)
        return written("DescribeInstanceStatus", {"InstanceStatuses": shown, "NextToken": token})

    def get_console_output(self, body: Body) -> Body:
        request = read("GetConsoleOutput", body)
        with self._lifecycle.lock:
            (instance,) = self._find([request["InstanceId"]])
        answer = {
            "InstanceId": instance.id,
            "Output": base64.b64encode(self._lifecycle.console(instance)).decode(),
            "Timestamp": moment(self._site.clock.now() if instance.ended is None else instance.ended),
        }
        return written("GetConsoleOutput", answer)

    def _matching(self, request: Body) -> list[Instance]:
        """Return the instances that a request names, or all, as far as they pass its filters."""
        found = self._find(request["InstanceIds"]) if request.get("InstanceIds") else self._seen()
        if found:
            check_names(facts(found[0], {}), request)
        return [each for each in found if matches(facts(each, self._store.tags(each.id)), request)]

    def _seen(self) -> list[Instance]:
        """Return the instances that calls find by now."""
        now = self._site.clock.now()
        return [each for each in self._lifecycle.in_region(self._region) if each.shown_from <= now]

    def _find(self, names: list[str]) -> list[Instance]:
        """Return the instances of some ids. Raise AwsError for an id that is none, or that is not found yet."""
        for name in names:
            if not name.startswith("i-"):
                raise AwsError("InvalidInstanceID.Malformed", f'Invalid id: "{name}" (expecting "i-...")')
        seen = {each.id: each for each in self._seen()}
        missing = [name for name in names if name not in seen]
        if missing:
            words, verb = ("instance ID", "does") if len(missing) == 1 else ("instance IDs", "do")
            raise AwsError("InvalidInstanceID.NotFound", f"The {words} '{', '.join(missing)}' {verb} not exist")
        return [seen[name] for name in names]

    def _show(self, instance: Instance) -> Body:
        group = self._groups.id_of(instance.reservation.placement_group)
        return show_instance(instance, self._site.account, self._store.tags(instance.id), group)

    # End

    def terminate_instances(self, body: Body) -> Body:
        request = read("TerminateInstances", body)
        changes = []
        with self._lifecycle.lock:
            for instance in self._find(request["InstanceIds"]):
                before = instance.state
                self._lifecycle.shut_down(instance, SHUTDOWN_BY_USER)
                changes.append(
                    {
                        "InstanceId": instance.id,
                        "PreviousState": state(before),
                        "CurrentState": state(instance.state),
                    }
                )
        return written("TerminateInstances", {"TerminatingInstances": changes})

    # Spot requests

    def describe_spot_instance_requests(self, body: Body) -> Body:
        request = read("DescribeSpotInstanceRequests", body)
        now = self._site.clock.now()
        with self._lifecycle.lock:
            found = self._spot_requests(request.get("SpotInstanceRequestIds", []))
            passing = [each for each in found if matches(each.facts(self._store.tags(each.id)), request)]
            shown, token = page([each.show(self._store.tags(each.id), now) for each in passing], request)
        return written("DescribeSpotInstanceRequests", {"SpotInstanceRequests": shown, "NextToken": token})

    def cancel_spot_instance_requests(self, body: Body) -> Body:
        request = read("CancelSpotInstanceRequests", body)
        with self._lifecycle.lock:
            found = self._spot_requests(request["SpotInstanceRequestIds"])
            for each in found:
                if each.state == "active":
                    each.cancelled = self._site.clock.now()
        shown = [{"SpotInstanceRequestId": each.id, "State": each.state} for each in found]
        return written("CancelSpotInstanceRequests", {"CancelledSpotInstanceRequests": shown})

    def _spot_requests(self, names: list[str]) -> list[SpotRequest]:
        known = {
            each.id: each for each in self._lifecycle.spot_requests.values() if each.instance.region == self._region
        }
        if missing := [name for name in names if name not in known]:
            raise AwsError(
                "InvalidSpotInstanceRequestID.NotFound", f"The spot instance request ID '{missing[0]}' does not exist"
            )
        return [known[name] for name in names] if names else list(known.values())


def _status(instance: Instance) -> Mapping[str, Any]:
    """Return an instance as DescribeInstanceStatus shows it."""
    well = "ok" if instance.state == "running" else "not-applicable"
    checks = {"Status": well, "Details": [{"Name": "reachability", "Status": "passed"}] if well == "ok" else []}
    return {
        "InstanceId": instance.id,
        "AvailabilityZone": instance.reservation.subnet.zone,
        "InstanceState": state(instance.state),
        "InstanceStatus": checks,
        "SystemStatus": checks,
        "Events": [],
    }
