"""What a RunInstances asks for, found in the account: subnet, image, profile, security groups, placement group."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.http.answers import AwsError
from orchestrator.localcloud.services.ec2.calls.request_checks import groups_of
from orchestrator.localcloud.services.ec2.capacity import Pool
from orchestrator.localcloud.services.ec2.images import add_deep_learning_images
from orchestrator.localcloud.services.ec2.instance import Reservation
from orchestrator.localcloud.services.moto.ec2 import find_profile

if TYPE_CHECKING:
    from orchestrator.localcloud.services.ec2.capacity import Capacity
    from orchestrator.localcloud.services.moto.ec2 import Ec2Store, Image, Profile, Subnet

Request = dict[str, Any]


class Launch:
    """Finds what requests of one Region ask for. Raises EC2's refusals of what is not there."""

    def __init__(self, region: str, store: Ec2Store, capacity: Capacity) -> None:
        self._region = region
        self._store = store
        self._capacity = capacity

    def reservation(self, request: Request, now: float) -> Reservation:
        """Return the reservation that a request becomes, without instances. The capacity has been checked."""
        image = self._image(str(request.get("ImageId", "")))
        profile = _profile(request.get("IamInstanceProfile", {}))
        subnet = self.subnet(request)
        key = request.get("KeyName", "")
        if key and not self._store.has_key_pair(key):
            raise AwsError("InvalidKeyPair.NotFound", f"The key pair '{key}' does not exist")
        return Reservation(
            id=f"r-0{secrets.token_hex(8)}",
            region=self._region,
            request=request,
            launched=now,
            subnet=subnet,
            image=image,
            profile=profile,
            groups=self._groups(request, subnet),
        )

    def subnet(self, request: Request) -> Subnet:
        """Return the subnet that a request names, or a default one of a zone that has such instances."""
        named = request.get("SubnetId") or next(
            (each["SubnetId"] for each in request.get("NetworkInterfaces", ()) if "SubnetId" in each), ""
        )
        if named:
            found = self._store.subnet(named)
            if found is None:
                raise AwsError("InvalidSubnetID.NotFound", f"The subnet ID '{named}' does not exist")
            return found
        subnets = self._store.default_subnets()
        if not subnets:
            raise AwsError(
                "VPCIdNotSpecified",
                "No default VPC for this user. GroupName is only supported for EC2-Classic and default VPC.",
            )
        return self._of_default(subnets, request)

    def _of_default(self, subnets: list[Subnet], request: Request) -> Subnet:
        zone = request.get("Placement", {}).get("AvailabilityZone", "")
        if zone:
            found = next((each for each in subnets if each.zone == zone), None)
            if found is None:
                raise AwsError("InvalidParameterValue", f"Invalid availability zone: [{zone}]")
            return found
        spot = request.get("InstanceMarketOptions", {}).get("MarketType") == "spot"
        pools = {each: Pool(self._region, each.zone, request["InstanceType"], spot) for each in subnets}
        return next((each for each, pool in pools.items() if self._capacity.has(pool)), subnets[0])

    def _image(self, name: str) -> Image:
        if not name:
            raise AwsError("MissingParameter", "The request must contain the parameter ImageId")
        if not name.startswith("ami-"):
            raise AwsError("InvalidAMIID.Malformed", f'Invalid id: "{name}" (expecting "ami-...")')
        add_deep_learning_images(self._store, self._region)
        found = self._store.image(name)
        if found is None:
            raise AwsError("InvalidAMIID.NotFound", f"The image id '[{name}]' does not exist")
        return found

    def _groups(self, request: Request, subnet: Subnet) -> dict[str, str]:
        found = {}
        for name in groups_of(request) or [self._store.default_security_group(subnet.vpc)]:
            group = self._store.security_group(name)
            if group is None:
                raise AwsError("InvalidGroup.NotFound", f"The security group '{name}' does not exist")
            vpc, title = group
            if vpc != subnet.vpc:
                raise AwsError(
                    "InvalidParameter", f"Security group {name} and subnet {subnet.id} belong to different networks."
                )
            found[name] = title
        return found


def _profile(asked: dict[str, str]) -> Profile | None:
    """Return the instance profile that a request names; None where it names none."""
    if not asked:
        return None
    name, arn = asked.get("Name", ""), asked.get("Arn", "")
    found = find_profile(name, arn)
    if found is None:
        part, value, words = ("arn", arn, "ARN") if arn else ("name", name, "name")
        raise AwsError(
            "InvalidParameterValue",
            f"Value ({value}) for parameter iamInstanceProfile.{part} is invalid. Invalid IAM Instance Profile {words}",
        )
    return found
