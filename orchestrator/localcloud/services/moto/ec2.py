"""What we use of moto's EC2, SSM and instance profiles. See also `backends.py`.

Instances are ours (ec2/). What they are launched into is moto's: subnets, security groups, images. What they bring
along, volumes and network interfaces, is put there, so that moto lists and filters them.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from moto.iam.models import iam_backends

from orchestrator.localcloud.http.answers import AwsError
from orchestrator.localcloud.services.moto.backends import ACCOUNT, PARTITION

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime


@dataclass(frozen=True)
class Subnet:
    """A subnet, and where it lies."""

    id: str
    vpc: str
    zone: str
    """The name of its availability zone, such as us-east-1a."""
    zone_id: str


@dataclass(frozen=True)
class Image:
    """An AMI, as far as instances show it."""

    id: str
    architecture: str
    root_device: str


@dataclass(frozen=True)
class Profile:
    """An instance profile, and the ARN of its role; empty for a profile without one."""

    id: str
    arn: str
    role: str


@dataclass(frozen=True)
class Holder:
    """An instance, as moto's volumes and interfaces name the one that they are attached to."""

    id: str
    owner_id: str = ACCOUNT
    security_groups: tuple[str, ...] = ()


def find_profile(name: str, arn: str) -> Profile | None:
    """Return the instance profile of a name or an ARN; None when there is none."""
    profiles = list(iam_backends[ACCOUNT][PARTITION].instance_profiles.values())
    found = next((each for each in profiles if name == each.name or arn == each.arn), None)
    return Profile(found.id, found.arn, found.roles[0].arn if found.roles else "") if found else None


def role_of_profile(name: str, arn: str) -> str:
    """Return the ARN of the role of an instance profile; nothing where there is none."""
    found = find_profile(name, arn)
    return found.role if found else ""


