"""What an instance's metadata service says, by path. A path that ends in a slash lists what is below it.

The categories: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-instance-metadata.html
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.ec2.calls.wire import moment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.localcloud.services.ec2.instance import Instance
    from orchestrator.localcloud.services.ec2.metadata.credentials import Credentials


def look_up(path: str, instance: Instance, tags: Mapping[str, str], credentials: Credentials) -> str | None:
    """Return what is at a path below /latest; None where nothing is. `tags` are the instance's."""
    words = [word for word in path.split("/") if word]
    if words[:1] == ["user-data"]:
        data = base64.b64decode(instance.reservation.request.get("UserData", "")).decode("utf-8", "replace")
        return data or None
    found: Any = {
        "dynamic": {"instance-identity": {"document": json.dumps(_identity(instance), indent=2)}},
        "meta-data": _categories(instance, tags),
    }
    if words[1:3] == ["iam", "security-credentials"] and words[3:] == [_role(instance)]:
        return credentials.document()
    for word in words:
        found = found.get(word) if isinstance(found, dict) else None
    if isinstance(found, dict):
        return "\n".join(f"{name}/" if isinstance(inner, dict) else name for name, inner in found.items())
    return None if found is None else str(found)


def _categories(instance: Instance, tags: Mapping[str, str]) -> dict[str, Any]:
    reservation = instance.reservation
    name = f"ip-{instance.address.replace('.', '-')}.{instance.region}.compute.internal"
    first = instance.interfaces[0]
    facts: dict[str, Any] = {
        "ami-id": reservation.image.id,
        "ami-launch-index": str(instance.index),
        "hostname": name,
        "instance-id": instance.id,
        "instance-life-cycle": "spot" if reservation.spot else "on-demand",
        "instance-type": reservation.instance_type,
        "local-hostname": name,
        "local-ipv4": instance.address,
        "mac": first.mac,
        "network": {"interfaces": {"macs": {each.mac: _interface(instance, each.index) for each in _cards(instance)}}},
        "placement": {
            "availability-zone": reservation.subnet.zone,
            "availability-zone-id": reservation.subnet.zone_id,
            "region": instance.region,
        },
        "reservation-id": reservation.id,
        "security-groups": "\n".join(reservation.groups.values()),
        "services": {"domain": "amazonaws.com", "partition": "aws"},
    }
    if reservation.placement_group:
        facts["placement"]["group-name"] = reservation.placement_group
    if role := _role(instance):
        facts["iam"] = {"info": _profile(instance), "security-credentials": {role: ""}}
    if reservation.metadata["InstanceMetadataTags"] == "enabled":
        facts["tags"] = {"instance": dict(tags)}
    if instance.notice is not None:
        when = moment(instance.notice)[:-5] + "Z"
        facts["spot"] = {
            "instance-action": json.dumps({"action": "terminate", "time": when}),
            "termination-time": when,
        }
    if instance.rebalance is not None:
        when = moment(instance.rebalance)[:-5] + "Z"
        facts["events"] = {"recommendations": {"rebalance": json.dumps({"noticeTime": when})}}
    return facts


def _cards(instance: Instance) -> list[Any]:
    return [each for each in instance.interfaces if each.kind != "efa-only"]


def _interface(instance: Instance, index: int) -> dict[str, str]:
    subnet = instance.reservation.subnet
    return {
        "device-number": str(index),
        "local-ipv4s": instance.address,
        "subnet-id": subnet.id,
        "vpc-id": subnet.vpc,
        "security-group-ids": "\n".join(instance.reservation.groups),
    }


def _role(instance: Instance) -> str:
    profile = instance.reservation.profile
    return profile.role.rpartition("/")[2] if profile else ""


def _profile(instance: Instance) -> str:
    profile = instance.reservation.profile
    updated = moment(instance.reservation.launched)[:-5] + "Z"
    facts = {
        "Code": "Success",
        "LastUpdated": updated,
        "InstanceProfileArn": profile.arn if profile else "",
        "InstanceProfileId": profile.id if profile else "",
    }
    return json.dumps(facts, indent=2)


def _identity(instance: Instance) -> dict[str, Any]:
    reservation = instance.reservation
    return {
        "architecture": reservation.image.architecture,
        "availabilityZone": reservation.subnet.zone,
        "imageId": reservation.image.id,
        "instanceId": instance.id,
        "instanceType": reservation.instance_type,
        "pendingTime": moment(reservation.launched)[:-5] + "Z",
        "privateIp": instance.address,
        "region": instance.region,
        "version": "2017-09-30",
    }
