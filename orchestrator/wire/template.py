"""What all tasks of a Region share: written once at submit, read by every launcher."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from orchestrator.wire.stored import restore


@dataclass(frozen=True)
class Template:
    """What all tasks of a run share in one Region, on one platform."""

    platform: str
    region: str
    run: str
    owner: str
    request: dict[str, Any]
    """The platform's request, without what a task, its place and its attempt add to it."""
    hyperparameters: dict[str, str]
    """Hyperparameters that are sent with every task's own: the entry point, the sources, how processes start."""
    output: str
    """The S3 prefix in this Region for what trainings leave behind."""
    images: dict[str, str] = field(default_factory=dict)
    """The image of each instance type that does not take the request's own."""
    checkpoints: bool = False
    """Trainings keep checkpoints, and the next attempt goes on from them."""
    poll_s: float = 30.0
    """Seconds between two looks of a launcher at its training, at the least."""
    metrics: dict[str, str] = field(default_factory=dict)
    """Metrics by name, each with a regex over the log that has one group."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Template:
        return restore(cls, body)
