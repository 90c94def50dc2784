"""What instances have not taken along is found by a run's tags, and removed: nothing else is touched."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.aws.session import Clients
from orchestrator.errors import InvalidRequest
from orchestrator.platforms.account.leftover import LeavesBehind, Leftover
from orchestrator.platforms.ec2.account.leftovers import GROUP, INTERFACE, REQUEST, VOLUME, leftovers, remove
from orchestrator.platforms.registry import make_operating
from tests.localcloud.services.ec2.conftest import InstanceDesk

if TYPE_CHECKING:
    from collections.abc import Callable

REGION = "us-east-1"


def tags(run: str, kind: str, **more: str) -> list[dict[str, Any]]:
    given = {
        "Name": f"{run}-3-1",
        "sweep:run": run,
        "sweep:task": "3",
        "sweep:attempt": "1",
        "sweep:output": "s3://b/r",
    }
    return [{"ResourceType": kind, "Tags": [{"Key": key, "Value": value} for key, value in {**given, **more}.items()]}]


def found(name: str) -> list[Leftover]:
    return [one for one in leftovers(Clients(), REGION) if one.run == name]


@pytest.mark.usefixtures("cloud_environment")
def test_what_nothing_uses_is_found_and_removed_once(client: Callable[..., Any], name: str) -> None:
    ec2 = client("ec2", REGION)
    subnet = ec2.describe_subnets(Filters=[{"Name": "default-for-az", "Values": ["true"]}])["Subnets"][0]
    zone = subnet["AvailabilityZone"]
    ec2.create_volume(AvailabilityZone=zone, Size=8, TagSpecifications=tags(name, "volume"))
    ec2.create_volume(AvailabilityZone=zone, Size=8, TagSpecifications=tags(name, "volume", **{"sweep:task": "mine"}))
    others = ec2.create_volume(AvailabilityZone=zone, Size=8)
    ec2.create_network_interface(SubnetId=subnet["SubnetId"], TagSpecifications=tags(name, "network-interface"))
    ec2.create_placement_group(
        GroupName=f"{name}-3-1", Strategy="cluster", TagSpecifications=tags(name, "placement-group")
    )
    left = found(name)
    assert Counter(one.kind for one in left) == {VOLUME: 1, INTERFACE: 1, GROUP: 1}
    assert {(one.training, one.task, one.attempt, one.output, one.region) for one in left} == {
        (f"{name}-3-1", 3, 1, "s3://b/r", REGION)
    }
    for one in [*left, *left]:
        remove(Clients(), one)
    assert found(name) == []
    assert ec2.describe_volumes(VolumeIds=[others["VolumeId"]])["Volumes"]


@pytest.mark.usefixtures("cloud_environment")
def test_what_an_instance_still_uses_is_left_to_it_and_what_it_leaves_is_found(
    client: Callable[..., Any], name: str
) -> None:
    desk = InstanceDesk(client, f"{name}-3-1", REGION)
    group = f"{name}-3-1"
    client("ec2", REGION).create_placement_group(
        GroupName=group, Strategy="cluster", TagSpecifications=tags(name, "placement-group")
    )
    specifications = [one for kind in ("instance", "volume", "network-interface") for one in tags(name, kind)]
    kept = {"DeviceName": "/dev/sdb", "Ebs": {"VolumeSize": 9, "DeleteOnTermination": False}}
    interface = {"DeviceIndex": 0, "DeleteOnTermination": False}
    instance = desk.start(
        Placement={"GroupName": group},
        BlockDeviceMappings=[kept],
        NetworkInterfaces=[interface],
        TagSpecifications=specifications,
    )
    assert found(name) == []
    with pytest.raises(InvalidRequest, match="in use"):
        remove(Clients(), Leftover(GROUP, group, "ec2", REGION, group, name, 3, 1, ""))
    desk.end()
    desk.in_state("terminated", instance)
    left = found(name)
    assert Counter(one.kind for one in left) == {VOLUME: 1, INTERFACE: 1, GROUP: 1}
    for one in left:
        remove(Clients(), one)
    assert found(name) == []


def test_a_spot_request_whose_instance_is_gone_is_cancelled(clients: Clients, monkeypatch: pytest.MonkeyPatch) -> None:
    ec2 = clients.client("ec2", REGION)
    monkeypatch.setattr(ec2, "describe_placement_groups", lambda **_: {"PlacementGroups": []})
    launch = {"ImageId": "ami-12c6146b", "InstanceType": "c5.large"}
    kind = "spot-instances-request"
    for run in ("gone", "there"):
        ec2.request_spot_instances(LaunchSpecification=launch, TagSpecifications=tags(run, kind))
    requests = {one["Tags"][0]["Value"]: one for one in ec2.describe_spot_instance_requests()["SpotInstanceRequests"]}
    ours = [{"Key": "sweep:run", "Value": "there"}]
    ec2.create_tags(Resources=[requests["there-3-1"]["InstanceId"]], Tags=ours)
    left = list(leftovers(clients, REGION))
    assert [(one.kind, one.id, one.run) for one in left] == [
        (REQUEST, requests["gone-3-1"]["SpotInstanceRequestId"], "gone")
    ]
    remove(clients, left[0])
    assert list(leftovers(clients, REGION)) == []


def test_ec2_is_a_platform_of_which_something_may_be_left() -> None:
    assert isinstance(make_operating("ec2"), LeavesBehind)
    assert not isinstance(make_operating("sagemaker"), LeavesBehind)
