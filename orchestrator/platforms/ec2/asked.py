"""`platforms.ec2` of a sweep file, over that of the settings: which image, network and role its instances have."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field

from orchestrator.errors import SettingsError
from orchestrator.platforms.base import Complaint
from orchestrator.platforms.network_ids import ids_of
from orchestrator.spec.by_region import FOR_REGIONS, by_region, in_region
from orchestrator.spec.model import Model, shown, wrong
from orchestrator.spec.reading.mistakes import find_mistakes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from orchestrator.spec.sweep import Sweep

KEY = "ec2"
"""The name of this platform, in lanes and in the sweep file."""
AT = ("platforms", KEY)
_AMI = re.compile(r"ami-([0-9a-f]{8}|[0-9a-f]{17})|/[A-Za-z0-9_.\-/{}]{1,500}")
_PROFILE = re.compile(r"[\w+=,.@-]{1,128}|arn:aws[a-z-]*:iam::\d{12}:instance-profile/[\w+=,.@/-]+", re.ASCII)


def _ami(text: str) -> str:
    if not _AMI.fullmatch(text):
        raise wrong(f"not an image: {shown(text)}", hint="ami-…, or an SSM parameter that names one: /aws/service/…")
    return text


def _key_name(text: str) -> str:
    if not re.fullmatch(r"[!-~]([ -~]{0,253}[!-~])?", text):
        raise wrong(f"not the name of a key pair: {shown(text)}", hint="at most 255 ASCII characters; no file, no ARN")
    return text


def _profile(text: str) -> str:
    if not _PROFILE.fullmatch(text):
        raise wrong(f"not an instance profile: {shown(text)}", hint="its name or its ARN")
    return text


class Network(Model):
    """The network that instances of one Region run in."""

    subnets: Annotated[list[str], Field(min_length=1, max_length=16), ids_of("subnet")] = Field(
        description="one for each zone that instances may come from; attempts of a task take turns"
    )
    security_groups: Annotated[list[str], Field(max_length=5), ids_of("sg")] = Field(
        default=[], description="at most 5; without any, the VPC's own: instances of one training must reach each other"
    )


class Machines(Model):
    """What stands in `[platforms.ec2]` of the settings; and a sweep may say it anew."""

    ami: Annotated[str | dict[str, str], by_region(_ami)] | None = Field(
        default=None,
        description="image of the instances, or an SSM parameter that names it, with {region} in it or by Region; by "
        "default AWS's Deep Learning AMI with PyTorch for GPUs, and Amazon Linux 2023 for others",
    )
    network: Annotated[dict[str, Network] | None, FOR_REGIONS] = Field(
        default=None, description="Region → subnets and security groups; by default those of the default VPC"
    )
    instance_profile: Annotated[str, AfterValidator(_profile)] | None = Field(
        default=None, description="name or ARN; by default the profile that is called like the role of trainings"
    )
    key_name: Annotated[str, AfterValidator(_key_name)] | None = Field(
        default=None, description="key pair, for those who want to log in"
    )
    container: bool | None = Field(
        default=None, description="true: train.image runs on the instances, by Docker; else the AMI's own Python does"
    )

    def over(self, usual: Machines) -> Machines:
        """Return what holds: what is said here, and what is usual where nothing is said."""
        said = {name: getattr(self, name) for name in Machines.model_fields}
        return usual.model_copy(update={name: value for name, value in said.items() if value is not None})

    def find_gap(self, region: str) -> str:
        """Return in words what is said of some Regions, but not of this one; nothing if there is no such gap."""
        if self.ami and not in_region(self.ami, region):
            return f"platforms.{KEY}.ami has no image in {region}"
        if self.network and region not in self.network:
            return f"platforms.{KEY}.network has no subnets in {region}"
        return ""


def read_settings(settings: Mapping[str, object]) -> Machines:
    """Return what the settings say. Raise SettingsError for what cannot be in them."""
    for mistake in find_mistakes(Machines, settings, ()):
        raise SettingsError(mistake.message, where=f"platforms.{KEY}", hint=mistake.hint)
    return Machines.model_validate(settings)


def read_asked(sweep: Sweep, usual: Machines) -> Machines:
    """Return what a sweep asks of EC2 alone, over what is usual. It has been checked when the file was read."""
    return Machines.model_validate(sweep.platforms.get(KEY, {})).over(usual)


def check_asked(sweep: Sweep, usual: Machines) -> Iterator[Complaint]:
    """Yield a complaint for each thing that is wrong under `platforms.ec2`, or does not fit the rest."""
    mistakes = find_mistakes(Machines, sweep.platforms.get(KEY, {}), AT)
    for mistake in mistakes:
        yield Complaint(mistake.message, mistake.hint, mistake.at)
    if mistakes:
        return
    asked = read_asked(sweep, usual)
    if asked.container and sweep.train.image is None:
        yield Complaint("there is no image to run", "write `image:` under train", (*AT, "container"))
    if asked.container and sweep.train.parallel == "mpi" and max(sweep.train.instance_counts) > 1:
        message = "mpirun reaches no containers on other instances"
        yield Complaint(message, "use torchrun, or leave `container` out", (*AT, "container"))
