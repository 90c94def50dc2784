"""Finds what instances of ours have not taken along in a Region, and removes it: nothing uses it, and it costs money.

Each is found by the tag of a run. What an instance that is still there may use is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.aws.answers import understood
from orchestrator.aws.errors import aws_code, aws_errors
from orchestrator.errors import CloudError
from orchestrator.platforms.account.leftover import Leftover
from orchestrator.platforms.ec2.watching.machines import find_machines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.aws.session import Clients

VOLUME, INTERFACE, GROUP, REQUEST = "volume", "network interface", "placement group", "spot request"
_OURS = {"Name": "tag-key", "Values": ["sweep:run"]}
_THERE = "pending,running,shutting-down,stopping,stopped"
"""The states of instances that may still use something."""
_UNUSED = "available"
_OPEN = ("open", "active")
"""The states of spot requests of which an instance may come, or has come."""
_CALLS = {
    VOLUME: ("delete_volume", "VolumeId"),
    INTERFACE: ("delete_network_interface", "NetworkInterfaceId"),
    GROUP: ("delete_placement_group", "GroupName"),
}
_GONE = (
    "InvalidVolume.NotFound",
    "InvalidNetworkInterfaceID.NotFound",
    "InvalidPlacementGroup.Unknown",
    "InvalidSpotInstanceRequestID.NotFound",
)


def leftovers(clients: Clients, region: str) -> Iterator[Leftover]:
    """Yield what carries the tag of a run in a Region, is no instance, and is used by none."""
    for found in _list(clients, region, "describe_volumes", "Volumes"):
        if found.get("State") == _UNUSED:
            yield from _ours(found, region, VOLUME, found["VolumeId"])
    for found in _list(clients, region, "describe_network_interfaces", "NetworkInterfaces", tags="TagSet"):
        if found.get("Status") == _UNUSED:
            yield from _ours(found, region, INTERFACE, found["NetworkInterfaceId"])
    # Those that instances have come of, or are in: a group of ours is called as its training is.
    groups = _list(clients, region, "describe_placement_groups", "PlacementGroups")
    requests = _list(clients, region, "describe_spot_instance_requests", "SpotInstanceRequests")
    requests = [found for found in requests if found.get("State") in _OPEN]
    if not groups and not requests:
        return
    pages = find_machines(clients, region, ("tag-key", "sweep:run"), ("instance-state-name", _THERE))
    there = [machine for page in pages for machine in page]
    names, ids = {machine.tags.get("Name") for machine in there}, {machine.id for machine in there}
    for found in groups:
        if found["GroupName"] not in names:
            yield from _ours(found, region, GROUP, found["GroupName"])
    for found in requests:
        if found.get("InstanceId") not in ids:
            yield from _ours(found, region, REQUEST, found["SpotInstanceRequestId"])


def remove(clients: Clients, leftover: Leftover) -> None:
    """Remove one of these; nothing happens if it is gone. Raise InvalidRequest where something uses it again."""
    client = clients.client("ec2", leftover.region)
    try:
        with aws_errors(f"remove the {leftover.kind} {leftover.id}", where=leftover.region):
            if leftover.kind == REQUEST:
                client.cancel_spot_instance_requests(SpotInstanceRequestIds=[leftover.id])
            else:
                operation, parameter = _CALLS[leftover.kind]
                getattr(client, operation)(**{parameter: leftover.id})
    except CloudError as error:
        if aws_code(error) not in _GONE:
            raise


def _list(clients: Clients, region: str, operation: str, member: str, *, tags: str = "Tags") -> list[dict[str, Any]]:
    """Return what an operation lists of things with the tag of a run, each with its tags by their keys."""
    asking = f"look for {member}"
    client = clients.client("ec2", region)
    with aws_errors(asking, where=region), understood(asking, where=region):
        if client.can_paginate(operation):
            pages = list(client.get_paginator(operation).paginate(Filters=[_OURS]))
        else:
            pages = [getattr(client, operation)(Filters=[_OURS])]
        found = [one for page in pages for one in page[member]]
        return [{**one, "Tags": {tag["Key"]: tag["Value"] for tag in one.get(tags) or ()}} for one in found]


def _ours(found: dict[str, Any], region: str, kind: str, name: str) -> Iterator[Leftover]:
    """Yield a leftover, if its tags are those that a request of ours gives."""
    tags: dict[str, str] = found["Tags"]
    run, task, attempt = (tags.get(f"sweep:{key}", "") for key in ("run", "task", "attempt"))
    if run and task.isdecimal() and attempt.isdecimal():
        output = tags.get("sweep:output", "")
        yield Leftover(kind, name, "ec2", region, tags.get("Name", ""), run, int(task), int(attempt), output)
