"""Makes the requests of one attempt, and sends nothing: an assignment for S3, and RunInstances.

A dry run prints them, and a restarted launcher makes the very same ones again.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

from orchestrator.errors import InvalidRequest
from orchestrator.platforms.bare.assignment import attempt_folder, make_assignment
from orchestrator.platforms.base import Request
from orchestrator.platforms.ec2.sent.network_cards import network_of
from orchestrator.platforms.ec2.sent.user_data import make_user_data
from orchestrator.platforms.ec2.zones import in_order, subnets_for
from orchestrator.training.bare.assignment import read_assignment
from orchestrator.wire.names import canonical, digest, training_name
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.wire.task import Place, Task
    from orchestrator.wire.template import Template

HASH_TAG = "sweep:request-hash"
"""The tag that carries a request's hash, by which the instances of an attempt are found."""
_SHOWN_KEY = re.compile(r"[0-9a-zA-Z\-_+=,.@:]{1,255}")
"""Tag keys that the instance's metadata can show: a launch fails if it is to show others."""
_TAGGED = ("instance", "volume", "network-interface")


def make_request(template: Template, task: Task, place: Place, attempt: int, max_runtime_s: int) -> Request:
    """Return the requests: `assignment` is put into S3 at `uri`, and `run` is what RunInstances is sent.

    Raise InvalidRequest when the place cannot be made into a request.
    """
    name = training_name(template.run, task.number, attempt)
    assigned = make_assignment(template, task, place, attempt, max_runtime_s, image=_image(template, task))
    own = {"Name": name, "sweep:output": template.output[:256]}
    tags = template.tags_of(task.number, attempt) | own
    run = _run(template, place, attempt)
    # A reservation lies where it lies: AWS takes no other placement group beside it.
    if place.instances > 1 and place.lane.purchase is not Purchase.COMMITTED:
        run["Placement"] = {"GroupName": name}
    content = digest({"assignment": assigned.to_json(), "run": run, "tags": tags})
    assignment = {**assigned.to_json(), "request": content}
    text = canonical(assignment).encode()
    uri = f"{attempt_folder(template.output, name)}/assignment.json"
    every = {**tags, HASH_TAG: content}
    spot = ("spot-instances-request",) if place.lane.purchase is Purchase.SPOT else ()
    listed = [{"Key": key, "Value": value} for key, value in every.items()]
    run |= {
        "ClientToken": digest({"training": name, "hash": content}, 64),
        "UserData": make_user_data(read_assignment(text), uri, hashlib.sha256(text).hexdigest(), place.allowance_s),
        "TagSpecifications": [{"ResourceType": kind, "Tags": listed} for kind in (*_TAGGED, *spot)],
        "MetadataOptions": {
            "HttpTokens": "required",
            "HttpPutResponseHopLimit": 2,
            "HttpEndpoint": "enabled",
            "InstanceMetadataTags": "enabled" if all(map(_SHOWN_KEY.fullmatch, every)) else "disabled",
        },
    }
    body = {"uri": uri, "assignment": assignment, "run": run}
    return Request(place.lane, name, body, content, "RunInstances", "the starter, on a bare instance")


def _run(template: Template, place: Place, attempt: int) -> dict[str, Any]:
    """Return RunInstances without what depends on its own hash."""
    machines, lane = template.body["ec2"], place.lane
    image = machines["images"].get(lane.instance_type)
    if image is None:
        raise InvalidRequest(f"the run was not prepared for {lane.instance_type}", where=lane.region)
    volume = {"VolumeSize": max(machines["volume_gb"], image["gb"]), "VolumeType": "gp3", "DeleteOnTermination": True}
    return {
        "ImageId": image["ami"],
        "InstanceType": lane.instance_type,
        "MinCount": place.instances,
        "MaxCount": place.instances,
        "InstanceInitiatedShutdownBehavior": "terminate",
        "IamInstanceProfile": machines["profile"],
        "BlockDeviceMappings": [{"DeviceName": image["device"], "Ebs": volume}],
        **({"KeyName": machines["key_name"]} if machines["key_name"] else {}),
        **network_of(lane.instance_type, place.instances, _subnet(template, place, attempt), machines["groups"]),
        **_market(place, machines.get("reservations", {})),
    }


def _subnet(template: Template, place: Place, attempt: int) -> str:
    """Return a subnet of a place's site: a zone, a subnet, or a reservation's zone.

    Attempts take turns among several. Without a site, as in a dry run, they begin with the zone that is cheapest on the
    spot market at submit. Raise InvalidRequest for a site that the run was not prepared for.
    """
    zones: dict[str, str] = template.body["ec2"]["subnets"]
    site = place.site
    if place.lane.purchase is Purchase.COMMITTED:
        site = _reservation(place, template.body["ec2"].get("reservations", {}))["zone"]
    elif not site:
        zones = subnets_for(template.body["ec2"], place.lane.instance_type)
    prices = template.body["ec2"].get("zone_prices", {}) if place.lane.purchase is Purchase.SPOT else {}
    ordered = in_order(zones, prices.get(place.lane.instance_type, {}))
    found = [subnet for subnet in ordered if site in ("", subnet, zones[subnet])]
    if not found:
        missing = f"the run has no subnet in {site or f'a zone that offers {place.lane.instance_type}'}"
        hint = "name one under platforms.ec2.network, and submit the sweep again, under another --name"
        raise InvalidRequest(missing, where=place.lane.region, hint=hint)
    return found[(attempt - 1) % len(found)]


def _market(place: Place, reservations: Mapping[str, Any]) -> dict[str, Any]:
    """Return how instances are bought: the bid of a spot instance is the rate, and the bill is the zone's price."""
    purchase = place.lane.purchase
    if purchase is Purchase.SPOT:
        options = {"SpotInstanceType": "one-time", "InstanceInterruptionBehavior": "terminate"}
        bid = {"MaxPrice": f"{place.rate:.6f}"} if place.rate else {}
        return {"InstanceMarketOptions": {"MarketType": "spot", "SpotOptions": {**options, **bid}}}
    if purchase is Purchase.COMMITTED:
        is_block = _reservation(place, reservations)["block"]
        target = {"CapacityReservationTarget": {"CapacityReservationId": reservation_id(place.site)}}
        block = {"InstanceMarketOptions": {"MarketType": "capacity-block"}} if is_block else {}
        return {**block, "CapacityReservationSpecification": target}
    # Where reservations are places of their own, what is bought on demand takes none of their instances.
    return {"CapacityReservationSpecification": {"CapacityReservationPreference": "none"}} if reservations else {}


def reservation_id(site: str) -> str:
    """Return the id of the reservation that a site is, which the catalog knows by its ARN; empty where it is none."""
    name = site.rpartition("/")[2]
    return name if name.startswith("cr-") else ""


def _reservation(place: Place, reservations: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the run knows of a committed place's reservation. Raise InvalidRequest where it knows none."""
    name = reservation_id(place.site)
    if not name:
        hint = "load the reservation's ARN with the catalog's commitments, and plan again"
        raise InvalidRequest("a committed place comes without a reservation's id", where=str(place.lane), hint=hint)
    if name not in reservations:
        hint = "`sweep catalog refresh capacity-reservations`, and plan again"
        raise InvalidRequest(f"the run was not prepared for the reservation {name}", where=str(place.lane), hint=hint)
    return dict(reservations[name])


def _image(template: Template, task: Task) -> str:
    """Return the container image that the training runs in; empty where it runs on the instance itself."""
    if task.image:
        raise InvalidRequest("instances run all tasks of a run alike", where=f"image {task.image}")
    return str(template.body["ec2"]["container"])
