"""The move of a task to another place, written down before its training is stopped, or its checkpoint copied.

It lies beside the attempt that the task moves away from. Whoever comes later goes where it says: so a checkpoint is
brought to one Region, and paid once, whoever is killed on the way.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from orchestrator.wire.stored import VERSION, check_version, restore
from orchestrator.wire.task import Lane


@dataclass(frozen=True)
class Move:
    """The place where a task goes on after attempt `number`, and what of the move has been done."""

    task: int
    number: int
    lane: Lane
    site: str
    instances: int
    decided_at: float
    """Seconds since the epoch."""
    submission: int = 1
    """The submission whose launcher decided it. What a newer one decides replaces it."""
    why: str = ""
    """One line for people."""
    usd: float = 0.0
    """Dollars for bringing the task's checkpoint there, and to where it was to go before."""
    paid_from: str = ""
    """The S3 address from which the checkpoint is brought, once that is in the dollars; else empty."""
    uploads: dict[str, str] = field(default_factory=dict)
    """S3's ids of the uploads in parts that have begun, by key: whoever comes later goes on with them."""

    @property
    def to(self) -> tuple[Lane, str, int]:
        """The place that it goes to: its lane, its site and its instances."""
        return (self.lane, self.site, self.instances)

    def decided_again(self, later: Move, known: Move | None) -> Move:
        """Return what counts when somebody decides later, who knew of a move or of none.

        The newest submission counts. Within one it is the first move, unless whoever replaces it knew of it. A copy to
        the same Region goes on: what is paid of it, and what has arrived, is not paid or copied again.
        """
        knew = known is not None and known.to == self.to
        if later.submission < self.submission or (later.to == self.to and later.submission == self.submission):
            return self
        if later.submission <= self.submission and not knew:
            return self
        if later.lane.region != self.lane.region:
            return replace(later, usd=self.usd)
        return replace(later, usd=self.usd, paid_from=self.paid_from, uploads=self.uploads)

    def charged(self, source: str, usd: float) -> Move:
        """Return the move with the price of bringing the checkpoint from this address. It is counted once."""
        return self if self.paid_from else replace(self, usd=self.usd + usd, paid_from=source)

    def given_back(self, source: str, usd: float) -> Move:
        """Return the move without these dollars of the price, for so much was not brought. They go back once."""
        return replace(self, usd=max(self.usd - usd, 0.0), paid_from="") if self.paid_from == source else self

    def begun(self, key: str, upload: str) -> Move:
        """Return the move with an upload that has begun, unless another one has begun before."""
        return replace(self, uploads={key: upload, **self.uploads})

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"lane": str(self.lane), "version": VERSION}

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Move:
        """Return a stored move. NewerVersion if a newer `sweep` has written it."""
        check_version(body, "move")
        return restore(cls, body, lane=Lane.parse)
