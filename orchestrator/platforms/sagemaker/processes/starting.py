"""Who starts a training's processes: AWS's toolkit in the image, where it can do what is asked, else our starter.

The starter comes in a channel with the code, and takes the place of the image's own entry point. A channel needs no
AWS SDK in the image, no network, and no right to S3 inside the container.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from orchestrator.platforms.base import Complaint
from orchestrator.platforms.sagemaker.asked.channels import MAX_CHANNELS
from orchestrator.platforms.sagemaker.limits import MAX_VALUE
from orchestrator.platforms.sagemaker.processes.mpi_options import mpi_options_to_send
from orchestrator.spec.train.environment import secrets
from orchestrator.spec.train.filled_in import find_unnamed
from orchestrator.training.starter.machine import CODE, HOME, ORDER, encode
from orchestrator.wire.shapes import shape

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from orchestrator.spec.sweep import Sweep
    from orchestrator.spec.train.train import Train

_BEGIN = (
    "import sys,tarfile as t;archive,home=sys.argv[1:3];safe={'filter':'data'}if hasattr(t,'data_filter')else{};"
    "t.open(archive).extractall(home+'/code',**safe);sys.path.append(home+'/code');"
    "from orchestrator.training.start import main;sys.exit(main(home))"
)
"""Unpacks the code, and runs the starter that came with it. SageMaker takes 256 characters."""


def why_starter(train: Train) -> str:
    """Return what of the sweep file AWS's toolkit cannot start, so that our starter does; empty if there is nothing."""
    if train.starts_image:
        return ""
    if train.command is not None:
        return "train.command"
    if train.arguments.beyond_names:
        return f"train.arguments.{train.arguments.beyond_names}"
    secret = next(iter(secrets(train.environment)), None)
    if secret is not None:
        return f"train.environment.{secret}, a secret"
    if train.parallel == "torchrun" and train.script and train.script.endswith(".sh"):
        return "torchrun with a .sh as train.entry_point"
    return ""


def starting_cautions(sweep: Sweep) -> Iterator[str]:
    """Yield a caution if the command gets not all of what the sweep varies."""
    unnamed = find_unnamed(sweep.train, sweep.parameters)
    if unnamed:
        names = ", ".join(unnamed)
        yield f"the command names no {names}: write {{name}} or {{arguments}}, or let the script read $SM_HPS"


def check_starting(train: Train, instance_types: Mapping[int, str]) -> Iterator[Complaint]:
    """Yield a complaint for each thing that does not go with the starter, where the sweep needs it.

    The instance types are those of `where.instance_types` that are SageMaker's, by their index there.
    """
    for name in secrets(train.environment) if train.starts_image else ():
        message = "what the image starts finds no secrets in its environment"
        yield Complaint(message, "let it fetch them itself", ("train", "environment", name))
    if not why_starter(train):
        return
    if train.parallel == "smddp":
        yield _under_smddp(train)
    if len(_order(train)) > MAX_VALUE:
        part = "command" if train.command else "arguments"
        hint = f"SageMaker takes {MAX_VALUE} characters as JSON"
        yield Complaint("the command is too long", hint, ("train", part))
    for index, name in instance_types.items():
        known = shape(name)
        if train.parallel == "torchrun" and train.processes_per_instance is None and known and known.kind == "neuron":
            hint = "write processes_per_instance: one a NeuronCore"
            yield Complaint(f"the starter counts no NeuronCores on {name}", hint, ("where", "instance_types", index))
    if CODE in train.all_channels:
        at = ("train", "channels", CODE) if CODE in train.channels else ("train", "data_channel")
        yield Complaint(f"the starter comes in a channel {CODE!r}", "give yours another name", at)
    if len(train.all_channels) == MAX_CHANNELS:
        message = f"{MAX_CHANNELS} channels, and the starter comes in one more"
        yield Complaint(message, f"SageMaker takes {MAX_CHANNELS}", ("train", "channels"))


def _under_smddp(train: Train) -> Complaint:
    if train.command is None and not train.arguments.beyond_names:
        name = secrets(train.environment)[0]
        message = "smddp is started by AWS's toolkit, which fetches no secrets"
        return Complaint(message, "fetch it in the script", ("train", "environment", name))
    at = ("train", "command") if train.command else ("train", "arguments", train.arguments.beyond_names)
    hint = "leave the line out, or use torchrun"
    return Complaint("smddp is started by AWS's toolkit, which writes `--name value` only", hint, at)


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


def starters_hyperparameters(train: Train) -> dict[str, str]:
    """Return the hyperparameters that all tasks share, as the starter reads them: the sweep's, and what to start."""
    return {**{name: encode(value) for name, value in train.hyperparameters.items()}, ORDER: _order(train)}


def _order(train: Train) -> str:
    """Return what the starter is to start, and how, as JSON."""
    order: dict[str, Any] = {"command": train.command_words, "data": train.data_channel, "parallel": train.parallel}
    if train.arguments.options:
        order["arguments"] = train.arguments.options
    if train.processes_per_instance is not None:
        order["processes"] = train.processes_per_instance
    if train.mpi_options:
        order["mpi_options"] = mpi_options_to_send(train)
    return json.dumps(order)
