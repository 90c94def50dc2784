"""What is looked at: an account, its settings, and what a sweep needs of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.aws.session import Clients
    from orchestrator.infra.names import Names
    from orchestrator.platforms.account.wanted import AtOnce
    from orchestrator.settings.settings import Settings
    from orchestrator.spec.sweep import Sweep
    from orchestrator.wire.task import Lane, Quota


@dataclass(frozen=True, order=True)
class Data:
    """A folder of a dataset that trainings of a plan read."""

    uri: str
    region: str


@dataclass(frozen=True)
class Need:
    """What a sweep needs, if one was named."""

    sweep: Sweep | None = None
    at_once: tuple[AtOnce, ...] = ()
    """The most that its plan has under way at once, for each lane; nothing if there is no plan."""
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

    @property
    def tasks_at_once(self) -> int:
        """The most tasks that its plan has under way at once; 0 if there is no plan."""
        return sum(each.trainings for each in self.at_once)


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
