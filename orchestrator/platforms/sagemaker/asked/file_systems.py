"""File systems as fixed channels: FSx for Lustre and EFS, mounted where trainings find their data.

They are never a replica of a dataset: a file system lies in one network, and Lustre's in one zone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, Field

from orchestrator.platforms.base import Complaint
from orchestrator.spec.by_region import region_name
from orchestrator.spec.model import Model
from orchestrator.spec.train.channels import channel_name, find_clash

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from orchestrator.platforms.sagemaker.asked.security import Security
    from orchestrator.spec.sweep import Sweep

AT = ("platforms", "sagemaker", "file_systems")


class FileSystem(Model):
    """A folder of a file system, in one Region."""

    id: str = Field(pattern=r"^fs-[0-9a-f]{8,18}$", description="such as fs-0123456789abcdef0")
    type: Literal["FSxLustre", "EFS"] = Field(description="whose file system it is")
    path: str = Field(
        pattern=r"^/.{0,4095}$", description="begins with /, and for Lustre with the file system's mount name"
    )
    access: Literal["ro", "rw"] = Field(default="ro", description="whether trainings may also write there")


def _names(systems: dict[str, dict[str, FileSystem]]) -> dict[str, dict[str, FileSystem]]:
    for name, by_region in systems.items():
        channel_name(name)
        for region in by_region:
            region_name(region)
    return systems


FileSystems = Annotated[dict[str, Annotated[dict[str, FileSystem], Field(min_length=1)]], AfterValidator(_names)]
"""Channels by name, and where each lies in each Region."""


def check_file_systems(sweep: Sweep, systems: Mapping[str, Any], security: Security) -> Iterator[Complaint]:
    """Yield a complaint for names that are taken, and for file systems without a network to reach them by."""
    names = sweep.train.all_channels
    for name in systems:
        other = find_clash(name, [*names, *systems])
        if name in names:
            yield Complaint(f"there is a channel {name} in train already", "rename one", (*AT, name))
        elif other:
            yield Complaint(f"the channels {name} and {other} have one variable", "rename one", (*AT, name))
    if systems and not security.vpc:
        hint = "say its subnets and security groups under platforms.sagemaker.vpc, here or in sweep.toml"
        yield Complaint("a file system is reached through its own network, and there is none", hint, AT)


def find_missing_system(systems: Mapping[str, Mapping[str, FileSystem]], region: str) -> str:
    """Return in words which file system is not in a Region; nothing if all are."""
    missing = next((name for name, by_region in systems.items() if region not in by_region), "")
    return f"platforms.sagemaker.file_systems.{missing} is not in {region}" if missing else ""


def make_file_systems(systems: Mapping[str, Mapping[str, FileSystem]], region: str) -> list[dict[str, Any]]:
    """Return the channels as CreateTrainingJob takes them."""
    return [
        {"ChannelName": name, "DataSource": {"FileSystemDataSource": _source(by_region[region])}}
        for name, by_region in systems.items()
    ]


def _source(system: FileSystem) -> dict[str, str]:
    return {
        "FileSystemId": system.id,
        "FileSystemType": system.type,
        "DirectoryPath": system.path,
        "FileSystemAccessMode": system.access,
    }
