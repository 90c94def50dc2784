"""EC2's permissions on instances, placement groups and tags; all else of EC2 takes a grant on all.

https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from orchestrator.localcloud.iam.evaluation import Asked
    from orchestrator.localcloud.iam.needs.scene import Scene

RESOURCE_TYPES = {
    "ami": "image",
    "cr": "capacity-reservation",
    "eni": "network-interface",
    "i": "instance",
    "pg": "placement-group",
    "rtb": "route-table",
    "sg": "security-group",
    "sir": "spot-instances-request",
    "snap": "snapshot",
    "subnet": "subnet",
    "vol": "volume",
    "vpc": "vpc",
    "vpce": "vpc-endpoint",
}
"""The types of resources, by the beginnings of their ids."""
_OF_ONE = {
    "CancelCapacityReservation": ("capacity-reservation", "CapacityReservationId"),
    "GetConsoleOutput": ("instance", "InstanceId"),
    "DeleteVolume": ("volume", "VolumeId"),
    "DeleteNetworkInterface": ("network-interface", "NetworkInterfaceId"),
    "DeletePlacementGroup": ("placement-group", "GroupName"),
    "CreatePlacementGroup": ("placement-group", "GroupName"),
}
"""The type of resource that an operation is about, and the parameter that names it."""
_OF_SEVERAL = {
    "TerminateInstances": ("instance", "InstanceId"),
    "CancelSpotInstanceRequests": ("spot-instances-request", "SpotInstanceRequestId"),
}
"""Operations whose parameter names several."""


def needs(scene: Scene) -> Iterator[Asked]:
    """Yield the permissions that a call to EC2 takes."""
    body, operation = scene.document, scene.call.operation
    action = f"ec2:{operation}"
    if operation == "RunInstances":
        yield from _run(scene, body)
    elif operation in ("CreateTags", "DeleteTags"):
        tags = {tag.get("Key", ""): tag.get("Value", "") for tag in body.get("Tag", ())}
        for name in body.get("ResourceId", ()):
            kind = RESOURCE_TYPES.get(name.rpartition("-")[0], "*")
            yield scene.with_tags(scene.ask(action, _arn(scene, kind, name)), tags)
    elif operation in _OF_ONE:
        kind, parameter = _OF_ONE[operation]
        tags = _tags(body).get(kind, {})
        yield scene.with_tags(scene.ask(action, _arn(scene, kind, body[parameter])), tags)
        if tags:
            yield _tagging(scene, kind, tags)
    elif operation in _OF_SEVERAL:
        kind, parameter = _OF_SEVERAL[operation]
        for name in body[parameter]:
            yield scene.ask(action, _arn(scene, kind, name))
    else:
        yield scene.ask(action)


def _run(scene: Scene, body: Mapping[str, Any]) -> Iterator[Asked]:
    """Yield what a launch takes: on all that it uses, on all that it makes, on their tags, and on the role."""
    tags = _tags(body)
    for kind, name in _used(body):
        yield scene.ask("ec2:RunInstances", _arn(scene, kind, name))
    made = ["instance", "network-interface", "volume"]
    if "InstanceMarketOptions" in body:
        made.append("spot-instances-request")
    for kind in made:
        known = _of_instance(body) if kind == "instance" else {}
        asked = scene.ask("ec2:RunInstances", _arn(scene, kind, "*"), **known)
        yield scene.with_tags(asked, tags.get(kind, {}))
    for kind, given in tags.items():
        yield _tagging(scene, kind, given)
    profile = body.get("IamInstanceProfile", {})
    role = scene.role_of(profile.get("Name", ""), profile.get("Arn", "")) if profile else ""
    if role:
        yield scene.pass_role(role, "ec2.amazonaws.com")


def _used(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what a launch uses, each with its type."""
    interfaces = body.get("NetworkInterface", ())
    subnets = [body.get("SubnetId"), *(each.get("SubnetId") for each in interfaces)]
    groups = [
        *body.get("SecurityGroupId", ()),
        *(name for each in interfaces for name in each.get("SecurityGroupId", ())),
    ]
    yield "image", body.get("ImageId", "*")
    for name in sorted({each for each in subnets if each}) or ["*"]:
        yield "subnet", name
    for name in sorted(set(groups)) or ["*"]:
        yield "security-group", name
    if group := body.get("Placement", {}).get("GroupName"):
        yield "placement-group", group
    if "KeyName" in body:
        yield "key-pair", body["KeyName"]
    asked = body.get("CapacityReservationSpecification", {}).get("CapacityReservationTarget", {})
    if reservation := asked.get("CapacityReservationId"):
        yield "capacity-reservation", reservation


def _of_instance(body: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return what conditions can ask of the instance that is to be launched."""
    market = body.get("InstanceMarketOptions", {}).get("MarketType", "on-demand")
    options = body.get("MetadataOptions", {})
    known: dict[str, tuple[str, ...]] = {
        "ec2:instancetype": (body.get("InstanceType", "m1.small"),),
        "ec2:instancemarkettype": (market,),
    }
    if "HttpTokens" in options:
        known["ec2:metadatahttptokens"] = (options["HttpTokens"],)
    if "HttpPutResponseHopLimit" in options:
        known["ec2:metadatahttpputresponsehoplimit"] = (options["HttpPutResponseHopLimit"],)
    if arn := body.get("IamInstanceProfile", {}).get("Arn"):
        known["ec2:instanceprofile"] = (arn,)
    return known


def _tagging(scene: Scene, kind: str, tags: Mapping[str, str]) -> Asked:
    """Return the permission to tag what the call makes."""
    creating = {"ec2:createaction": (scene.call.operation,)}
    return scene.with_tags(scene.ask("ec2:CreateTags", _arn(scene, kind, "*"), **creating), tags)


def _tags(body: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for each in body.get("TagSpecification", ()):
        tags = {tag.get("Key", ""): tag.get("Value", "") for tag in each.get("Tag", ())}
        found.setdefault(each.get("ResourceType", ""), {}).update(tags)
    return {kind: tags for kind, tags in found.items() if tags}


def _arn(scene: Scene, kind: str, name: str) -> str:
    if kind == "image":  # an image's account is not known before it is looked at
        return f"arn:aws:ec2:{scene.call.region}::image/{name}"
    return scene.arn("ec2", f"{kind}/{name}")
