"""What a platform tells of trainings by itself: which of them run, and how far they have come."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orchestrator.wire.task import Lane


@dataclass(frozen=True)
class Alive:
    """A training of some run of ours that has not ended, as its Region says, whatever is written down of it."""

    training: str
    """The training's name."""
    lane: Lane
    instances: int
    run: str
    """The run, the task and the attempt that its tags name."""
    task: int
    attempt: int
    output: str
    """The S3 prefix of what it leaves behind: it says whose training it is."""
    started_at: float | None
    """Seconds since the epoch; None while no instance has begun."""

    @property
    def region(self) -> str:
        """The Region that it runs in."""
        return self.lane.region


class Step(str, Enum):
    """A part of a training's life, as whoever waits for it would name it."""

    QUEUE = "queue at AWS"
    MACHINES = "machines"
    DOWNLOAD = "download"
    TRAINING = "training"
    UPLOAD = "upload"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class StepTaken:
    """A part of a training's life, with its times in seconds since the epoch."""

    step: Step
    began_at: float
    ended_at: float | None
    """None while it goes on."""
    said: str = ""
    """The platform's own words, if it has any."""
