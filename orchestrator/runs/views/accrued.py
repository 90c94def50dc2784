"""What running trainings have taken since they were last seen, by the clock: AWS bills them only when they end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.wire.result import TaskState

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.plan.plan import Plan
    from orchestrator.runs.known.rows import Known
    from orchestrator.wire.task import Lane


@dataclass(frozen=True)
class Accrued:
    """Seconds and dollars beyond those that the task's result says."""

    seconds: float = 0.0
    usd: float = 0.0


class Meter:
    """Tells what running trainings have taken at one moment, at the prices of the plan."""

    def __init__(self, plan: Plan, now: float) -> None:
        self.now = now
        self._usd_per_hour = {lot.lane: lot.usd_per_hour for lot in plan.lots}

    def usd_per_hour(self, lane: Lane) -> float | None:
        """Return what the plan pays for an instance of a lane; None if it does not know the lane."""
        return self._usd_per_hour.get(lane)

    def accrued(self, known: Known) -> Accrued | None:
        """Return what a task has taken; None if it does not run, or if nobody knows since when.

        What has lost its machines has taken nothing since.
        """
        outcome = known.result.outcomes[-1] if known.result.outcomes else None
        if known.state is not TaskState.RUNNING or outcome is None or outcome.started_at is None:
            return None
        if outcome.state.terminal:
            return None  # the task goes on: its checkpoint is brought to where its next training runs
        until = self.now if outcome.lost_at is None else min(self.now, outcome.lost_at)
        seconds = max(until - outcome.started_at, outcome.seconds)
        usd = seconds / 3600 * (self.usd_per_hour(outcome.lane) or 0.0) * outcome.instances
        return Accrued(seconds - outcome.seconds, max(usd - outcome.usd, 0.0))

    def usd(self, running: Iterable[Known]) -> float:
        """Return what all these have cost beyond their results."""
        return sum(more.usd for one in running if (more := self.accrued(one)))
