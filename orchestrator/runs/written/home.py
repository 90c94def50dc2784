"""The place of a run's launchers: what became of them is known there, and nowhere else."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from orchestrator.wire.stored import restore

if TYPE_CHECKING:
    from orchestrator.plan.slots import LotKey


@dataclass(frozen=True)
class Home:
    """The account, the Region and the queues in which Batch runs the launchers of a run."""

    account: str
    """The account's number; empty if the settings did not say it."""
    region: str
    queue: str
    lane_queue: str
    """The queue of tasks that wait for a lane's slots; its name may hold the lane's facts, as `sweep-{region}` does."""

    def queue_of(self, lot: LotKey | None) -> str:
        """Return the queue of an array: that of the lane whose instances its children wait for, or everybody's."""
        if lot is None:
            return self.queue
        lane = lot.lane
        return self.lane_queue.format(
            platform=lane.platform,
            region=lane.region,
            instance_type=lane.instance_type.replace(".", "-"),
            purchase=lane.purchase.value,
        )

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Home:
        return restore(cls, body)
