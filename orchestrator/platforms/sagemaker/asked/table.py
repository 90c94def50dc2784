"""`platforms.sagemaker` of a sweep file, over that of the settings: what only SageMaker can honour."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from orchestrator.errors import SettingsError
from orchestrator.platforms.base import Complaint
from orchestrator.platforms.sagemaker.asked.channels import ChannelOptions, check_channels
from orchestrator.platforms.sagemaker.asked.file_systems import FileSystems, check_file_systems, find_missing_system
from orchestrator.platforms.sagemaker.asked.paths import Paths, check_paths
from orchestrator.platforms.sagemaker.asked.preferences import check_preferences
from orchestrator.platforms.sagemaker.asked.security import Security, check_security, find_gap
from orchestrator.platforms.sagemaker.asked.verbatim import check_request
from orchestrator.spec.reading.mistakes import find_mistakes
from orchestrator.training.starter.machine import CODE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from orchestrator.spec.sweep import Sweep

KEY = "sagemaker"
"""The name of this platform, in lanes and in the sweep file."""


class Asked(Security, Paths):
    """What a sweep asks of SageMaker alone."""

    channels: dict[str, ChannelOptions] = Field(
        default={}, description="how channels come to the training: the dataset's, or one of train.channels"
    )
    file_systems: FileSystems = Field(
        default={}, description="further channels: name → Region → a folder of FSx for Lustre or EFS there"
    )
    instance_preferences: bool = Field(
        default=False, description="on-demand places of a Region that follow each other are one request to AWS"
    )
    request: dict[str, Any] = Field(
        default={}, description="merged into CreateTrainingJob as it is: debugger, profiler, TensorBoard and the like"
    )


def read_settings(settings: Mapping[str, object]) -> Security:
    """Return what the settings say. Raise SettingsError for what cannot be in them."""
    for mistake in find_mistakes(Security, settings, ()):
        raise SettingsError(mistake.message, where=f"platforms.{KEY}", hint=mistake.hint)
    return Security.model_validate(settings)


def read_asked(sweep: Sweep, usual: Security) -> Asked:
    """Return what a sweep asks of SageMaker alone, over what is usual. It has been checked when the file was read."""
    said = Asked.model_validate(sweep.platforms.get(KEY, {}))
    return said.model_copy(update=dict(said.over(usual)))


def check_asked(sweep: Sweep, usual: Security) -> Iterator[Complaint]:
    """Yield a complaint for each thing that is wrong under `platforms.sagemaker`, or does not fit the rest."""
    mistakes = find_mistakes(Asked, sweep.platforms.get(KEY, {}), ("platforms", KEY))
    for mistake in mistakes:
        yield Complaint(mistake.message, mistake.hint, mistake.at)
    if not mistakes:
        asked = read_asked(sweep, usual)
        yield from check_security(sweep, asked)
        yield from check_paths(sweep, asked)
        yield from check_request(asked.request)
        yield from check_file_systems(sweep, asked.file_systems, asked)
        yield from check_channels(sweep, asked.channels, _further_channels(asked))
        if asked.instance_preferences:
            yield from check_preferences(sweep.train)


def _further_channels(asked: Asked) -> tuple[str, ...]:
    """Return the names of the channels that are not `train`'s."""
    return (*asked.file_systems, *((CODE,) if asked.network_isolation else ()))


def find_missing(asked: Asked, region: str) -> str:
    """Return in words what is asked for, but is not there in this Region; nothing if all is."""
    return find_gap(asked, region) or asked.find_gap(region) or find_missing_system(asked.file_systems, region)
