"""The outlook of a run that has not ended: what it costs an hour now, in all, and about when it ends."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from orchestrator.plan.slots import LotKey
from orchestrator.wire.beside.markers import covers
from orchestrator.wire.result import TaskState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.plan.plan import Plan
    from orchestrator.runs.known.rows import Known
    from orchestrator.runs.views.accrued import Meter
    from orchestrator.wire.task import Lane


@dataclass(frozen=True)
class Outlook:
    """What is expected of a run, by the hours and prices of its plan."""

    usd_per_hour: float
    """Dollars an hour of all trainings that run right now."""
    unpriced: int
    """Running tasks on lanes of which the plan knows no price: they are in no sum here."""
    usd: float
    """Dollars that the whole run is expected to cost: what is billed, what has accrued, and what is still to come."""
    most_usd: float
    """Dollars that the run cannot exceed: its envelopes, or every attempt until its timeout."""
    ends_at: float
    """Seconds since the epoch at which its last task is about to end, if nothing is refused or fails."""


@dataclass(frozen=True)
class Seen:
    """What is known of a run that goes on."""

    usd: float
    """Dollars billed so far."""
    begun: list[Known]
    """The tasks that start or run."""
    waiting: Mapping[int, int]
    """The number of tasks that wait, of each share by its place in the plan."""
    limit: Mapping[str, int] = field(default_factory=dict)
    """Instances that it may hold at once, by Region or lane, or in all."""


class _Work:
    """Hours of work that are left on each lane."""

    def __init__(self, plan: Plan) -> None:
        self._slots: defaultdict[Lane, float] = defaultdict(float)
        for lot in plan.lots:
            self._slots[lot.lane] += float("inf") if lot.used is None else lot.used
        self._hours: defaultdict[Lane, float] = defaultdict(float)
        self._longest: defaultdict[Lane, float] = defaultdict(float)

    def add(self, lane: Lane, hours: float, instances: int, tasks: int = 1) -> None:
        """Count so many tasks of so many hours each."""
        self._hours[lane] += hours * instances * tasks
        self._longest[lane] = max(self._longest[lane], hours)

    def ends_in_hours(self) -> float:
        """Return about how long it takes: on each lane at least its longest task, or all its work in its slots."""
        lanes = self._hours.items()
        return max((max(self._longest[lane], hours / (self._slots[lane] or 1)) for lane, hours in lanes), default=0.0)

    def limited_hours(self, limit: Mapping[str, int]) -> float:
        """Return about how long it takes for a limit; a limit of none is taken for one that will be lifted."""
        hours = (
            sum(hours for lane, hours in self._hours.items() if covers(what, lane)) / slots
            for what, slots in limit.items()
            if slots
        )
        return max(hours, default=0.0)


def expect(plan: Plan, seen: Seen, meter: Meter) -> Outlook:
    """Return the outlook of a run."""
    work = _Work(plan)
    per_hour, unpriced = 0.0, 0
    usd = seen.usd + sum(copy.usd for copy in plan.copies)
    for known in seen.begun:
        share, outcome, more = plan.share(known.result.task), known.result.outcomes[-1:], meter.accrued(known)
        lane = outcome[0].lane if outcome else LotKey.of(share.places[0]).lane
        instances = outcome[0].instances if outcome else share.instances
        spent_hours = (outcome[0].seconds + more.seconds) / 3600 if outcome and more else 0.0
        work.add(lane, max(share.hours - spent_hours, 0.0), instances)
        so_far = (outcome[0].usd + more.usd) if outcome and more else 0.0
        accrued = more.usd if more else 0.0
        usd += min(accrued + max(share.usd - so_far, 0.0), meter.left_usd(known))
        if known.state is TaskState.RUNNING and all(one.has_machines for one in outcome):
            price = meter.usd_per_hour(lane)
            per_hour += (price or 0.0) * instances
            unpriced += price is None
    for index, tasks in seen.waiting.items():
        share = plan.shares[index]
        work.add(share.places[0].lane, share.hours, share.instances, tasks)
        usd += share.usd * tasks
    hours = max(work.ends_in_hours(), work.limited_hours(seen.limit))
    return Outlook(per_hour, unpriced, usd, plan.worst_usd, meter.now + hours * 3600)
