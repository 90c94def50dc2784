"""The contract of those who start a training's processes, and what all of them need to know of a training.

imitated.py starts them as AWS's toolkit would. machines/real_toolkit.py has that toolkit itself start them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from orchestrator.localcloud.machines.own_mounts import OwnMounts
    from orchestrator.localcloud.machines.processes import Command, Ending
    from orchestrator.localcloud.services.sagemaker.host.host import Host
    from orchestrator.localcloud.services.sagemaker.training import Training


class CannotStart(Exception):
    """A training needs something that the local cloud has not. It fails, with this message as its reason."""


class Starter(Protocol):
    """Turns the hosts of trainings into processes. One starter serves all trainings of a cloud.

    `Execution` calls it in the order of the methods below; the network interface must be known before there are hosts.
    """

    @property
    def description(self) -> str:
        """A sentence on how trainings are started, for the one who starts this cloud; empty if as usual."""

    @property
    def mounts(self) -> OwnMounts:
        """What hosts can have mounted on this machine."""

    def home(self, base: Path) -> Path:
        """Return the path at which a host's own processes see its folder: /opt/ml, if that can be."""

    def network_interface(self, request: Mapping[str, Any]) -> str:
        """Return the name of the network interface that a training's hosts are given.

        Raise CannotStart when the training of this CreateTrainingJob request cannot run on this machine.
        """

    def unpack_code(self, host: Host) -> None:
        """Write the training's code into a host's folder, unless the container does that itself.

        Called for each host, when the configuration and the channels are there.
        """

    def commands(self, training: Training, hosts: list[Host], folder: Path) -> dict[str, Command]:
        """Return the processes to start, each under a name of its own.

        They run together: when one fails, all others are killed. Each writes to the log of a host. A host without a
        process must have a log, too. `folder` belongs to this execution, and files may be written there.
        """

    def line_formatter(self, training: Training) -> Callable[[str], str]:
        """Return a function that gives a line which a process printed the form that the log shows."""

    @property
    def out_of_memory_signal(self) -> int:
        """The signal that makes a process of `commands` end as if the training had taken too much memory."""

    def failure_reason(self, training: Training, hosts: list[Host], ending: Ending, lines: list[str]) -> str:
        """Return why a training failed, as DescribeTrainingJob shows it.

        `ending` is the end of the process that failed first, and `lines` are the logs of all hosts.
        """


def first_lines(host: Host, mounts: OwnMounts) -> str:
    """Return what a host's log begins with: which channels are copies, though they were to be streamed."""
    copied = [
        name
        for name, config in host.channels.items()
        if config["TrainingInputMode"] == "FastFile" and name not in host.streamed
    ]
    why = mounts.copies_for or "it holds the code"
    return "".join(f"The channel {name} is a copy here, and not streamed (FastFile): {why}\n" for name in copied)


def container_environment(training: Training) -> dict[str, str]:
    """Return the variables that SageMaker gives every container."""
    return {
        "TRAINING_JOB_NAME": training.name,
        "TRAINING_JOB_ARN": training.arn,
        "AWS_REGION": training.region,
        "AWS_DEFAULT_REGION": training.region,
    }


def site_environment(environment: Mapping[str, str], training: Training) -> dict[str, str]:
    """Return the variables that every process gets; a training under network isolation gets none that lead to AWS."""
    if not training.isolated:
        return {**environment, **training.keys}
    return {name: value for name, value in environment.items() if not name.startswith("AWS_")} | {"PIP_NO_INDEX": "1"}


def requested_environment(training: Training) -> dict[str, str]:
    """Return the variables that a training's request asks for."""
    return dict(training.request.get("Environment", {}))


def own_entrypoint(training: Training) -> list[str]:
    """Return the command that a training runs instead of the toolkit; empty when it uses the toolkit."""
    algorithm = training.request["AlgorithmSpecification"]
    words = algorithm.get("ContainerEntrypoint", [])
    if not words:
        return []
    return [*words, *algorithm.get("ContainerArguments", ())]
