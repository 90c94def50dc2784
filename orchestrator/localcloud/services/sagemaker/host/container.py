"""The hosts of a training, and what SageMaker puts into a host's /opt/ml before the container starts."""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.sagemaker.host.channel_data import find_files
from orchestrator.localcloud.services.sagemaker.host.host import Host
from orchestrator.localcloud.services.sagemaker.host.s3_files import Uri, as_tree, unpack, write_files
from orchestrator.localcloud.services.sagemaker.toolkit.starter import CannotStart

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.localcloud.machines.fuse.shown import Shown
    from orchestrator.localcloud.services.moto.backends import Objects
    from orchestrator.localcloud.services.sagemaker.toolkit.starter import Starter
    from orchestrator.localcloud.services.sagemaker.training import Training

GROUP = "homogeneousCluster"
"""The name of the one instance group that a training without groups has."""


def make_hosts(training: Training, folder: Path, scratch: Path, starter: Starter) -> list[Host]:
    """Return the hosts of a training, with nothing in their folders yet. Raise CannotStart when there can be none."""
    request = training.request
    interface = starter.network_interface(request)
    names = [f"algo-{number}" for number in range(1, training.instances + 1)]
    group = {"instance_group_name": GROUP, "instance_type": training.instance_type, "hosts": names}
    channels = {
        channel["ChannelName"]: _channel_config(request, channel) for channel in request.get("InputDataConfig", ())
    }
    port = _free_port()
    return [
        Host(
            base=folder / name,
            home=starter.home(folder / name),
            scratch=scratch / name,
            resource_config={
                "current_host": name,
                "current_instance_type": training.instance_type,
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
            streamed=_streamed(request, channels) if starter.mounts.shown else frozenset(),
            isolated=training.isolated,
        )
        for name in names
    ]


def fill_folders(host: Host, request: dict[str, Any], objects: Objects, shown: Shown | None) -> None:
    """Make a host's folders, and write the configuration and the channels that a container finds when it starts.

    Nothing is read of a channel that is streamed: `shown` lets its folder be mounted.
    """
    host.scratch.mkdir(parents=True)
    for folder in ("input/config", "input/data", "model", "output/data", "code", "checkpoints"):
        (host.base / folder).mkdir(parents=True, exist_ok=True)
    config = host.base / "input" / "config"
    _write_json(config / "hyperparameters.json", host.hyperparameters)
    _write_json(config / "resourceconfig.json", host.resource_config)
    _write_json(config / "inputdataconfig.json", host.channels)
    for channel in request.get("InputDataConfig", ()):
        source = channel["DataSource"]["S3DataSource"]
        where = host.channel(channel["ChannelName"])
        files = find_files(source, objects, _objects_of(host, source))
        if shown and channel["ChannelName"] in host.streamed:
            where.mkdir()
            shown.show(as_tree(files, objects), where)
        else:
            write_files(objects, files, where)


def unpack_code(host: Host, objects: Objects) -> None:
    """Unpack the training's code, as the toolkit does before anything else.

    Raise CannotStart when it lies in S3, and the host is cut off from there.
    """
    uri = host.hyperparameters.get("sagemaker_submit_directory", "").strip('"')
    if uri.startswith("s3://") and host.isolated:
        raise CannotStart(f"{uri} cannot be downloaded under network isolation: the code must come in a channel")
    if uri.startswith("s3://"):
        source = Uri.parse(uri)
        unpack(objects.read(source.bucket, source.key), host.code)
    elif uri.endswith(".tar.gz"):
        unpack(host.on_disk(uri).read_bytes(), host.code)
    program = host.hyperparameters.get("sagemaker_program", "").strip('"')
    if program and (host.code / program).is_file():
        (host.code / program).chmod(0o755)


def _channel_config(request: dict[str, Any], channel: dict[str, Any]) -> dict[str, Any]:
    mode = request["AlgorithmSpecification"].get("TrainingInputMode", "File")
    source = channel["DataSource"]["S3DataSource"]
    config = {
        "TrainingInputMode": channel.get("InputMode", mode),
        "S3DistributionType": source.get("S3DataDistributionType", "FullyReplicated"),
        "RecordWrapperType": channel.get("RecordWrapperType", "None"),
    }
    if "ContentType" in channel:
        config["ContentType"] = channel["ContentType"]
    return config


def _streamed(request: dict[str, Any], channels: dict[str, dict[str, Any]]) -> frozenset[str]:
    """Return the channels of FastFile, but for one with the code, which we unpack before anything is mounted."""
    code = request.get("HyperParameters", {}).get("sagemaker_submit_directory", "").strip('"')
    return frozenset(
        name
        for name, config in channels.items()
        if config["TrainingInputMode"] == "FastFile" and not code.startswith(f"/opt/ml/input/data/{name}/")
    )


def _objects_of(host: Host, source: dict[str, Any]) -> slice:
    """Return which of a channel's objects a host gets: all of them, or every n-th."""
    if source.get("S3DataDistributionType") == "ShardedByS3Key":
        return slice(host.hosts.index(host.name), None, len(host.hosts))
    return slice(None)


def _write_json(file: Path, value: Any) -> None:
    file.write_text(json.dumps(value))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
