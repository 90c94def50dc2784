"""What EC2's instance types are made of, as AWS tells it. SageMaker's are the same machines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from orchestrator.aws.answers import understood
from orchestrator.aws.errors import aws_errors
from orchestrator.platforms.feed import Feed, Reading
from orchestrator.wire.shapes import shape

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from orchestrator.aws.session import Clients

_ASKING = "describe the instance types"
_GIGABITS = re.compile(r"(?:(\d+)x )?(\d+(?:\.\d+)?) Gigabit")
_NO_GPUS = ("Habana",)
"""Makers of accelerators that AWS lists among GPUs, and that are none."""
_TRAINIUM = "Trainium"
_MIB_PER_GIB = 1024


def read(clients: Clients, region: str, now: datetime) -> Reading:  # noqa: ARG001 (a type is the same at any time)
    """Return what each type is made of that EC2 has in this Region."""
    with understood(_ASKING, where=region):
        rows = [_row(found) for found in _types(clients, region)]
    return Reading(tuple(sorted(rows, key=lambda row: str(row["instance_type"]))))


def _types(clients: Clients, region: str) -> Iterator[dict[str, Any]]:
    with aws_errors(_ASKING, where=region):
        for page in clients.client("ec2", region).get_paginator("describe_instance_types").paginate():
            yield from page["InstanceTypes"]


def _row(found: dict[str, Any]) -> dict[str, object]:
    name, network = str(found["InstanceType"]), found.get("NetworkInfo", {})
    chip, chips, memory = _accelerators(found) or (None, None, None)
    known = shape(name)
    if chip and known and known.chip:
        chip = known.chip.name  # AWS's lists do not call a chip as its announcements and our sweep files do
    return {
        "instance_type": name,
        "vcpus": int(found["VCpuInfo"]["DefaultVCpus"]),
        "memory_gib": found["MemoryInfo"]["SizeInMiB"] / _MIB_PER_GIB,
        "chip": chip,
        "chips": chips,
        "chip_memory_gib": memory,
        "gbps": _gigabits(str(network.get("NetworkPerformance", ""))),
        "efa": bool(network.get("EfaSupported")),
    }


def _accelerators(found: dict[str, Any]) -> tuple[str, int, int] | None:
    """Return the name, the number and the memory of each of a type's accelerators; None if it has none that train."""
    gpus = [one for one in found.get("GpuInfo", {}).get("Gpus", []) if one.get("Manufacturer") not in _NO_GPUS]
    chips = [one for one in found.get("NeuronInfo", {}).get("NeuronDevices", []) if one["Name"].startswith(_TRAINIUM)]
    for one in (*gpus, *chips):
        if one.get("Count"):
            return str(one["Name"]), int(one["Count"]), int(one["MemoryInfo"]["SizeInMiB"]) // _MIB_PER_GIB
    return None


def _gigabits(performance: str) -> float | None:
    """Return the most that a network carries, from words such as `Up to 10 Gigabit`; None where they have no number."""
    match = _GIGABITS.search(performance)
    return int(match[1] or 1) * float(match[2]) if match else None


FEED = Feed(
    name="instance-types",
    kind="instance_types",
    about="what instance types are made of",
    actions=("ec2:DescribeInstanceTypes",),
    read=read,
)
