"""Tells in words that tasks would be in time, but for their starts, and which deadline would do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.errors import InfeasibleError
from orchestrator.planner.explain.refusal import Refusal
from orchestrator.planner.explain.remedies import round_up_hours
from orchestrator.planner.start_rates import end_hours, held_problem, starts_too_many
from orchestrator.spec.duration import HOUR, spell

if TYPE_CHECKING:
    from orchestrator.planner.model.solution import Solution
    from orchestrator.planner.offer.formulate import Formulation

WAIT_TOLD = 1 / HOUR
"""Hours of waiting from which it is told."""


def late_starts_error(solution: Solution, formulation: Formulation) -> InfeasibleError:
    """Return the error that says so of a solution that is in time but for its starts."""
    offer, goal, refusal = formulation.offer, formulation.sweep.plan, Refusal(formulation)
    stranded = held_problem(offer, offer.problem).within(goal.hours).stranded
    if stranded.size:
        return refusal.too_long(int(stranded[0]))
    ends = end_hours(solution, offer)
    row = int(ends.argmax())
    lane, end = int(solution.problem.choices.lane[row]), float(ends[row])
    region, rate = offer.lanes["region"].iloc[lane], float(offer.lanes["starts_per_hour"].iloc[lane])
    start, wait = (float(offer.lanes[name].iloc[lane]) for name in ("start_h", "wait_h"))
    waits = f" after a wait of {spell(wait * HOUR)}" if wait >= WAIT_TOLD else ""
    hours = refusal.enough_hours(likely=end)
    hints = [f"relax the deadline to {spell(round_up_hours(hours) * HOUR)}"] if hours else []
    if starts_too_many(solution, offer, goal.hours):
        hints.append("make fewer and longer tasks")
    return InfeasibleError(
        f"the tasks fit into the deadline of {spell(goal.hours * HOUR)}, but not with their starts: in {region} one "
        f"takes {spell(start * HOUR)}{waits}, and {rate / HOUR:g} a second can begin. The last task would end after "
        f"{spell(end * HOUR)}",
        hint=", or ".join(hints) or "allow more Regions",
    )
