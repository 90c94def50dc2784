"""What an instance brings along: network interfaces and volumes, which moto keeps, each with its tags."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.machines.instance.address import new_address
from orchestrator.localcloud.services.ec2.calls.request_checks import tags_of
from orchestrator.localcloud.services.ec2.instance import Interface, Volume
from orchestrator.localcloud.services.moto.ec2 import Holder

if TYPE_CHECKING:
    from orchestrator.localcloud.services.ec2.instance import Instance
    from orchestrator.localcloud.services.moto.ec2 import Ec2Store

_ROOT_GB = 15
"""The size of a root volume, unless a request says another."""


def equip(instance: Instance, store: Ec2Store) -> None:
    """Give an instance what its request asks for, and the tags of all that."""
    request = instance.reservation.request
    instance.interfaces = _interfaces(instance, store)
    instance.volumes = _volumes(instance, store)
    tagged = {
        "instance": [instance.id],
        "volume": [each.id for each in instance.volumes],
        "network-interface": [each.id for each in instance.interfaces],
        "spot-instances-request": [instance.spot_request] if instance.spot_request else [],
    }
    for kind, tags in tags_of(request).items():
        if tags:
            store.tag(tagged[kind], tags)


def _interfaces(instance: Instance, store: Ec2Store) -> list[Interface]:
    reservation = instance.reservation
    groups = list(reservation.groups)
    asked: list[dict[str, Any]] = reservation.request.get("NetworkInterfaces") or [{"Groups": groups}]
    found = []
    for each in asked:
        card, index = each.get("NetworkCardIndex", 0), each.get("DeviceIndex", 0)
        kind = each.get("InterfaceType", "interface")
        address = "" if kind == "efa-only" else new_address()
        if (card, index) == (0, 0):
            address = instance.address
        own = each.get("Groups", groups)
        made = store.add_interface(reservation.subnet.id, address, own, Holder(instance.id), index)
        made.interface_type = kind
        found.append(
            Interface(
                id=made.id,
                index=index,
                card=card,
                kind=kind,
                address=address,
                mac=made.mac_address,
                attachment=made.attachment_id,
                groups=tuple(own),
                keep=not each.get("DeleteOnTermination", True),
            )
        )
    return sorted(found, key=lambda one: (one.card, one.index))


def _volumes(instance: Instance, store: Ec2Store) -> list[Volume]:
    """Make the root volume and those that the request adds. Only the root is deleted unless the request says so."""
    reservation = instance.reservation
    root = reservation.image.root_device
    asked = {
        each.get("DeviceName", ""): each["Ebs"]
        for each in reservation.request.get("BlockDeviceMappings", ())
        if "Ebs" in each
    }
    found = []
    for device, disk in {root: {}, **asked}.items():
        size, kind = disk.get("VolumeSize", _ROOT_GB), disk.get("VolumeType", "gp3")
        made, _ = store.add_volume(size, kind, reservation.subnet.zone, Holder(instance.id), device)
        found.append(Volume(made, device, keep=not disk.get("DeleteOnTermination", device == root)))
    return found
