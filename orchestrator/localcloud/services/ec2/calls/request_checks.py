"""The requests that RunInstances refuses for what they say, in AWS's words.

The codes: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.http.answers import AwsError
from orchestrator.localcloud.services.ec2.vcpus import vcpus_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Request = dict[str, Any]

_MOST_USER_DATA = 16_384
"""Bytes: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/user-data.html."""
_SHOWN_KEY = re.compile(r"[0-9a-zA-Z\-_+=,.@:]{1,255}")
"""The tag keys that the metadata service can show: .../UserGuide/work-with-tags-in-IMDS.html."""
_RESERVED_KEYS = (".", "..", "_index")
_TAGGED = ("instance", "volume", "network-interface", "spot-instances-request")
_NOT_PLAYED = (
    "LaunchTemplate",
    "HibernationOptions",
    "EnclaveOptions",
    "SecondaryInterfaces",
    "LicenseSpecifications",
)
"""Parameters that change what is launched, and that the local cloud does not know."""


def check_request(request: Request) -> None:
    """Raise AwsError for a request that AWS refuses whatever the account has."""
    if played := [name for name in _NOT_PLAYED if name in request]:
        raise AwsError("UnsupportedOperation", f"the local cloud launches no instances with {played[0]}")
    if vcpus_of(request.get("InstanceType", "m1.small")) is None:
        raise AwsError("InvalidParameterValue", f"Invalid value '{request.get('InstanceType')}' for InstanceType.")
    if not 1 <= request["MinCount"] <= request["MaxCount"]:
        raise AwsError("InvalidParameterValue", "MinCount must be at least 1, and at most MaxCount")
    user_data(request)
    _check_reservation(request)
    _check_market(request.get("InstanceMarketOptions", {}))
    _check_interfaces(request)
    for kind, tags in tags_of(request).items():
        if kind not in _TAGGED:
            raise AwsError(
                "InvalidParameterValue", f"'{kind}' is not a valid taggable resource type for this operation."
            )
        _check_tags(tags)
    if request.get("MetadataOptions", {}).get("InstanceMetadataTags") == "enabled":
        check_shown(tags_of(request).get("instance", {}))
    hops = request.get("MetadataOptions", {}).get("HttpPutResponseHopLimit", 1)
    if not 1 <= hops <= 64:
        raise AwsError("InvalidParameterValue", f"Invalid value '{hops}' for HttpPutResponseHopLimit: from 1 to 64")


def user_data(request: Request) -> bytes:
    """Return a request's user data. Raise AwsError for too much of it, or for what is no base64."""
    try:
        data = base64.b64decode(request.get("UserData", ""), validate=True)
    except binascii.Error as error:
        raise AwsError("InvalidUserData.Malformed", "Invalid BASE64 encoding of user data.") from error
    if len(data) > _MOST_USER_DATA:
        raise AwsError("InvalidParameterValue", f"User data is limited to {_MOST_USER_DATA} bytes")
    return data


def tags_of(request: Request) -> dict[str, dict[str, str]]:
    """Return the tags that a request gives, by the type of resource that gets them."""
    found: dict[str, dict[str, str]] = {}
    for each in request.get("TagSpecifications", ()):
        tags = {tag["Key"]: tag.get("Value", "") for tag in each.get("Tags", ())}
        found.setdefault(each.get("ResourceType", ""), {}).update(tags)
    return found


def check_shown(tags: Mapping[str, str]) -> None:
    """Raise AwsError for a tag key that the metadata service cannot show: such a launch fails."""
    for key in tags:
        if not _SHOWN_KEY.fullmatch(key) or key in _RESERVED_KEYS:
            raise AwsError(
                "InvalidParameterValue",
                f"'{key}' is not a valid tag key. Tag keys must match pattern ([0-9a-zA-Z\\-_+=,.@:]{{1,255}}), and "
                "must not be a reserved name ('.', '..', '_index')",
            )


def groups_of(request: Request) -> list[str]:
    """Return the security groups that a request asks for, once each."""
    return list(dict.fromkeys(_groups(request)))


def _groups(request: Request) -> Iterator[str]:
    yield from request.get("SecurityGroupIds", ())
    for each in request.get("NetworkInterfaces", ()):
        yield from each.get("Groups", ())


def _check_tags(tags: Mapping[str, str]) -> None:
    if len(tags) > 50:
        raise AwsError("TagLimitExceeded", "The maximum number of Tags for a resource has been reached.")
    for key, value in tags.items():
        if key.lower().startswith("aws:"):
            raise AwsError(
                "InvalidParameterValue",
                f"Value ( {key} ) for parameter key is invalid. Tag keys starting "
                "with 'aws:' are reserved for internal use",
            )
        if not 1 <= len(key) <= 128 or len(value) > 256:
            raise AwsError("InvalidParameterValue", f"Tag {key!r}: a key has 1 to 128 characters, a value at most 256")


def _check_reservation(request: Request) -> None:
    """Raise AwsError for a capacity reservation that cannot be asked for so."""
    asked = request.get("CapacityReservationSpecification", {})
    target, preference = asked.get("CapacityReservationTarget", {}), asked.get("CapacityReservationPreference", "open")
    if "CapacityReservationResourceGroupArn" in target or preference not in ("open", "none"):
        raise AwsError(
            "UnsupportedOperation", "the local cloud takes a reservation's id, and preferences open and none"
        )
    if target and "CapacityReservationPreference" in asked:
        raise AwsError(
            "InvalidParameterCombination",
            "CapacityReservationPreference and CapacityReservationTarget may not be specified on the same request",
        )
    if target and request.get("InstanceMarketOptions"):
        raise AwsError("InvalidParameterCombination", "Spot Instances cannot run in a Capacity Reservation")


def _check_market(market: Mapping[str, Any]) -> None:
    kind = market.get("MarketType", "")
    if not market:
        return
    if kind != "spot":
        raise AwsError("UnsupportedOperation", f"the local cloud has no market of type {kind!r}: it has spot")
    spot = market.get("SpotOptions", {})
    if spot.get("SpotInstanceType", "one-time") != "one-time":
        raise AwsError("UnsupportedOperation", "the local cloud has no persistent spot requests")
    if spot.get("InstanceInterruptionBehavior", "terminate") != "terminate":
        raise AwsError(
            "InvalidParameterCombination",
            "The interruption behavior of a one-time Spot request must be 'terminate'.",
        )


def _check_interfaces(request: Request) -> None:
    interfaces = request.get("NetworkInterfaces", [])
    if not interfaces:
        return
    for parameter, word in (("SubnetId", "subnet ID"), ("SecurityGroupIds", "security groups")):
        if parameter in request:
            raise AwsError(
                "InvalidParameterCombination",
                f"Network interfaces and an instance-level {word} may not be specified on the same request",
            )
    if len(interfaces) > 1 and any("AssociatePublicIpAddress" in each for each in interfaces):
        raise AwsError(
            "InvalidParameterCombination",
            "The associatePublicIPAddress parameter cannot be specified when launching with multiple network "
            "interfaces.",
        )
    if len({each.get("SubnetId") for each in interfaces}) > 1:
        raise AwsError("InvalidParameterCombination", "the local cloud puts all interfaces into one subnet")
    places = [(each.get("NetworkCardIndex", 0), each.get("DeviceIndex", 0)) for each in interfaces]
    if len(set(places)) < len(places):
        raise AwsError("InvalidParameterValue", "Each network interface requires a unique device index.")
    if (0, 0) not in places:
        raise AwsError("InvalidParameterValue", "A network interface with device index 0 on card 0 is required.")
