"""Shows an instance: in boto3's names, and as filters look at it."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.ec2.calls.wire import moment
from orchestrator.localcloud.services.ec2.instance import CODES, SHUTDOWN_BY_USER

if TYPE_CHECKING:
    from orchestrator.localcloud.services.ec2.instance import Instance, Interface, Reservation

Shown = dict[str, Any]


def show_reservation(reservation: Reservation, owner: str, instances: list[Shown]) -> Shown:
    """Return a reservation with those of its instances that are shown."""
    return {
        "ReservationId": reservation.id,
        "OwnerId": owner,
        "Groups": [],
        "Instances": instances,
    }


def show_instance(instance: Instance, owner: str, tags: dict[str, str], group: str | None) -> Shown:
    """Return an instance as RunInstances and DescribeInstances show it. `group` is its placement group's id."""
    reservation = instance.reservation
    request, subnet = reservation.request, reservation.subnet
    is_there = instance.state != "terminated"
    profile = reservation.profile
    return {
        "InstanceId": instance.id,
        "ImageId": reservation.image.id,
        "State": state(instance.state),
        "StateTransitionReason": _transition(instance),
        "StateReason": {"Code": instance.reason[0], "Message": instance.reason[1]} if instance.reason[0] else None,
        "AmiLaunchIndex": instance.index,
        "InstanceType": reservation.instance_type,
        "LaunchTime": reservation.launched,
        "KeyName": request.get("KeyName"),
        "Placement": {
            "AvailabilityZone": subnet.zone,
            "AvailabilityZoneId": subnet.zone_id,
            "GroupName": reservation.placement_group,
            "GroupId": group,
            "Tenancy": "default",
        },
        "Monitoring": {"State": "enabled" if request.get("Monitoring", {}).get("Enabled") else "disabled"},
        "ClientToken": request.get("ClientToken", ""),
        "Architecture": reservation.image.architecture,
        "RootDeviceType": "ebs",
        "RootDeviceName": reservation.image.root_device,
        "VirtualizationType": "hvm",
        "Hypervisor": "xen",
        "EbsOptimized": bool(request.get("EbsOptimized")),
        "EnaSupport": True,
        "IamInstanceProfile": {"Arn": profile.arn, "Id": profile.id} if profile else None,
        "InstanceLifecycle": "spot" if reservation.spot else None,
        "SpotInstanceRequestId": instance.spot_request or None,
        "CapacityReservationId": instance.reserved_by.id if instance.reserved_by else None,
        "CapacityReservationSpecification": request.get(
            "CapacityReservationSpecification", {"CapacityReservationPreference": "open"}
        ),
        "MetadataOptions": {"State": "applied", **reservation.metadata},
        "CpuOptions": request.get("CpuOptions"),
        "PlatformDetails": "Linux/UNIX",
        "UsageOperation": "RunInstances",
        "UsageOperationUpdateTime": reservation.launched,
        "PrivateDnsName": f"ip-{instance.address.replace('.', '-')}.{instance.region}.compute.internal"
        if is_there
        else "",
        "PublicDnsName": "",
        "Tags": [{"Key": key, "Value": value} for key, value in tags.items()],
        "SecurityGroups": [{"GroupId": name, "GroupName": title} for name, title in reservation.groups.items()]
        if is_there
        else [],
        **(_network(instance, owner) if is_there else {"NetworkInterfaces": [], "BlockDeviceMappings": []}),
    }


def state(name: str) -> Shown:
    """Return a state as EC2 writes it."""
    return {"Code": CODES[name], "Name": name}


def facts(instance: Instance, tags: dict[str, str]) -> dict[str, list[str]]:
    """Return what filters of DescribeInstances look at."""
    reservation = instance.reservation
    request, subnet = reservation.request, reservation.subnet
    return {
        "instance-id": [instance.id],
        "instance-state-name": [instance.state],
        "instance-state-code": [str(CODES[instance.state])],
        "state-reason-code": [instance.reason[0]],
        "client-token": [request.get("ClientToken", "")],
        "reservation-id": [reservation.id],
        "instance-type": [reservation.instance_type],
        "instance-lifecycle": ["spot"] if reservation.spot else [],
        "spot-instance-request-id": [instance.spot_request],
        "capacity-reservation-id": [instance.reserved_by.id] if instance.reserved_by else [],
        "image-id": [reservation.image.id],
        "subnet-id": [subnet.id],
        "vpc-id": [subnet.vpc],
        "availability-zone": [subnet.zone],
        "placement-group-name": [reservation.placement_group],
        "launch-index": [str(instance.index)],
        "launch-time": [moment(reservation.launched)],
        "private-ip-address": [instance.address],
        "iam-instance-profile.arn": [reservation.profile.arn] if reservation.profile else [],
        "instance.group-id": list(reservation.groups),
        "network-interface.network-interface-id": [each.id for each in instance.interfaces],
        "tag-key": list(tags),
        **{f"tag:{key}": [value] for key, value in tags.items()},
    }


def _transition(instance: Instance) -> str:
    """Return the StateTransitionReason, which says when a user ended an instance."""
    if instance.reason != SHUTDOWN_BY_USER or instance.ended is None:
        return ""
    when = datetime.fromtimestamp(instance.ended, timezone.utc).strftime("%Y-%m-%d %H:%M:%S GMT")
    return f"User initiated ({when})"


def _network(instance: Instance, owner: str) -> Shown:
    subnet = instance.reservation.subnet
    attached = instance.reservation.launched
    return {
        "SubnetId": subnet.id,
        "VpcId": subnet.vpc,
        "PrivateIpAddress": instance.address,
        "SourceDestCheck": True,
        "NetworkInterfaces": [_interface(instance, each, owner) for each in instance.interfaces],
        "BlockDeviceMappings": [
            {
                "DeviceName": each.device,
                "Ebs": {
                    "VolumeId": each.id,
                    "Status": "attached",
                    "AttachTime": attached,
                    "DeleteOnTermination": not each.keep,
                },
            }
            for each in instance.volumes
        ],
    }


def _interface(instance: Instance, each: Interface, owner: str) -> Shown:
    reservation = instance.reservation
    addresses = [{"PrivateIpAddress": each.address, "Primary": True}] if each.address else []
    return {
        "NetworkInterfaceId": each.id,
        "InterfaceType": each.kind,
        "MacAddress": each.mac,
        "OwnerId": owner,
        "PrivateIpAddress": each.address or None,
        "PrivateIpAddresses": addresses,
        "Status": "in-use",
        "SubnetId": reservation.subnet.id,
        "VpcId": reservation.subnet.vpc,
        "SourceDestCheck": True,
        "Groups": [{"GroupId": name, "GroupName": reservation.groups.get(name, name)} for name in each.groups],
        "Attachment": {
            "AttachmentId": each.attachment,
            "AttachTime": reservation.launched,
            "DeleteOnTermination": not each.keep,
            "DeviceIndex": each.index,
            "NetworkCardIndex": each.card,
            "Status": "attached",
        },
    }
