"""What all tasks of a Region share: written once at submit, read by every launcher."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from orchestrator.wire.stored import VERSION, check_version, restore


@dataclass(frozen=True)
class Template:
    """What all tasks of a run share in one Region, on one platform."""

    platform: str
    region: str
    run: str
    owner: str
    body: dict[str, Any]
    """The platform's own part: whatever its Runner needs to make requests. Nobody else reads it."""
    output: str
    """The S3 prefix in this Region for what trainings leave behind."""
    checkpoints: bool = False
    """Trainings keep checkpoints, and the next attempt goes on from them."""
    poll_s: float = 30.0
    """Seconds between two looks of a launcher at its training, at the least."""
    at_once: int = 0
    """The trainings that may run at once in this Region, as planned; 0 if nobody has said."""
    pause_after: int = 0
    """The run pauses when so many tasks, its first, fail alike by themselves; 0 means never."""
    canary: int = 0
    """Tasks of each lane that go ahead of the others, which begin once these are done; 0 means none."""
    metrics: dict[str, str] = field(default_factory=dict)
    """Metrics by name, each with a regex over the log that has one group."""

    tags: dict[str, str] = field(default_factory=dict)
    """The sweep's own tags: everything that is started carries them, beside ours."""
    checkpoint_prefix: str = ""
    """The S3 prefix in this Region below which each task has a folder of its checkpoints, called as its number. Where
    it is empty, they lie below the output."""

    def checkpoints_of(self, task: int) -> str:
        """Return the S3 prefix at which trainings of a task keep their checkpoints here; empty if they keep none."""
        if not self.checkpoints:
            return ""
        return f"{self.checkpoint_prefix or f'{self.output}/checkpoints'}/{task}"

    def tags_of(self, task: int, attempt: int) -> dict[str, str]:
        """Return the tags that all carry which is started for an attempt."""
        ours = {"run": self.run, "task": str(task), "attempt": str(attempt), "owner": self.owner}
        return {**self.tags, **{f"sweep:{name}": value for name, value in ours.items()}}

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"version": VERSION}

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Template:
        """Return a stored template. NewerVersion if a newer `sweep` has written it."""
        check_version(body, "template")
        return restore(cls, body)
