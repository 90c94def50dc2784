"""Finds the parts of a platform by its name: installed packages name them as entry points.

    [project.entry-points."sweep.runners"]
    sagemaker = "orchestrator.platforms.sagemaker.runner:SageMakerRunner"

The groups are `sweep.runners`, `sweep.planning` and `sweep.operating`. Nothing is imported before it is asked for.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any

from orchestrator.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.aws.session import Clients
    from orchestrator.platforms.account.operating import Operating
    from orchestrator.platforms.base import Planning, Runner

RUNNERS, PLANNING, OPERATING = "sweep.runners", "sweep.planning", "sweep.operating"
DEFAULT = "sagemaker"
"""The platform of a sweep that names none, where the settings have a table for none."""


def platforms() -> tuple[str, ...]:
    """Return the names of all platforms that are installed here."""
    return tuple(sorted(_installed(PLANNING)))


def is_ours(name: str) -> bool:
    """Return whether the runner of this platform comes with this package, and so with every launcher's image."""
    found = _installed(RUNNERS).get(name)
    return found is not None and found.module.partition(".")[0] == __name__.partition(".")[0]


def make_runner(name: str, clients: Clients) -> Runner:
    """Return the runner of this platform. Raise UsageError when it is not installed here."""
    runner: Runner = _load(RUNNERS, name)(clients)
    return runner


def make_planning(name: str, settings: Mapping[str, object]) -> Planning:
    """Return the planning part of this platform, made from its table of the settings. UsageError as `make_runner`."""
    planning: Planning = _load(PLANNING, name)(settings)
    return planning


def make_operating(name: str) -> Operating:
    """Return the operating part of this platform. UsageError as `make_runner`."""
    operating: Operating = _load(OPERATING, name)()
    return operating


def _load(group: str, name: str) -> Any:
    installed = _installed(group)
    if name not in installed:
        raise UsageError(
            f"no platform {name!r} is installed",
            hint=did_you_mean(name, list(installed)) or f"there are: {', '.join(sorted(installed)) or 'none'}",
        )
    try:
        return installed[name].load()
    except (ImportError, AttributeError) as error:
        raise UsageError(
            f"the platform {name!r} is installed, but {installed[name].value} cannot be loaded: {error}",
            hint="install its package again, with what it needs",
        ) from error


@cache
def _installed(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group by name. Looking through all packages takes time, so it is done once."""
    return {found.name: found for found in entry_points(group=group)}
