"""The permissions that EC2's calls take, as the Service Authorization Reference lists them.

docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from orchestrator.localcloud.http import forms
from orchestrator.localcloud.http.call import Call
from orchestrator.localcloud.iam.needs.find import needs
from orchestrator.localcloud.iam.needs.scene import Scene

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.localcloud.iam.evaluation import Asked

HERE = "arn:aws:ec2:eu-west-1:123"
LAUNCH = {
    "ImageId": "ami-1",
    "InstanceType": "g5.xlarge",
    "NetworkInterface.1.SubnetId": "subnet-1",
    "NetworkInterface.1.SecurityGroupId.1": "sg-1",
    "NetworkInterface.2.SubnetId": "subnet-1",
    "NetworkInterface.2.SecurityGroupId.1": "sg-1",
    "Placement.GroupName": "near",
    "IamInstanceProfile.Name": "node",
    "InstanceMarketOptions.MarketType": "spot",
    "MetadataOptions.HttpTokens": "required",
    "TagSpecification.1.ResourceType": "instance",
    "TagSpecification.1.Tag.1.Key": "run",
    "TagSpecification.1.Tag.1.Value": "r1",
}


def asked(operation: str, form: Mapping[str, str], tags: Mapping[str, str] | None = None) -> dict[str, list[Asked]]:
    """Return the permissions that a call takes, by action."""
    body = urlencode(form).encode()
    scene = Scene(
        Call("ec2", "eu-west-1", operation, body, {}),
        "123",
        forms.read(body),
        tags_of=lambda _: tags or {},
        has_object=lambda *_: False,
        role_of=lambda name, _: f"arn:aws:iam::123:role/{name}-role",
    )
    found: dict[str, list[Asked]] = {}
    for each in needs(scene):
        found.setdefault(each.action, []).append(each)
    return found


def test_a_launch_takes_a_grant_on_all_that_it_uses_and_makes() -> None:
    run = {each.resource for each in asked("RunInstances", LAUNCH)["ec2:RunInstances"]}
    used = {f"{HERE}:subnet/subnet-1", f"{HERE}:security-group/sg-1", f"{HERE}:placement-group/near"}
    made = {f"{HERE}:{kind}/*" for kind in ("instance", "network-interface", "volume", "spot-instances-request")}
    assert run == {"arn:aws:ec2:eu-west-1::image/ami-1"} | used | made


def test_conditions_know_the_type_the_market_and_the_tags_of_what_is_launched() -> None:
    (instance,) = [each for each in asked("RunInstances", LAUNCH)["ec2:RunInstances"] if ":instance/" in each.resource]
    assert instance.context["ec2:instancetype"] == ("g5.xlarge",)
    assert instance.context["ec2:instancemarkettype"] == ("spot",)
    assert instance.context["ec2:metadatahttptokens"] == ("required",)
    assert instance.context["aws:requesttag/run"] == ("r1",)


def test_who_tags_and_hands_over_a_role_needs_grants_of_these_too() -> None:
    found = asked("RunInstances", LAUNCH)
    (tagging,) = found["ec2:CreateTags"]
    assert (tagging.resource, tagging.context["ec2:createaction"]) == (f"{HERE}:instance/*", ("RunInstances",))
    (passing,) = found["iam:PassRole"]
    assert passing.resource == "arn:aws:iam::123:role/node-role"
    assert passing.context["iam:passedtoservice"] == ("ec2.amazonaws.com",)
    assert "iam:PassRole" not in asked("RunInstances", {"ImageId": "ami-1"})


def test_what_is_ended_is_looked_at_with_its_tags() -> None:
    found = asked("TerminateInstances", {"InstanceId.1": "i-1", "InstanceId.2": "i-2"}, {"run": "r1"})
    ended = found["ec2:TerminateInstances"]
    assert [each.resource for each in ended] == [f"{HERE}:instance/i-1", f"{HERE}:instance/i-2"]
    assert ended[0].context["aws:resourcetag/run"] == ("r1",)


def test_tags_go_to_resources_of_their_types() -> None:
    form = {"ResourceId.1": "vol-1", "ResourceId.2": "sir-1", "Tag.1.Key": "a", "Tag.1.Value": "b"}
    found = asked("CreateTags", form)["ec2:CreateTags"]
    assert [each.resource for each in found] == [f"{HERE}:volume/vol-1", f"{HERE}:spot-instances-request/sir-1"]
    assert found[0].context["aws:tagkeys"] == ("a",)


def test_who_looks_needs_a_grant_on_all() -> None:
    (looking,) = asked("DescribeInstances", {})["ec2:DescribeInstances"]
    assert looking.resource == "*"