class Ec2Store:
    """What a Region's instances are launched into, and what they bring along.

    moto's EC2 is imported on first use: that takes as long as all else of a cloud's start.
    """

    def __init__(self, region: str) -> None:
        self._region = region

    @property
    def _backend(self) -> Any:
        from moto.ec2.models import ec2_backends

        return ec2_backends[ACCOUNT][self._region]

    # What is there

    def subnet(self, name: str) -> Subnet | None:
        """Return a subnet; None when the Region has none of this id."""
        return next((each for each in self.subnets() if each.id == name), None)

    def default_subnets(self) -> list[Subnet]:
        """Return the default subnet of each zone that has one, in the order of the zones."""
        return sorted(self.subnets(default=True), key=lambda subnet: subnet.zone)

    def subnets(self, *, default: bool = False) -> list[Subnet]:
        """Return all subnets, or only the default ones."""
        found = [each for by_id in list(self._backend.subnets.values()) for each in list(by_id.values())]
        return [
            Subnet(each.id, each.vpc_id, each.availability_zone, each.availability_zone_id)
            for each in found
            if each.default_for_az or not default
        ]

    def security_group(self, name: str) -> tuple[str, str] | None:
        """Return the VPC and the name of a security group; None when the Region has none of this id."""
        group = self._backend.get_security_group_from_id(name)
        return (group.vpc_id, group.name) if group else None

    def default_security_group(self, vpc: str) -> str:
        """Return the id of a VPC's own security group."""
        return str(self._backend.get_default_security_group(vpc).id)

    def has_key_pair(self, name: str) -> bool:
        """Return whether the Region has a key pair of this name."""
        return name in self._backend.key_pairs

    def image(self, name: str) -> Image | None:
        """Return an AMI; None when the Region has none of this id."""
        found = self._backend.amis.get(name)
        return Image(name, found.architecture or "x86_64", found.root_device_name) if found else None

    def add_image(self, name: str, facts: Mapping[str, Any], parameter: str) -> None:
        """Add an AMI of Amazon's to the Region, and the SSM parameter that names it. Nothing happens a second time."""
        from moto.ec2.models.amis import Ami
        from moto.ssm.models import Parameter, ssm_backends

        backend = self._backend
        if name in backend.amis:
            return
        backend.amis[name] = Ami(backend, name, public=True, region_name=f"{self._region}a", **facts)
        make: Any = Parameter
        ssm_backends[ACCOUNT][self._region]._parameters[parameter].append(
            make(
                account_id=ACCOUNT,
                name=parameter,
                value=name,
                parameter_type="String",
                description=None,
                allowed_pattern=None,
                keyid=None,
                last_modified_date=backend.amis[name].creation_date,
                version=1,
                data_type="aws:ec2:image",
            )
        )

    # What instances bring along

    def add_interface(self, subnet: str, address: str, groups: Sequence[str], holder: Holder, index: int) -> Any:
        """Make a network interface that is attached to an instance. Return moto's own object."""
        from moto.core.utils import utcnow

        made = self._backend.create_network_interface(subnet, address, group_ids=list(groups))
        made.instance, made.status, made.device_index = holder, "in-use", index
        made.attachment_id = f"eni-attach-{secrets.token_hex(9)[:17]}"
        made.attach_time, made.delete_on_termination = utcnow(), True
        return made

    def add_volume(self, size: int, kind: str, zone: str, holder: Holder, device: str) -> tuple[str, datetime]:
        """Make a volume that is attached to an instance. Return its id, and when it was attached."""
        from moto.ec2.models.elastic_block_store import VolumeAttachment

        made = self._backend.create_volume(size, zone, volume_type=kind)
        attach: Any = VolumeAttachment
        made.attachment = attach(made, holder, device, "attached")
        return str(made.id), made.attachment.attach_time

    def detach(self, resources: Iterable[str]) -> None:
        """Let volumes and network interfaces outlive their instance. What is not there is ignored."""
        for name in resources:
            volume, interface = self._backend.volumes.get(name), self._backend.enis.get(name)
            if volume:
                volume.attachment = None
            if interface:
                interface.instance, interface.status = None, "available"
                interface.attachment_id = interface.attach_time = interface.device_index = None

    def remove(self, resources: Iterable[str]) -> None:
        """Remove volumes and network interfaces, by their ids, with their tags. What is not there is ignored."""
        backend = self._backend
        for name in resources:
            backend.volumes.pop(name, None)
            backend.enis.pop(name, None)
            backend.tags.pop(name, None)

    # Tags

    def tags(self, resource: str) -> dict[str, str]:
        """Return the tags of a resource; none of one that is not there."""
        return dict(self._backend.tags.get(resource, {}))

    def all_tags(self) -> list[tuple[str, str, str]]:
        """Return every tag of the Region: the resource's id, the key, the value."""
        tagged = list(self._backend.tags.items())
        return [(resource, key, value) for resource, tags in tagged for key, value in list(tags.items())]

    def tag(self, resources: Sequence[str], tags: Mapping[str, str]) -> None:
        """Give tags to resources, whether they are moto's or ours. Raise AwsError when there are too many."""
        from moto.ec2.exceptions import EC2ClientError

        try:
            self._backend.create_tags(list(resources), dict(tags))
        except EC2ClientError as refusal:
            raise AwsError(str(refusal.code), str(refusal.message)) from refusal

    def untag(self, resources: Sequence[str], tags: Mapping[str, str | None]) -> None:
        """Take tags from resources: by key, and by value where there is one."""
        self._backend.delete_tags(list(resources), dict(tags))

    def check_exist(self, resources: Sequence[str]) -> None:
        """Raise AwsError for a resource of moto's that is not there."""
        from moto.ec2.exceptions import EC2ClientError

        try:
            self._backend.do_resources_exist(list(resources))
        except EC2ClientError as refusal:
            raise AwsError(str(refusal.code), str(refusal.message)) from refusal
