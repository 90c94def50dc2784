"""What one more slot would save is what a plan with that slot costs less."""

from __future__ import annotations

import pytest

from orchestrator.planner.explain.one_more import find_savings
from orchestrator.planner.solve import solve
from tests.fixtures.sweeps import candidate, make_market, make_sweep, with_total
from tests.planner.test_start_rates import with_starts

FOUR = {"space": {"lr": [1, 2, 3, 4]}, "runtime": 1}


def test_what_one_more_slot_of_each_full_quota_would_save_is_what_a_plan_with_it_costs_less() -> None:
    rows = [
        candidate(slots=1.0),
        candidate(region="us-west-2", usd_per_hour=1.5, slots=2.0),
        candidate(region="eu-west-1", usd_per_hour=4.0, slots=9.0),
    ]
    sweep = make_sweep(space={"lr": [1, 2, 3, 4, 5, 6, 7, 8]}, runtime=1, plan={"deadline": "2h"})
    plan = solve(sweep, make_market(*rows))
    savings = find_savings(plan, make_market(*rows))
    more = [{**row, "slots": row["slots"] + 1} for row in rows]
    expected = {
        str(rows[n]["region"]): plan.usd - solve(sweep, make_market(*rows[:n], more[n], *rows[n + 1 :])).usd
        for n in range(2)
    }
    assert {quota.region: saved for quota, saved in savings.items()} == pytest.approx(expected)
    assert expected == pytest.approx({"us-east-1": 6.0, "us-west-2": 5.0})


def test_a_lane_whose_slots_no_task_would_use_in_time_lacks_none() -> None:
    rows = [candidate(slots=8.0), candidate(region="us-west-2", instance_type="ml.p3.2xlarge", slots=1.0)]
    sweep = make_sweep(
        **FOUR | {"runtime": {"ml.g5.xlarge": 1, "ml.p3.2xlarge": 9}},
        where={"instance_types": ["ml.g5.xlarge", "ml.p3.2xlarge"]},
        plan={"deadline": "2h"},
    )
    market = with_total(with_total(make_market(*rows), "us-east-1", 2), "us-west-2", 1)
    assert {quota.region for quota in find_savings(solve(sweep, market), market)} <= {"us-east-1"}


def test_a_figure_is_the_difference_of_two_plans_whose_starts_are_in_time() -> None:
    rows = [candidate(slots=1.0), candidate(region="us-west-2", usd_per_hour=1.5, slots=4.0)]
    sweep = make_sweep(space={"lr": [1, 2, 3, 4]}, runtime=1, plan={"deadline": "2h"})
    market, more = (with_starts(make_market({**rows[0], "slots": slots}, rows[1])) for slots in (1.0, 2.0))
    plan = solve(sweep, market)
    (saved,) = find_savings(plan, market).values()
    assert saved == pytest.approx(plan.usd - solve(sweep, more).usd)
    assert saved == pytest.approx(0.5)


def test_a_plan_that_leaves_room_everywhere_would_save_nothing_by_more() -> None:
    market = make_market(candidate())
    assert find_savings(solve(make_sweep(**FOUR), market), market) == {}


def test_of_a_plan_that_is_to_be_fast_nothing_is_told() -> None:
    market = make_market(candidate(slots=1.0), candidate(region="us-west-2", usd_per_hour=1.5, slots=2.0))
    plan = solve(make_sweep(**FOUR, plan={"minimize": "time"}), market)
    assert set(find_savings(plan, market).values()) == {None}
