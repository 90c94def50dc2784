"""How the hosts of a training become processes: as AWS's toolkit would start them, or by that toolkit itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from orchestrator.localcloud.machines.processes import Command, Ending
    from orchestrator.localcloud.services.sagemaker.job import Training
    from orchestrator.localcloud.services.sagemaker.toolkit import Host


class Starter(Protocol):
    @property
    def told(self) -> str:
        """What to tell who starts this cloud; nothing about the usual."""

    def interface(self, request: Mapping[str, Any]) -> str:
        """The network interface that a training's hosts are told of; Unlaunchable when it cannot run here."""

    def unpack(self, host: Host) -> None:
        """Its code, as far as it lies there before the container starts."""

    def commands(self, training: Training, hosts: list[Host], folder: Path) -> dict[str, Command]:
        """Processes by name. They run together: when one fails, the others are of no use."""

    def shown(self, training: Training) -> Callable[[str], str]:
        """What becomes of a line that they print, on its way to the log."""

    @property
    def exhausting(self) -> int:
        """The signal to them by which what a training runs is killed, as for taking too much memory."""

    def failure(self, training: Training, hosts: list[Host], ending: Ending, lines: list[str]) -> str:
        """Why it failed, as DescribeTrainingJob tells it."""


def environment(training: Training) -> dict[str, str]:
    """What SageMaker gives every container."""
    return {
        "TRAINING_JOB_NAME": training.name,
        "TRAINING_JOB_ARN": training.arn,
        "AWS_REGION": training.region,
        "AWS_DEFAULT_REGION": training.region,
    }


def asked(training: Training) -> dict[str, str]:
    """What its request adds to that."""
    return dict(training.request.get("Environment", {}))


def entrypoint(training: Training) -> list[str]:
    """A container's own, which takes the toolkit's place; empty when it has none."""
    algorithm = training.request["AlgorithmSpecification"]
    words = algorithm.get("ContainerEntrypoint", [])
    return [*words, *algorithm.get("ContainerArguments", ())] if words else []
