"""The note of a database: as far as this it has read what the bucket holds of a run."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from orchestrator.wire.beside.markers import CancelMarker
from orchestrator.wire.stored import restore


@dataclass(frozen=True)
class Progress:
    """What was read of a run, and when by our own clock: so that only what is new is read again."""

    news_to: int = 0
    """The moment of the newest news, in milliseconds by S3's clock."""
    looked_back_at: float = 0.0
    """When it was last looked for news that came late."""
    whole_at: float = 0.0
    """When all results were last compared with what is known."""
    final_for: int = 0
    """The number of submissions after whose end all results were compared for the last time."""
    late_for: int = 0
    """The number of submissions after whose end all results were compared once more, for what began late."""
    cancel_etag: str = ""
    """S3's name for the cancel marker as it was read; empty if there was none."""
    through: int = 0
    ended: int = 0
    pause_etag: str = ""
    """S3's name for the pause marker as it was read; empty if there was none."""
    paused: dict[str, str] = field(default_factory=dict)
    """Why submissions are paused, by their numbers."""
    measured_etag: str = ""
    """S3's name for the metrics kept with the run as they were read; empty if there were none."""
    limit_etag: str = ""
    """S3's name for the limit as it was read; empty if there was none."""
    limit: dict[str, int] = field(default_factory=dict)
    """Instances that may be held at once, by what is limited."""

    @property
    def marker(self) -> CancelMarker:
        """The cancel marker as it was read."""
        return CancelMarker(self.through, self.ended)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Progress:
        return restore(cls, body)
