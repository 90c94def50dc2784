"""What running trainings have taken since they were last seen, by the clock: AWS bills them only when they end.

It is never more than may be billed: nobody may have been able to see for a while that a training has ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from orchestrator.wire.result import TaskState

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.plan.plan import Plan
    from orchestrator.runs.known.rows import Known
    from orchestrator.wire.result import Outcome
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
        self._plan = plan
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
        seconds = max(min(until - outcome.started_at, self._most_s(known, outcome)), outcome.seconds)
        usd = seconds / 3600 * (self.usd_per_hour(outcome.lane) or 0.0) * outcome.instances
        return Accrued(seconds - outcome.seconds, max(usd - outcome.usd, 0.0))

    def left_usd(self, known: Known) -> float:
        """Return the dollars that are left of a task's envelope, beyond its result; infinity if it has none."""
        envelope = self._plan.share(known.result.task).limits.envelope
        return inf if envelope is None else max(envelope - known.result.usd, 0.0)

    def _most_s(self, known: Known, outcome: Outcome) -> float:
        """Return the seconds for which an instance of a task's last training may be billed, as its launcher counts."""
        share = self._plan.share(known.result.task)
        there = [place for place in share.places if place.lane == outcome.lane] or share.places
        allowed_s = share.limits.max_runtime_s + max(place.kept_back_s for place in there)
        hourly = max(place.rate for place in there) * outcome.instances
        return min(allowed_s, (self.left_usd(known) + outcome.usd) / hourly * 3600) if hourly else allowed_s

    def usd(self, running: Iterable[Known]) -> float:
        """Return what all these have cost beyond their results."""
        return sum(more.usd for one in running if (more := self.accrued(one)))
