"""One thing that was looked at, and how it stands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.aws.session import Clients
    from orchestrator.infra.names import Names
    from orchestrator.settings import Settings
    from orchestrator.wire.task import Lane, Quota

OK, WARNING, WRONG = "ok", "warning", "wrong"
PERMISSION, QUOTA, OTHER = 4, 6, 1
"""The exit codes of what can be wrong."""
DEPLOY = "sweep infra deploy"


@dataclass(frozen=True)
class Finding:
    """The state of one thing."""

    about: str
    """The thing, in a word or two, such as `bucket` or `role`."""
    where: str
    """The name of the very one, or a Region."""
    state: str
    """`ok`, `warning` or `wrong`."""
    message: str
    mend: str = ""
    """The command that mends it."""
    exit_code: int = 0


@dataclass(frozen=True, order=True)
class Data:
    """A folder of a dataset that trainings of a plan read."""

    uri: str
    region: str


@dataclass(frozen=True)
class Need:
    """What a sweep needs, if one was named."""

    tasks_at_once: int = 0
    """The most tasks that its plan has under way at once; 0 if there is no plan."""
    images: Mapping[str, str] = field(default_factory=dict)
    """The image that it trains with, by Region."""
    units: Mapping[Quota, int] = field(default_factory=dict)
    """The units of each quota that its plan takes at once."""
    nights: bool = False
    """True if it has a schedule: a conductor carries that out."""
    lanes: frozenset[Lane] = frozenset()
    """The lanes that its plan chooses."""
    data: frozenset[Data] = frozenset()
    """What its trainings read where it lies, under the role of trainings; copies are ours."""


@dataclass(frozen=True)
class Subject:
    """What is looked at."""

    settings: Settings
    clients: Clients
    names: Names
    need: Need
    principal: str = ""
    """The ARN of the user or role that we are; empty if IAM's simulator does not know it."""

    @property
    def has_nights(self) -> bool:
        """True if the sweep asks for nights, or the settings do: they name what only conductors need."""
        return self.need.nights or bool(self.settings.conductor_image)


def ok(about: str, where: str, message: str) -> Finding:
    """Return that a thing is as it should be."""
    return Finding(about, where, OK, message)


def warning(about: str, where: str, message: str, mend: str = "") -> Finding:
    """Return that a thing works, but perhaps not as it is meant to, or could not be looked at."""
    return Finding(about, where, WARNING, message, mend)


def wrong(about: str, where: str, message: str, mend: str, exit_code: int = OTHER) -> Finding:
    """Return that a thing is in the way of a sweep, and the command that mends it."""
    return Finding(about, where, WRONG, message, mend, exit_code)
