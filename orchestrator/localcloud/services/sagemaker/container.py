"""One host's /opt/ml: what SageMaker puts there before a training, and takes from there after it."""

from __future__ import annotations

import io
import json
import shutil
import socket
import tarfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.sagemaker.toolkit import Host

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from orchestrator.localcloud.services.moto_backends import Objects
    from orchestrator.localcloud.services.sagemaker.job import Training

GROUP = "homogeneousCluster"


@dataclass(frozen=True)
class Uri:
    bucket: str
    key: str

    @classmethod
    def parse(cls, text: str) -> Uri:
        bucket, _, key = text.removeprefix("s3://").partition("/")
        return cls(bucket, key)

    def __truediv__(self, key: str) -> Uri:
        return Uri(self.bucket, f"{self.key.rstrip('/')}/{key}".lstrip("/"))

    def __str__(self) -> str:
        return f"s3://{self.bucket}/{self.key}"


def hosts(training: Training, folder: Path, scratch: Path, interface: str) -> list[Host]:
    """The containers of a training, not yet filled."""
    request = training.request
    config = request["ResourceConfig"]
    names = [f"algo-{number}" for number in range(1, config["InstanceCount"] + 1)]
    group = {"instance_group_name": GROUP, "instance_type": config["InstanceType"], "hosts": names}
    channels = {
        channel["ChannelName"]: _channel_config(request, channel) for channel in request.get("InputDataConfig", ())
    }
    port = _free_port()
    return [
        Host(
            base=folder / name,
            scratch=scratch / name,
            resource_config={
                "current_host": name,
                "current_instance_type": config["InstanceType"],
                "current_group_name": GROUP,
                "hosts": names,
                "instance_groups": [group],
                "network_interface_name": interface,
            },
            channels=channels,
            hyperparameters=request.get("HyperParameters", {}),
            port=port,
            job=training.name,
            region=training.region,
        )
        for name in names
    ]


def fill(host: Host, request: dict[str, Any], objects: Objects) -> None:
    """Configuration and channels, as they lie before the container starts."""
    host.scratch.mkdir(parents=True)
    for folder in ("input/config", "input/data", "model", "output/data", "code", "checkpoints"):
        (host.base / folder).mkdir(parents=True, exist_ok=True)
    config = host.base / "input" / "config"
    _write_json(config / "hyperparameters.json", host.hyperparameters)
    _write_json(config / "resourceconfig.json", host.resource_config)
    _write_json(config / "inputdataconfig.json", host.channels)
    for channel in request.get("InputDataConfig", ()):
        source = channel["DataSource"]["S3DataSource"]
        folder = host.base / "input" / "data" / channel["ChannelName"]
        download(objects, Uri.parse(source["S3Uri"]), folder, _mine(host, source))


def download(objects: Objects, source: Uri, folder: Path, part: slice = slice(None)) -> None:
    """All objects under a prefix, as files of a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for key in objects.keys(source.bucket, source.key)[part]:
        name = _below(key, source.key)
        file = folder / name
        if name and not key.endswith("/") and file.resolve().is_relative_to(folder.resolve()):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(objects.read(source.bucket, key))


def unpack_code(host: Host, objects: Objects) -> None:
    """As the toolkit does first of all."""
    uri = host.hyperparameters.get("sagemaker_submit_directory", "").strip('"')
    if uri.startswith("s3://"):
        source = Uri.parse(uri)
        with tarfile.open(fileobj=io.BytesIO(objects.read(source.bucket, source.key)), mode="r:gz") as tar:
            _extract(tar, host.code)
    program = host.hyperparameters.get("sagemaker_program", "").strip('"')
    if program and (host.code / program).is_file():
        (host.code / program).chmod(0o755)


def archive(folders: Iterable[Path]) -> bytes | None:
    """One tar.gz of what lies in some folders; None when that is nothing."""
    buffer = io.BytesIO()
    empty = True
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as tar:
        for folder in folders:
            for entry in sorted(folder.iterdir()) if folder.exists() else ():
                tar.add(entry, arcname=entry.name)
                empty = False
    return None if empty else buffer.getvalue()


def remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def _extract(tar: tarfile.TarFile, folder: Path) -> None:
    if hasattr(tarfile, "data_filter"):
        tar.extractall(folder, filter="data")
    else:
        tar.extractall(folder)


def _channel_config(request: dict[str, Any], channel: dict[str, Any]) -> dict[str, Any]:
    mode = request["AlgorithmSpecification"].get("TrainingInputMode", "File")
    source = channel["DataSource"]["S3DataSource"]
    config = {
        "TrainingInputMode": channel.get("InputMode", mode),
        "S3DistributionType": source.get("S3DataDistributionType", "FullyReplicated"),
        "RecordWrapperType": channel.get("RecordWrapperType", "None"),
    }
    return {**config, **({"ContentType": channel["ContentType"]} if "ContentType" in channel else {})}


def _mine(host: Host, source: dict[str, Any]) -> slice:
    """A host's share of a channel: all of it, or every n-th object."""
    if source.get("S3DataDistributionType") == "ShardedByS3Key":
        return slice(host.hosts.index(host.name), None, len(host.hosts))
    return slice(None)


def _below(key: str, prefix: str) -> str:
    """`data/a/x` is `x` under `data/a` and `data/a/`; under `data/a/x`, and under the mere letters `data/a/..`, too."""
    if prefix.endswith("/") or not prefix:
        return key[len(prefix) :]
    if key.startswith(prefix + "/"):
        return key[len(prefix) + 1 :]
    return key[len(prefix.rpartition("/")[0]) :].lstrip("/")


def _write_json(file: Path, value: Any) -> None:
    file.write_text(json.dumps(value))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
