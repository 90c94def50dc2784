"""What a team wants of one platform in one Region: what infra makes for it, and what the doctor looks at."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.spec.sweep import Sweep
    from orchestrator.wire.task import Lane


@dataclass(frozen=True)
class AtOnce:
    """What a plan has under way on one lane at once, at the most."""

    lane: Lane
    trainings: int
    instances: int
    """The instances of all these trainings together."""


@dataclass(frozen=True)
class Wanted:
    """A platform in one Region, as the settings and a plan want it."""

    region: str
    settings: Mapping[str, object]
    """The platform's own table of the settings."""
    role: str
    """The ARN of the role that trainings have; empty if they have none."""
    launchers: tuple[str, ...]
    """The ARNs of the roles that start trainings: those of launchers and of conductors."""
    principal: str = ""
    """The ARN of the user or role that looks; empty where nobody does, or IAM does not know it."""
    sweep: Sweep | None = None
    """The sweep that was named, if one was."""
    at_once: tuple[AtOnce, ...] = field(default=())
    """What its plan has under way in this Region, for each lane; nothing without a plan."""
