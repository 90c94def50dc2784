"""What has no plan is refused with the limit that binds; and whatever is suggested, does."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from orchestrator.catalog.market import LEASES, table
from orchestrator.errors import InfeasibleError, Refused, TooFewSlots
from orchestrator.plan.slots import tasks_by_lot, units_taken
from orchestrator.planner.explain.refusal import Refusal
from orchestrator.planner.explain.remedies import (
    find_enough_dollars,
    find_enough_hours,
    find_enough_units,
    has_solution,
    with_more_units,
)
from orchestrator.planner.model.choices import NO_COPY
from orchestrator.planner.model.solution import DoesNotFit
from orchestrator.planner.offer.formulate import formulate
from orchestrator.planner.solve import solve
from orchestrator.planner.solver.optimise import optimise
from orchestrator.wire.task import Quota
from tests.fixtures.examples import examples
from tests.fixtures.sweeps import candidate, make_market, make_sweep, with_quota
from tests.planner.solver.problems import make_problem, own_limits, shared_limit, small_problems

if TYPE_CHECKING:
    from orchestrator.planner.model.problem import Problem
    from orchestrator.planner.model.solution import Solution

SIXTEEN = {"space": {"lr": list(range(16))}, "runtime": 6}


def refused(rows: list[dict[str, Any]], **changes: Any) -> str:
    with pytest.raises(InfeasibleError) as caught:
        solve(make_sweep(**changes), make_market(*rows))
    return str(caught.value)


def test_sixteen_tasks_of_six_hours_do_not_fit_ten_slots_in_ten_hours() -> None:
    assert refused([candidate(slots=10.0)], **SIXTEEN, plan={"deadline": "10h"}) == (
        "16 tasks do not fit into the deadline of 10h: ml.g5.xlarge/on_demand in us-east-1: 10 of 16 units "
        "(raise the quota to 16, or relax the deadline to 12h)"
    )
    with pytest.raises(TooFewSlots) as caught:
        solve(make_sweep(**SIXTEEN, plan={"deadline": "10h"}), make_market(candidate(slots=10.0)))
    assert caught.value.exit_code == 6
    solve(make_sweep(**SIXTEEN, plan={"deadline": "10h"}), make_market(candidate(slots=16.0)))
    solve(make_sweep(**SIXTEEN, plan={"deadline": "12h"}), make_market(candidate(slots=10.0)))


HELD = candidate(slots=40.0, held=28)
BESIDE = {**SIXTEEN, "runtime": 12, "train__instances": 2, "train__efficiency": 1, "plan": {"deadline": "12h"}}


def test_a_quota_is_raised_by_instances_and_beside_what_others_hold() -> None:
    assert refused([HELD], **BESIDE) == (
        "16 tasks do not fit into the deadline of 12h: ml.g5.xlarge/on_demand in us-east-1: 12 of 16 units, as 28 of "
        "its 40 are held by other runs (raise the quota to 44, or relax the deadline to 18h)"
    )
    solve(make_sweep(**BESIDE), make_market({**HELD, "slots": 44.0}))


def test_who_holds_the_slots_is_named() -> None:
    lane = ("sagemaker", "us-east-1", "ml.g5.xlarge/on_demand")
    elsewhere = ("sagemaker", "us-west-2", "ml.g5.xlarge/on_demand")
    for rows, holders in (
        (
            [("nightly", *lane, 28), ("far", *elsewhere, 9)],
            "held by run nightly (`sweep sync nightly` frees what has ended, or raise ",
        ),
        (
            [("a", *lane, 20), ("b", *lane, 8)],
            "held by runs a and b (`sweep sync a` and `sweep sync b` free what has ended, or raise ",
        ),
    ):
        market = replace(make_market(HELD), leases=table(rows, LEASES))
        with pytest.raises(InfeasibleError) as caught:
            solve(make_sweep(**BESIDE), market)
        assert holders in str(caught.value)


def test_a_quota_over_all_instance_types_binds_as_well() -> None:
    market = with_quota(make_market(candidate(slots=16.0)), "*/*", 12, held=4)
    with pytest.raises(InfeasibleError) as caught:
        solve(make_sweep(**SIXTEEN, plan={"deadline": "10h"}), market)
    assert str(caught.value) == (
        "16 tasks do not fit into the deadline of 10h: */* in us-east-1: 8 of 16 units, as 4 of "
        "its 12 are held by other runs (raise the quota to 20, or relax the deadline to 12h)"
    )


def test_a_quota_of_vcpus_is_raised_in_its_units() -> None:
    """Each of 16 trainings holds 4 vCPUs on one type, and 8 on the other, which nobody needs."""
    rows = [candidate(slots=None), candidate(instance_type="ml.g5.2xlarge", usd_per_hour=9.0, slots=None)]
    each = {"ml.g5.xlarge": 4, "ml.g5.2xlarge": 8}
    sweep = make_sweep(**SIXTEEN, where__instance_types=list(each), plan={"deadline": "10h"})
    with pytest.raises(InfeasibleError) as caught:
        solve(sweep, with_quota(make_market(*rows), "vcpus", 43, each=each))
    assert str(caught.value) == (
        "16 tasks do not fit into the deadline of 10h: vcpus in us-east-1: 40 of 64 units "
        "(raise the quota to 64, or relax the deadline to 12h)"
    )
    plan = solve(sweep, with_quota(make_market(*rows), "vcpus", 64, each=each))
    assert [(fact.quota.name, fact.units) for fact in plan.quotas] == [("vcpus", 64)]
    uses = {lot.lane.instance_type: lot.uses for lot in plan.lots}
    assert uses["ml.g5.xlarge"] == {"ml.g5.xlarge/on_demand": 1, "vcpus": 4}
    assert units_taken(plan, tasks_by_lot(plan)) == {
        Quota("sagemaker", "us-east-1", "ml.g5.xlarge/on_demand"): 16,
        Quota("sagemaker", "us-east-1", "vcpus"): 64,
    }


def test_two_limits_that_bind_are_raised_together() -> None:
    rows = [candidate(slots=1.0), candidate(dataset="bay@2", region="eu-west-1", slots=1.0)]
    changes = {"space": {"lr": [1, 2]}, "runtime": 6, "plan": {"deadline": "8h"}}
    assert "units (raise these quotas to 2 and 2, or relax the deadline to 12h)" in refused(rows, **changes)
    solve(make_sweep(**changes), make_market(*[{**row, "slots": 2.0} for row in rows]))


def test_the_horizon_is_not_called_a_deadline() -> None:
    message = refused([candidate(slots=1.0)], **SIXTEEN, plan={"horizon": "1d"})
    assert message.endswith("(raise the quota to 4, or relax the horizon to 4d)")


def test_a_task_longer_than_the_horizon_is_refused_with_the_numbers() -> None:
    message = refused([candidate()], space={}, runtime=6, plan={"deadline": "5h"})
    assert message == (
        "a task of alps@1 takes 6h where it is fastest, longer than the deadline of 5h (relax the deadline to 6h)"
    )


def near_and_dear() -> Any:
    dear = candidate(region="us-west-2", usd_per_hour=5.0, on_demand_usd_per_hour=5.0, slots=2.0)
    return make_market(candidate(slots=2.0), dear)


def test_a_budget_that_cannot_be_promised_is_refused_with_what_would_do() -> None:
    asked = {"space": {"lr": [1, 2, 3, 4]}, "runtime": 1}
    with pytest.raises(Refused, match=r"\$8\.00 cannot be promised within 1h: honest runs may cost \$15\.65") as caught:
        solve(make_sweep(**asked, plan={"budget": 8, "deadline": "1h"}), near_and_dear())
    assert caught.value.exit_code == 6
    assert caught.value.hint == "a budget of 15.65 would do, or a deadline of 2h"
    for better in ({"budget": 15.65, "deadline": "1h"}, {"budget": 8, "deadline": "2h"}):
        solve(make_sweep(**asked, plan=better), near_and_dear())


def test_a_budget_below_what_everything_costs_where_it_is_cheapest_has_no_deadline() -> None:
    with pytest.raises(Refused) as caught:
        solve(make_sweep(space={"lr": [1, 2]}, runtime=1, plan={"budget": 2}), near_and_dear())
    assert caught.value.hint == "a budget of 2.63 would do; no deadline is long enough for $2.00"


def test_a_budget_that_is_not_proven_to_be_too_little_is_not_said_to_be() -> None:
    asked = make_sweep(space={"lr": [1, 2, 3, 4]}, runtime=1, plan={"budget": 8, "deadline": "1h"})
    error = Refusal(formulate(asked, near_and_dear()), proven=False).error()
    assert str(error).startswith("no plan was found that promises $8.00 within 1h: the least found is $15.65 (")


def test_a_budget_below_a_cent_is_told_as_it_was_written() -> None:
    with pytest.raises(Refused, match=r"^\$0\.0001 cannot be promised"):
        solve(make_sweep(space={"lr": [1]}, runtime=1, plan={"budget": 0.0001}), near_and_dear())


def test_a_single_task_does_not_fit() -> None:
    waiting = with_quota(make_market(candidate(slots=16.0)), "*/*", 12, held=12)
    with pytest.raises(InfeasibleError, match=r"^1 task does not fit into the horizon of "):
        solve(make_sweep(space={"lr": [1]}, runtime=1), waiting)


@settings(max_examples=examples(60))
@given(small_problems(), st.integers(1, 3), st.sampled_from([[1, 1], [1, 2], [4, 2]]))
def test_what_is_suggested_does(problem: Problem, total: int, units: list[float]) -> None:
    slots = np.minimum(problem.most_slots, 1.0).tolist()
    crowded = replace(problem, limits=own_limits(slots, shared_limit([0, 1], total, units)))
    within = crowded.within(problem.horizon)
    assume(not within.stranded.size)
    assume(not has_solution(within, problem.horizon))
    fixed = np.zeros(4, dtype=bool)
    unlimited = replace(within, budget=np.inf)
    if (raised := find_enough_units(unlimited, fixed)) is not None:
        optimise(with_more_units(unlimited, raised))
    if (usd := find_enough_dollars(unlimited)) is not None:
        optimise(replace(within, budget=usd))
    if (hours := find_enough_hours(crowded, problem.horizon)) is not None:
        optimise(crowded.within(hours))


def test_where_raising_quotas_is_enough_one_is_found() -> None:
    rows = [(0, 0, -1, 6.0, 0.0, 1.0), (0, 1, -1, 4.0, 0.0, 9.0)]
    problem = make_problem([16], [1.0, 1.0], rows)
    raised = find_enough_units(problem, np.zeros(2, dtype=bool))
    assert raised == {1: 7}  # eight slots take two tasks each; fewer than anywhere else
    assert find_enough_units(problem, np.ones(2, dtype=bool)) is None


def test_no_quota_is_raised_by_more_than_whole_tasks_need() -> None:
    """Fluid tasks lack 4.7 slots. Half as many more would be 8, and 7 will do."""
    rows = [(0, 0, -1, 5.5, 0.0, 1.0), (1, 0, -1, 2.5, 0.0, 1.0)]
    problem = make_problem([9, 7], [2.0], rows)
    assert find_enough_units(problem, np.zeros(1, dtype=bool)) == {0: 7}
    assert not has_solution(with_more_units(problem, {0: 6}), problem.horizon)


@pytest.mark.filterwarnings("error")
def test_a_reservation_that_closes_before_any_task_ends_is_no_help_and_no_warning() -> None:
    rows = [(0, lane, NO_COPY, 6.0, 0.0, 1.0) for lane in (0, 1)]
    problem = make_problem([4], [1, 1], rows)
    closing = replace(problem, closes=np.array([np.inf, 2.0]), horizon=np.inf)
    assert find_enough_hours(closing, 10.0) == 24.0


def test_no_money_is_enough_where_there_are_too_few_slots() -> None:
    with pytest.raises(DoesNotFit):
        optimise(make_problem([2], [1.0], [(0, 0, -1, 6.0, 0.0, 1.0)]))
    assert find_enough_dollars(make_problem([2], [1.0], [(0, 0, -1, 6.0, 0.0, 1.0)])) is None


def test_a_deadline_that_is_likely_to_do_is_tried_first_and_then_only_when_its_last_task_ends() -> None:
    problem = make_problem([20], [10.0], [(0, 0, -1, 5.0, 0.0, 1.0)])
    tried: list[float] = []

    def room(problem: Problem, hours: float) -> Solution:
        tried.append(hours)
        return optimise(problem.within(hours))

    assert find_enough_hours(problem, 1.0, room, likely=10.1) == 10
    assert tried == [10.1, 10]
    assert find_enough_hours(problem, 1.0, room, likely=40.0) == 10
    assert find_enough_hours(problem, 1.0, room, likely=9.0) == 10
