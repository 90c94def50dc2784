"""Who starts a training's processes: AWS's toolkit in the image, where it can do what is asked, else our starter.

The starter comes in a channel with the code, and takes the place of the image's own entry point. A channel needs no
AWS SDK in the image, no network, and no right to S3 inside the container.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.platforms.base import Complaint
from orchestrator.platforms.sagemaker.asked.channels import MAX_CHANNELS
from orchestrator.spec.environment import secrets
from orchestrator.training.machine import CODE, HOME, ORDER
from orchestrator.training.words import ARGUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.spec.train import Train

_BEGIN = (
    "import sys,tarfile as t;archive,home=sys.argv[1:3];safe={'filter':'data'}if hasattr(t,'data_filter')else{};"
    "t.open(archive).extractall(home+'/code',**safe);sys.path.append(home+'/code');"
    "from orchestrator.training.start import main;sys.exit(main(home))"
)
"""Unpacks the code, and runs the starter that came with it. SageMaker takes 256 characters."""


class Starting(NamedTuple):
    """Who starts the processes of trainings."""

    starter: bool
    """True for our starter, False for AWS's toolkit."""
    why: str
    """What of the sweep file wants the starter; empty if nothing does."""


def who_starts(train: Train) -> Starting:
    """Return who starts a sweep's trainings, and why it is not AWS's toolkit."""
    why = _beyond_the_toolkit(train)
    return Starting(bool(why), why)


def _beyond_the_toolkit(train: Train) -> str:
    if train.arguments.beyond_names:
        return f"train.arguments.{train.arguments.beyond_names}"
    secret = next(iter(secrets(train.environment)), None)
    if secret is not None:
        return f"train.environment.{secret}, a secret"
    if train.parallel == "torchrun" and train.entry_point.endswith(".sh"):
        return "torchrun with a .sh as train.entry_point"
    return ""


def check_starting(train: Train) -> Iterator[Complaint]:
    """Yield a complaint for each thing that does not go with the starter, where the sweep needs it."""
    if not who_starts(train).starter:
        return
    if train.parallel == "smddp" and train.arguments.beyond_names:
        yield Complaint(
            "smddp is started by AWS's toolkit, which writes `--name value` only",
            "leave the line out",
            ("train", "arguments", train.arguments.beyond_names),
        )
    elif train.parallel == "smddp":
        name = secrets(train.environment)[0]
        message = "smddp is started by AWS's toolkit, which fetches no secrets"
        yield Complaint(message, "fetch it in the script", ("train", "environment", name))
    if CODE in train.all_channels:
        at = ("train", "channels", CODE) if CODE in train.channels else ("train", "data_channel")
        yield Complaint(f"the starter comes in a channel {CODE!r}", "give yours another name", at)
    if len(train.all_channels) == MAX_CHANNELS:
        message = f"{MAX_CHANNELS} channels, and the starter comes in one more"
        yield Complaint(message, f"SageMaker takes {MAX_CHANNELS}", ("train", "channels"))


def entry_point(source: str) -> dict[str, list[str]]:
    """Return what AlgorithmSpecification has besides, to run the starter. `source` is the packed sources' address."""
    return {"ContainerEntrypoint": ["python3", "-I", "-c", _BEGIN], "ContainerArguments": [packed_code(source), HOME]}


def packed_code(source: str) -> str:
    """Return where the packed sources lie in a training to which they come in a channel, given their address in S3."""
    return f"{HOME}/input/data/{CODE}/{source.rpartition('/')[2]}"


def code_channel(source: str) -> dict[str, Any]:
    """Return the channel that brings the packed sources, given their address in S3."""
    place = {"S3DataType": "S3Prefix", "S3Uri": source, "S3DataDistributionType": "FullyReplicated"}
    return {"ChannelName": CODE, "DataSource": {"S3DataSource": place}}


def starters_order(train: Train) -> dict[str, str]:
    """Return the hyperparameter that tells the starter what to start."""
    arguments = train.arguments.model_dump(exclude_defaults=True, exclude={"positional"})
    command = [train.entry_point, *train.arguments.positional, f"{{{ARGUMENTS}}}"]
    order: dict[str, Any] = {"command": command, "data": train.data_channel, "parallel": train.parallel}
    if arguments:
        order["arguments"] = arguments
    if train.processes_per_instance is not None:
        order["processes"] = train.processes_per_instance
    if train.mpi_options:
        order["mpi_options"] = train.mpi_options
    return {ORDER: json.dumps(order)}
