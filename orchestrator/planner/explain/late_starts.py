"""Tells in words that tasks would be in time, but for their starts, and which deadline would do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.errors import InfeasibleError
from orchestrator.planner.start_rates import end_hours
from orchestrator.spec.duration import HOUR, MINUTE, spell

if TYPE_CHECKING:
    from orchestrator.planner.model.solution import Solution
    from orchestrator.planner.offer.offer import Offer
    from orchestrator.spec.goal import Goal

WAIT_TOLD = 1 / HOUR
"""Hours of waiting from which it is told."""


def late_starts_error(solution: Solution, offer: Offer, goal: Goal) -> InfeasibleError:
    """Return the error that says so of a solution that is in time but for its starts."""
    ends = end_hours(solution, offer)
    row = int(ends.argmax())
    lane, end = int(solution.problem.choices.lane[row]), float(ends[row])
    region, rate = offer.lanes["region"].iloc[lane], float(offer.lanes["starts_per_hour"].iloc[lane])
    start, wait = (float(offer.lanes[name].iloc[lane]) for name in ("start_h", "wait_h"))
    waits = f" after a wait of {spell(wait * HOUR)}" if wait >= WAIT_TOLD else ""
    hint = f"relax the deadline to {spell(-(-end * HOUR // MINUTE) * MINUTE)}, allow more Regions, or make longer tasks"
    return InfeasibleError(
        f"the tasks fit into the deadline of {goal.deadline}, but not with their starts: in {region} one takes "
        f"{spell(start * HOUR)}{waits}, and {rate / HOUR:g} a second can begin. The last task would end after "
        f"{spell(end * HOUR)}",
        hint=hint,
    )
