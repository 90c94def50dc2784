"""What all tasks of a Region share: written once at submit, read by every launcher."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Template:
    platform: str
    region: str
    run: str
    owner: str
    request: dict[str, Any]
    """The platform's request, but for what a task, its place and its attempt add."""
    hyperparameters: dict[str, str]
    """Sent with every task's own: the entry point, the sources, how processes start."""
    output: str
    """S3 prefix in this Region for what trainings leave behind."""
    images: dict[str, str] = field(default_factory=dict)
    """The image of an instance type, where that is not the request's own."""
    checkpoints: bool = False
    poll_s: float = 30.0
    """How often a launcher looks at its training, at the least."""
    metrics: dict[str, str] = field(default_factory=dict)
    """Name → regex over the log, with one group."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Template:
        return cls(**{k: v for k, v in body.items() if k in cls.__dataclass_fields__})
