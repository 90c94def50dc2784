"""Finds platforms by the name that lanes carry. A new one is a line here and a package beside `sagemaker`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from orchestrator.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from orchestrator.aws.session import Clients
    from orchestrator.platforms.base import Platform

PLATFORMS = {"sagemaker": "orchestrator.platforms.sagemaker.job:SageMaker"}
"""Module and class of each platform, imported on first use: a launcher pays for its own platform only."""


def make_platform(name: str, clients: Clients) -> Platform:
    """Return the platform of this name, ready for use. Raise UsageError when there is none."""
    try:
        module, _, attribute = PLATFORMS[name].partition(":")
    except KeyError as error:
        raise UsageError(f"no platform {name!r}", hint=did_you_mean(name, list(PLATFORMS))) from error
    made: Platform = getattr(import_module(module), attribute)(clients)
    return made
