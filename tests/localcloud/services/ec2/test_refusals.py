"""Launches that AWS refuses, each with AWS's code: AWSEC2/latest/APIReference/errors-overview.html."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.localcloud.http.answers import AwsError
from orchestrator.localcloud.services.ec2.calls.request_checks import check_request
from orchestrator.localcloud.services.market.price_table import is_offered
from tests.localcloud.services.ec2.conftest import refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.localcloud import LocalCloud
    from tests.localcloud.services.ec2.conftest import InstanceDesk

TWO_CARDS = [{"DeviceIndex": 0}, {"DeviceIndex": 1, "NetworkCardIndex": 1, "InterfaceType": "efa-only"}]
PUBLIC = [{**each, "AssociatePublicIpAddress": True} for each in TWO_CARDS]
SPACED = [{"ResourceType": "instance", "Tags": [{"Key": "my team", "Value": "a"}]}]
RESERVED = [{"ResourceType": "instance", "Tags": [{"Key": "aws:mine", "Value": "a"}]}]
SPOT = {"MarketType": "spot"}
RARE = ("p4d.24xlarge", "p5.48xlarge", "trn1.2xlarge")
LACKING = next(name for name in RARE if not is_offered(name, "us-east-1"))


WHOLE = {"ImageId": "ami-1", "InstanceType": "c5.large", "MinCount": 1, "MaxCount": 1}
SHOWS_TAGS = {"InstanceMetadataTags": "enabled"}


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"InstanceType": "x9.huge"}, "InvalidParameterValue"),
        ({"MinCount": 3, "MaxCount": 2}, "InvalidParameterValue"),
        ({"UserData": base64.b64encode(b"#" * 16_385).decode()}, "InvalidParameterValue"),
        ({"UserData": "no base64"}, "InvalidUserData.Malformed"),
        ({"TagSpecifications": SPACED, "MetadataOptions": SHOWS_TAGS}, "InvalidParameterValue"),
        ({"TagSpecifications": RESERVED}, "InvalidParameterValue"),
        ({"MetadataOptions": {"HttpPutResponseHopLimit": 65}}, "InvalidParameterValue"),
        ({"SubnetId": "subnet-1", "NetworkInterfaces": TWO_CARDS}, "InvalidParameterCombination"),
        ({"SecurityGroupIds": ["sg-1"], "NetworkInterfaces": TWO_CARDS}, "InvalidParameterCombination"),
        ({"NetworkInterfaces": PUBLIC}, "InvalidParameterCombination"),
        (
            {"InstanceMarketOptions": {**SPOT, "SpotOptions": {"InstanceInterruptionBehavior": "stop"}}},
            "InvalidParameterCombination",
        ),
        ({"LaunchTemplate": {"LaunchTemplateName": "mine"}}, "UnsupportedOperation"),
    ],
)
def test_a_request_is_refused_for_what_it_says(changes: dict[str, Any], code: str) -> None:
    check_request(WHOLE)
    check_request(WHOLE | {"UserData": base64.b64encode(b"#" * 16_384).decode(), "TagSpecifications": SPACED})
    with pytest.raises(AwsError) as refusal:
        check_request(WHOLE | changes)
    assert refusal.value.code == code


def test_a_launch_is_refused_for_what_is_not_there(desk: InstanceDesk) -> None:
    for changes, code in (
        ({"ImageId": "ami-0123456789abcdef0"}, "InvalidAMIID.NotFound"),
        ({"ImageId": "mine"}, "InvalidAMIID.Malformed"),
        ({"ImageId": None}, "MissingParameter"),
        ({"SubnetId": "subnet-0123456789abcdef0"}, "InvalidSubnetID.NotFound"),
        ({"SecurityGroupIds": ["sg-0123456789abcdef0"]}, "InvalidGroup.NotFound"),
        ({"IamInstanceProfile": {"Name": "nobody"}}, "InvalidParameterValue"),
        ({"KeyName": "lost"}, "InvalidKeyPair.NotFound"),
        ({"Placement": {"GroupName": "nowhere"}}, "InvalidPlacementGroup.Unknown"),
        ({"Placement": {"AvailabilityZone": "us-east-1z"}}, "InvalidParameterValue"),
        ({"ClientToken": "t" * 65}, "InvalidParameterValue"),
        ({"DryRun": True}, "DryRunOperation"),
        ({"InstanceMarketOptions": {**SPOT, "SpotOptions": {"MaxPrice": "0.0001"}}}, "SpotMaxPriceTooLow"),
        ({"InstanceType": LACKING}, "Unsupported"),
    ):
        assert (changes, desk.refused(**changes)) == (changes, code)
    assert desk.mine() == []


@pytest.mark.long
def test_a_tag_that_metadata_cannot_show_is_taken_where_it_shows_none(desk: InstanceDesk) -> None:
    """UserGuide/work-with-tags-in-IMDS.html: with tags in metadata, such a key fails the launch."""
    (launched,) = desk.launch(TagSpecifications=SPACED, MetadataOptions={"InstanceMetadataTags": "disabled"})
    assert launched["Tags"] == [{"Key": "my team", "Value": "a"}]
    desk.ec2.create_tags(Resources=[launched["InstanceId"]], Tags=[{"Key": "Name", "Value": desk.name}])


def test_a_zone_without_capacity_is_named_and_another_has_some(desk: InstanceDesk, cloud: LocalCloud) -> None:
    """UserGuide/troubleshooting-launch.html: InsufficientInstanceCapacity."""
    zone, other = "us-east-1a", "us-east-1b"
    with cloud.fault("capacity", region=desk.region, zone=zone, instance_type="c5.large", seconds=3600):
        assert desk.refused(Placement={"AvailabilityZone": zone}) == "InsufficientInstanceCapacity"
        (there,) = desk.launch(Placement={"AvailabilityZone": other})
        (anywhere,) = desk.launch()
        assert there["Placement"]["AvailabilityZone"] == other
        assert anywhere["Placement"]["AvailabilityZone"] != zone
        desk.launch(Placement={"AvailabilityZone": zone}, InstanceType="c5.xlarge")
    desk.launch(Placement={"AvailabilityZone": zone})


@pytest.mark.long
def test_capacity_is_all_or_nothing(desk: InstanceDesk, cloud: LocalCloud) -> None:
    """APIReference/API_RunInstances.html: "Amazon EC2 launches no instances" below the minimum."""
    with cloud.fault("capacity", region=desk.region, instance_type="c5.large", purchase="spot", seconds=3600):
        few = {"MinCount": 2, "MaxCount": 2}
        assert desk.refused(**few, InstanceMarketOptions=SPOT) == "InsufficientInstanceCapacity"
        assert desk.mine() == []
        assert len(desk.launch(count=2)) == 2


@pytest.mark.long
def test_vcpus_are_counted_by_family_and_purchase(desk: InstanceDesk, cloud: LocalCloud) -> None:
    """instancetypes/ec2-instance-quotas.html; g5.xlarge and g6.xlarge have 4 vCPUs each."""
    with cloud.fault("quota", region=desk.region, instance_type="g5.xlarge", value=8):
        desk.launch(InstanceType="g5.xlarge")
        assert desk.refused(InstanceType="g6.2xlarge") == "VcpuLimitExceeded"
        spot = {"InstanceMarketOptions": SPOT}
        assert desk.refused(InstanceType="g5.4xlarge", **spot) == "MaxSpotInstanceCountExceeded"
        (launched,) = desk.launch(InstanceType="g6.xlarge")
        few = desk.request() | {"InstanceType": "g5.xlarge", "MinCount": 1, "MaxCount": 5, **spot}
        assert len(desk.send(**few)["Instances"]) == 2
        desk.launch(InstanceType="c5.large")
        desk.in_state("running", launched["InstanceId"])
        desk.ec2.terminate_instances(InstanceIds=[launched["InstanceId"]])
        assert desk.refused(InstanceType="g6.xlarge") == "VcpuLimitExceeded"
        desk.in_state("terminated", launched["InstanceId"])
        cloud.advance(60)
        desk.launch(InstanceType="g6.xlarge")


def test_service_quotas_tells_the_same_limits(client: Callable[..., Any], cloud: LocalCloud) -> None:
    quotas = client("service-quotas", "eu-west-1")

    def value(code: str) -> float:
        return float(quotas.get_service_quota(ServiceCode="ec2", QuotaCode=code)["Quota"]["Value"])

    with cloud.fault("quota", region="eu-west-1", instance_type="p4d.24xlarge", purchase="spot", value=96):
        assert (value("L-7212CCBC"), value("L-417A185B")) == (96.0, 384.0)
    assert value("L-7212CCBC") == 384.0
    names = {each["QuotaName"] for each in quotas.list_service_quotas(ServiceCode="ec2")["Quotas"]}
    assert {"Running On-Demand G and VT instances", "All G and VT Spot Instance Requests"} <= names


def test_what_is_not_there_cannot_be_ended_or_tagged(desk: InstanceDesk) -> None:
    lost = "i-0123456789abcdef0"
    assert refused(desk.ec2.terminate_instances, InstanceIds=[lost]) == "InvalidInstanceID.NotFound"
    assert refused(desk.ec2.terminate_instances, InstanceIds=["mine"]) == "InvalidInstanceID.Malformed"
    tags = [{"Key": "a", "Value": "b"}]
    assert refused(desk.ec2.create_tags, Resources=[lost], Tags=tags) == "InvalidInstanceID.NotFound"


def test_what_would_not_run_is_refused(desk: InstanceDesk) -> None:
    assert refused(desk.ec2.stop_instances, InstanceIds=["i-1"]) == "UnsupportedOperation"
    assert refused(desk.ec2.request_spot_instances, InstanceCount=1) == "UnsupportedOperation"


def test_placement_groups_are_there_once_and_stay_while_in_use(desk: InstanceDesk) -> None:
    """UserGuide/placement-groups.html; APIReference/API_DeletePlacementGroup.html."""
    tags = [{"ResourceType": "placement-group", "Tags": [{"Key": "run", "Value": desk.name}]}]
    desk.ec2.create_placement_group(GroupName=desk.name, Strategy="cluster", TagSpecifications=tags)
    again = refused(desk.ec2.create_placement_group, GroupName=desk.name, Strategy="cluster")
    assert again == "InvalidPlacementGroup.Duplicate"
    (launched,) = desk.launch(Placement={"GroupName": desk.name})
    by_tag = [{"Name": "tag:run", "Values": [desk.name]}]
    (group,) = desk.ec2.describe_placement_groups(Filters=by_tag)["PlacementGroups"]
    assert launched["Placement"]["GroupId"] == group["GroupId"]
    assert refused(desk.ec2.delete_placement_group, GroupName=desk.name) == "InvalidPlacementGroup.InUse"
    desk.in_state("running", launched["InstanceId"])
    desk.end()
    desk.in_state("terminated", launched["InstanceId"])
    desk.ec2.delete_placement_group(GroupName=desk.name)
    assert refused(desk.ec2.describe_placement_groups, GroupNames=[desk.name]) == "InvalidPlacementGroup.Unknown"


@pytest.mark.long
def test_tags_of_all_that_a_launch_makes(desk: InstanceDesk) -> None:
    name = desk.start()
    desk.ec2.create_tags(Resources=[name], Tags=[{"Key": "late", "Value": "yes"}])
    named = [{"Name": "value", "Values": [desk.name]}]
    kinds = {each["ResourceType"] for each in desk.ec2.describe_tags(Filters=named)["Tags"]}
    assert kinds == {"instance", "volume", "network-interface"}
    mine = [{"Name": "resource-id", "Values": [name]}]
    assert {each["Key"] for each in desk.ec2.describe_tags(Filters=mine)["Tags"]} == {"Name", "late"}
    desk.ec2.delete_tags(Resources=[name], Tags=[{"Key": "late"}])
    assert {each["Key"] for each in desk.ec2.describe_tags(Filters=mine)["Tags"]} == {"Name"}
