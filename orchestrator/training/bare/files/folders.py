"""The folders below /opt/ml: what is in them when the training starts, and what is kept of them afterwards.

It travels into the training: standard library only.
"""

from __future__ import annotations

import io
import json
import tarfile
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchestrator.training.bare.files.bucket import Uri
from orchestrator.training.bare.files.transfer import fetch, find_files, send
from orchestrator.training.starter.machine import ENDED_BY

if TYPE_CHECKING:
    from orchestrator.training.bare.assignment import Assignment
    from orchestrator.training.bare.files.bucket import Bucket
    from orchestrator.training.bare.together.place import Place

_FOLDERS = ("input/config", "input/data", "model", "output/data", "code", "checkpoints")
_GROUP = "homogeneousCluster"
"""SageMaker's name for the one group of instances that a training without groups has."""
_KEPT = {"model": "model", "output": "output/data"}
"""The folders that are kept, by the names of their archives."""
_LONGEST_REASON = 1024


def write_folders(base: Path, assignment: Assignment, place: Place, hosts: list[str]) -> None:
    """Make the folders, and write the files that say what the training is: hyperparameters, machines, channels."""
    for name in _FOLDERS:
        (base / name).mkdir(parents=True, exist_ok=True)
    group = {"instance_group_name": _GROUP, "instance_type": assignment.instance_type, "hosts": hosts}
    channels = {
        name: {
            "TrainingInputMode": "File",
            "S3DistributionType": "ShardedByS3Key" if channel.sharded else "FullyReplicated",
            "RecordWrapperType": "None",
        }
        for name, channel in assignment.channels.items()
    }
    resources = {
        "current_host": hosts[place.index],
        "current_instance_type": assignment.instance_type,
        "current_group_name": _GROUP,
        "hosts": hosts,
        "instance_groups": [group],
        "network_interface_name": place.interface,
    }
    config = base / "input" / "config"
    _write_json(config / "hyperparameters.json", assignment.hyperparameters)
    _write_json(config / "resourceconfig.json", resources)
    _write_json(config / "inputdataconfig.json", channels)


def fetch_data(bucket: Bucket, base: Path, assignment: Assignment, place: Place) -> int:
    """Fetch the code and all channels; return how many bytes the channels have. Raise S3Failed or OSError."""
    if assignment.sources:
        unpack(bucket.read(Uri.parse(assignment.sources)), base / "code")
    size = 0
    for name, channel in sorted(assignment.channels.items()):
        folder = base / "input" / "data" / name
        folder.mkdir(parents=True, exist_ok=True)
        size += fetch(bucket, find_files(bucket, channel, folder, place.index, assignment.instances))
    return size


def unpack(archive: bytes, folder: Path) -> None:
    """Unpack a .tar.gz into a folder; nothing of it may lead out of there."""
    folder.mkdir(parents=True, exist_ok=True)
    safe: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        opened.extractall(str(folder), **safe)


def keep(bucket: Bucket, base: Path, output: str, index: int) -> str:
    """Upload what the training leaves behind, and return the address of its model; empty if it left none.

    Raise S3Failed or OSError.
    """
    addresses = {}
    for name, folder in _KEPT.items():
        whose = f"-{index}" if index else ""
        if _has_files(base / folder):
            uri = Uri.parse(f"{output}/output/{name}{whose}.tar.gz")
            with tempfile.NamedTemporaryFile(suffix=".tar.gz") as packed:
                with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=1) as archive:
                    for file in sorted((base / folder).iterdir()):
                        archive.add(str(file), file.name)
                packed.flush()
                send(bucket, Path(packed.name), uri)
            addresses[name] = str(uri)
    return addresses.get("model", "")


def forget_failure(base: Path) -> None:
    """Remove the files that say why the training failed: it is to be tried again."""
    for file in (base / "output" / "failure", base / ENDED_BY):
        if file.exists():
            file.unlink()


def read_failure(base: Path) -> str:
    """Return why the training failed, on one line, as it or the starter wrote it down; empty if nobody did."""
    file = base / "output" / "failure"
    return " ".join(file.read_text(errors="replace")[:_LONGEST_REASON].split()) if file.exists() else ""


def read_ended_by(base: Path) -> str:
    """Return the error that the training's own command has ended by, such as torchrun's; empty if nobody knows."""
    file = base / ENDED_BY
    return file.read_text(errors="replace") if file.exists() else ""


def _has_files(folder: Path) -> bool:
    return any(file.is_file() for file in folder.rglob("*"))


def _write_json(file: Path, value: Any) -> None:
    file.write_text(json.dumps(value))
