"""Security: the role, network and keys of trainings. A team's settings say them, and a sweep may say otherwise."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from orchestrator.platforms.base import Complaint
from orchestrator.platforms.network_ids import ids_of
from orchestrator.platforms.sagemaker.instance_types import has_local_disks, types_of_ours
from orchestrator.spec.by_region import FOR_REGIONS, by_region, in_region
from orchestrator.spec.model import Model, shown, wrong
from orchestrator.spec.train.environment import secrets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.spec.sweep import Sweep

AT = ("platforms", "sagemaker")
NONE = "none"
"""The word by which a sweep does without what the settings say."""
_ROLE = re.compile(r"arn:aws[a-z-]*:iam::\d{12}:role/[\w+=,.@/-]+", re.ASCII)
_KEY = re.compile(r"[a-zA-Z0-9:/_{}-]{1,2048}")


def _role(text: str) -> str:
    if not _ROLE.fullmatch(text):
        raise wrong(f"not a role's ARN: {shown(text)}", hint="arn:aws:iam::<account>:role/<name>")
    return text


def _key(text: str) -> str:
    if not _KEY.fullmatch(text):
        raise wrong(f"not a KMS key: {shown(text)}", hint="its ARN, its id, or alias/<name>")
    return text


def _none_is_no_network(value: Any) -> Any:
    return {} if value == NONE else value


class Network(Model):
    """The part of a VPC that trainings of one Region run in."""

    subnets: Annotated[list[str], Field(min_length=1, max_length=16), ids_of("subnet")] = Field(
        description="at most 16, in as many zones as instances may come from"
    )
    security_groups: Annotated[list[str], Field(min_length=1, max_length=5), ids_of("sg")] = Field(
        description="at most 5; instances of one training must reach each other"
    )


KeyByRegion = Annotated[str | dict[str, str], by_region(_key)]


class Security(Model):
    """What stands in `[platforms.sagemaker]` of the settings; and a sweep may say it anew."""

    role: Annotated[str, AfterValidator(_role)] | None = Field(
        default=None, description="ARN of the role of these trainings, instead of the settings'"
    )
    vpc: Annotated[
        dict[str, Network] | None,
        BeforeValidator(_none_is_no_network, json_schema_input_type=dict[str, Network] | Literal["none"] | None),
        FOR_REGIONS,
    ] = Field(default=None, description="Region → the network that trainings run in there; or none")
    volume_kms_key: KeyByRegion | None = Field(
        default=None, description="KMS key of the instances' volumes, with {region} in it or by Region; or none"
    )
    output_kms_key: KeyByRegion | None = Field(
        default=None, description="KMS key of models and outputs in S3, with {region} in it or by Region; or none"
    )
    network_isolation: bool | None = Field(
        default=None, description="whether the script is cut off from all networks but that between its instances"
    )
    encrypt_between_instances: bool | None = Field(
        default=None, description="whether instances of one training talk to each other encrypted"
    )

    def over(self, usual: Security) -> Security:
        """Return what holds: what is said here, and what is usual where nothing is said."""
        said = {name: getattr(self, name) for name in Security.model_fields}
        return usual.model_copy(update={name: value for name, value in said.items() if value is not None})


def check_security(sweep: Sweep, security: Security) -> Iterator[Complaint]:
    """Yield a complaint for each secret that nobody can fetch, and each instance type whose volumes take no key."""
    for name in secrets(sweep.train.environment) if security.network_isolation else ():
        message = f"a training without a network cannot fetch {name}"
        yield Complaint(message, "leave `network_isolation` or the secret out", ("train", "environment", name))
    yield from _check_regions(sweep, security)
    if not _is_asked(security.volume_kms_key):
        return
    for index, name in types_of_ours(sweep).items():
        if has_local_disks(name):
            yield Complaint(
                f"{name} takes no volume_kms_key: its local disks are always encrypted, by a key of their own hardware",
                "leave the type out, or write `volume_kms_key: none` under platforms.sagemaker",
                ("where", "instance_types", index),
            )


def _check_regions(sweep: Sweep, security: Security) -> Iterator[Complaint]:
    """Yield a complaint if a network or a key that is asked for is missing in every Region that the sweep names."""
    gaps = [find_gap(security, region) for region in sweep.where.regions]
    if gaps and all(gaps):
        yield Complaint("; ".join(gaps), "add it, or name another Region", ("where", "regions"))


def find_gap(security: Security, region: str) -> str:
    """Return in words what is asked for, but not given for this Region; nothing if all is."""
    if security.vpc and region not in security.vpc:
        return f"platforms.sagemaker.vpc has no subnets in {region}"
    for name in ("volume_kms_key", "output_kms_key"):
        key = getattr(security, name)
        if not _is_asked(key):
            continue
        there = in_region(key, region)
        if not there:
            return f"platforms.sagemaker.{name} has no key in {region}"
        arn = there.split(":")
        if arn[0] == "arn" and arn[3:4] != [region]:
            return f"the key of platforms.sagemaker.{name} is not one of {region}: {there}"
    return ""


def make_security(security: Security, region: str) -> dict[str, Any]:
    """Return the parts of CreateTrainingJob that say so, as far as anything is asked."""
    made: dict[str, Any] = {}
    network = (security.vpc or {}).get(region)
    if network:
        made["VpcConfig"] = {"Subnets": network.subnets, "SecurityGroupIds": network.security_groups}
    if security.network_isolation:
        made["EnableNetworkIsolation"] = True
    if security.encrypt_between_instances:
        made["EnableInterContainerTrafficEncryption"] = True
    return made


def volume_key(security: Security, region: str) -> dict[str, str]:
    """Return the part of ResourceConfig that names the volumes' key; nothing without one."""
    return _named("VolumeKmsKeyId", security.volume_kms_key, region)


def output_key(security: Security, region: str) -> dict[str, str]:
    """Return the part of OutputDataConfig that names the outputs' key; nothing without one."""
    return _named("KmsKeyId", security.output_kms_key, region)


def _named(name: str, key: str | dict[str, str] | None, region: str) -> dict[str, str]:
    return {name: in_region(key, region)} if key is not None and _is_asked(key) else {}


def _is_asked(key: str | dict[str, str] | None) -> bool:
    return key not in (None, NONE)
