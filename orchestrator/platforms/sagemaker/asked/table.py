"""`platforms.sagemaker` of a sweep file: what only SageMaker can honour."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from orchestrator.platforms.base import Complaint
from orchestrator.platforms.sagemaker.asked.channels import ChannelOptions, check_channels
from orchestrator.spec.mistakes import find_mistakes
from orchestrator.spec.model import Model

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.spec.sweep import Sweep

KEY = "sagemaker"
"""The name of this platform, in lanes and in the sweep file."""


class Asked(Model):
    """What a sweep asks of SageMaker alone."""

    channels: dict[str, ChannelOptions] = Field(
        default={}, description="how channels come to the training: the dataset's, or one of train.channels"
    )


def asked(sweep: Sweep) -> Asked:
    """Return what a sweep asks of SageMaker alone. It has been checked when the file was read."""
    return Asked.model_validate(sweep.platforms.get(KEY, {}))


def check_asked(sweep: Sweep) -> Iterator[Complaint]:
    """Yield a complaint for each thing that is wrong under `platforms.sagemaker`, or does not fit the rest."""
    mistakes = find_mistakes(Asked, sweep.platforms.get(KEY, {}), ("platforms", KEY))
    for mistake in mistakes:
        yield Complaint(mistake.message, mistake.hint, mistake.at)
    if not mistakes:
        yield from check_channels(sweep, asked(sweep).channels)
