"""What running trainings have taken so far, by the clock: nobody tells before their state changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.wire.result import TaskState

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.plan.plan import Plan
    from orchestrator.runs.ledger import Known


@dataclass(frozen=True)
class Accrued:
    """Beyond what the task's result says."""

    seconds: float = 0.0
    usd: float = 0.0


class Clock:
    """Reads them off at one moment, at the prices of the plan."""

    def __init__(self, plan: Plan, now: float) -> None:
        self.now = now
        self._usd_per_hour = {lot.lane: lot.usd_per_hour * plan.sweep.train.instances for lot in plan.lots}

    def so_far(self, known: Known) -> Accrued | None:
        """None of a task that does not run, or of which nobody knows since when."""
        outcome = known.result.outcomes[-1] if known.result.outcomes else None
        if known.state is not TaskState.RUNNING or outcome is None or outcome.started_at is None:
            return None
        seconds = max(self.now - outcome.started_at, outcome.seconds)
        usd = seconds / 3600 * self._usd_per_hour.get(outcome.lane, 0.0)
        return Accrued(seconds - outcome.seconds, max(usd - outcome.usd, 0.0))

    def usd(self, running: Iterable[Known]) -> float:
        return sum(more.usd for one in running if (more := self.so_far(one)))
