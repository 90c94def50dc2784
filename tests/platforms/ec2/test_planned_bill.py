"""What a plan expects of EC2, what it promises, and what EC2 bills then agree, as docs/ec2.md and planner-model.md say.

"EC2 bills max(h + start, 1 minute)", and "an instance is paid for a quarter of an hour beyond the longest run at most".
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from orchestrator.catalog.market import BILLING, STARTED, STARTS, Seen, table
from orchestrator.launcher.decide import Start, decide
from orchestrator.planner.solve import solve
from orchestrator.platforms.ec2.planning import Ec2Planning
from orchestrator.platforms.ec2.watching.bill import Life, add_up
from orchestrator.wire.result import Attempt
from tests.fixtures.sweeps import candidate, make_market, make_sweep

if TYPE_CHECKING:
    from orchestrator.plan.plan import Plan

LANE = ("ec2", "us-east-1", "g5.xlarge", "on_demand")
WORK_S = 4.0


def planned(boots: tuple[int, float] = (0, 0.0), **goal: float) -> Plan:
    """Return the plan of tasks of four seconds, after so many trainings have taken so many seconds to start."""
    start, billing = Ec2Planning.start, Ec2Planning.billing
    count, boot_s = boots
    seen = Seen(starts=table([(*LANE, count, boot_s / 3600)] if count else [], STARTED))
    market = replace(
        make_market(candidate(platform="ec2", instance_type="g5.xlarge")),
        starts=table([(*LANE, start.seconds / 3600, start.per_second * 3600)], STARTS),
        billing=table([("ec2", float(billing.start), billing.least_s, float(billing.allowance_s or 0))], BILLING),
        seen=seen,
    )
    where = {"where__platforms": ["ec2"], "where__instance_types": ["g5.xlarge"]}
    return solve(make_sweep(runtime=WORK_S / 3600, space={}, plan=goal, **where), market)


def attempt_of(plan: Plan) -> Attempt:
    task = plan.task(0, code="c")
    step = decide(task, [], 0.0, 0.0)
    assert isinstance(step, Start)
    place = task.places[step.place]
    return Attempt(
        0, 1, 0, place.lane, "r-0-1", "h", step.max_runtime_s, 0.0, place.rate, allowance_s=place.allowance_s
    )


@pytest.mark.parametrize(("boots", "boot_s"), [((0, 0.0), 120.0), ((10**6, 90.0), 90.0), ((10**6, 20.0), 20.0)])
def test_a_short_task_costs_what_was_planned_where_it_boots_as_was_thought(
    boots: tuple[int, float], boot_s: float
) -> None:
    plan = planned(boots)
    bill = add_up(attempt_of(plan), [Life(0.0, boot_s + WORK_S)], {})
    assert plan.usd == pytest.approx(bill, rel=1e-3)
    assert bill <= plan.worst_usd


@pytest.mark.parametrize("more", [1.0, 1.7])
def test_a_task_that_hangs_costs_its_envelope_at_the_most(more: float) -> None:
    plan = planned(budget=least_promise() * more)
    attempt = attempt_of(plan)
    assert attempt.allowance_s == 900
    longest = attempt.max_runtime_s + attempt.allowance_s
    bill = add_up(attempt, [Life(0.0, longest)], {})
    assert bill <= plan.worst_usd * (1 + 1e-9)
    assert bill == pytest.approx(plan.worst_usd, rel=0.01), "nor is less promised than may be used"


def least_promise() -> float:
    """Return the least promise of such a task at $1 an hour, by the formula of docs/planner-model.md."""
    hours = WORK_S / 3600
    return 1.0 * (max(1.25 * hours, 1 / 60) + 900 / 3600) + 0.0124 * hours
