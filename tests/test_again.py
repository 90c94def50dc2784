"""Planning anew what has not been started: within what is left, and only if it pays."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from math import fsum
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.errors import CatalogError, Refused
from orchestrator.plan.copy import Copy, copied_uri
from orchestrator.plan.plan import Plan
from orchestrator.plan.slots import LotKey
from orchestrator.runs.sending.unstarted import Running, Unstarted
from orchestrator.runs.written.anchor import Anchor
from orchestrator.wire.ranges import Ranges
from orchestrator.wire.task import Lane, Purchase
from tests.fixtures.examples import examples

if TYPE_CHECKING:
    from orchestrator.plan.plan import Share
    from orchestrator.runs.sending.proposal import Proposal
    from tests.fixtures.team import Team

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
HERE, THERE = "us-east-1", "eu-west-1"
HOUR = 3600.0


def costs(team: Team, here: float, there: float, purchase: str = "spot") -> None:
    lines = [f"{region},ml.c5.xlarge,{purchase},{usd},2026-11-02" for region, usd in ((HERE, here), (THERE, there))]
    team.learns("prices", "region,instance_type,purchase,usd_per_hour,observed_at", *lines)


def everywhere(team: Team) -> None:
    """Put both datasets into both Regions."""
    lines = [f"alps@1,{THERE},s3://b-{THERE}/alps/", f"coast@1,{HERE},s3://b-{HERE}/coast/"]
    team.learns("replicas", "dataset,region,s3_uri", *lines)


def planned(team: Team, **changes: Any) -> Plan:
    return team.plan("[1, 2, 3, 4]", **{"runtime": 1, "timeout": "3h"} | changes)


def waiting(plan: Plan, tasks: str = "0-7", **changes: Any) -> Unstarted:
    start = Unstarted([], plan, Ranges.parse(tasks), Ranges(), {}, (), frozenset(), time.time())
    return replace(start, **changes)


def propose(team: Team, unstarted: Unstarted, created: float | None = None) -> Proposal:
    anchor = Anchor("nightly", unstarted.plan, "c0de", "ada", created or time.time())
    found = team.orchestrator()._plans.again_from(anchor, unstarted, time.time())
    assert found is not None
    return found


def regions(found: Proposal) -> dict[int, str]:
    return {task: share.places[0].lane.region for share in found.planned.shares for task in share.tasks}


def test_tasks_go_where_it_has_become_cheaper_and_the_savings_are_told(team: Team) -> None:
    everywhere(team)
    costs(team, 0.05, 0.08)
    plan = planned(team)
    assert {share.places[0].lane.region for share in plan.shares} == {HERE}
    costs(team, 0.09, 0.03)
    found = propose(team, waiting(plan, "1,3,6"))
    assert regions(found) == {1: THERE, 3: THERE, 6: THERE}
    assert {task: found.planned.applied(plan).task(task, code="").dataset for task in (3, 6)} == {
        3: "alps@1", 6: "coast@1",
    }  # fmt: skip
    assert found.saves == pytest.approx(3 * (0.09 - 0.03) * plan.shares[0].hours, rel=0.01)
    assert [(str(move.origin), str(move.target), move.tasks) for move in found.moves] == [
        ("ml.c5.xlarge spot in us-east-1", "ml.c5.xlarge spot in eu-west-1", 3)
    ]
    assert found.why == "it is cheaper"


def test_what_saves_less_than_a_twentieth_stays(team: Team) -> None:
    everywhere(team)
    costs(team, 0.05, 0.08)
    plan = planned(team)
    costs(team, 0.080, 0.077)
    found = propose(team, waiting(plan))
    assert found.moves
    assert 0 < found.saves < found.least
    assert found.why == ""


def test_a_sweep_whose_places_are_still_the_best_moves_nothing(team: Team) -> None:
    everywhere(team)
    costs(team, 0.05, 0.08)
    found = propose(team, waiting(planned(team)))
    assert (found.moves, found.planned.shares, found.saves, found.why) == ([], (), 0.0, "")


def test_only_as_many_move_as_there_are_slots_for_beside_what_runs(team: Team) -> None:
    everywhere(team)
    costs(team, 0.05, 0.08)
    plan = planned(team, timeout="20h", runtime=8, data="{campaigns: [alps]}")
    costs(team, 0.09, 0.03)
    lines = [f"{region},ml.c5.xlarge,{buy},2,2026-11-02" for region in (HERE, THERE) for buy in ("on_demand", "spot")]
    team.learns("quotas", "region,instance_type,purchase,slots,observed_at", *lines)
    there = LotKey(Lane("sagemaker", THERE, "ml.c5.xlarge", Purchase.SPOT))
    alone, beside = waiting(plan, "0-3"), waiting(plan, "0-3", running=(Running(there, 1, 20.0),))
    # 24 hours hold two tasks of eight hours each in a slot: four fit into two slots, and two into what is beside.
    assert len(regions(propose(team, alone))) == 4
    assert len([region for region in regions(propose(team, beside)).values() if region == THERE]) == 2


def test_what_is_left_of_the_deadline_counts_and_not_the_whole_of_it(team: Team) -> None:
    everywhere(team)
    costs(team, 0.05, 0.08)
    plan = planned(team, retries="0\nplan: {deadline: 6h}")
    costs(team, 0.09, 0.03)
    now = time.time()
    found = propose(team, waiting(plan, since=now - 4 * HOUR))
    assert found.left_hours == pytest.approx(2.0, abs=0.01)
    assert found.hours <= 2.0
    with pytest.raises(Refused, match="its deadline of 6h is over"):
        propose(team, waiting(plan, since=now - 7 * HOUR))


def test_tasks_that_would_be_late_move_though_it_costs_more(team: Team) -> None:
    everywhere(team)
    costs(team, 0.03, 0.09)
    plan = planned(team, retries="0\nplan: {deadline: 12h}", data="{campaigns: [alps]}")
    lines = [f"{HERE},ml.c5.xlarge,{buy},1,2026-11-02" for buy in ("on_demand", "spot")]
    team.learns("quotas", "region,instance_type,purchase,slots,observed_at", *lines)
    found = propose(team, waiting(plan, "0-3", since=time.time() - 10 * HOUR))
    assert found.saves < 0
    assert found.why.startswith("where they are, the last would end ")


def two_lanes_of_one_slot(team: Team, on_demand: int = 3) -> Plan:
    """Return the plan of eight tasks of a quarter of an hour, four for each Region's only slot on spot."""
    everywhere(team)
    costs(team, 0.03, 0.03)
    costs(team, 0.09, 0.09, "on_demand")
    counts = {"spot": 1, "on_demand": on_demand}
    rows = [f"{at},ml.c5.xlarge,{buy},{slots},2026-11-02" for at in (HERE, THERE) for buy, slots in counts.items()]
    team.learns("quotas", "region,instance_type,purchase,slots,observed_at", *rows)
    asked = {"runtime": 0.25, "timeout": "3h", "retries": "0\nplan: {deadline: 75m}", "data": "{campaigns: [alps]}"}
    plan = team.plan("[1, 2, 3, 4, 5, 6, 7, 8]", **asked)
    there = Counter(share.places[0].lane for share in plan.shares for _ in share.tasks)
    assert there == {spot(HERE): 4, spot(THERE): 4}
    return plan


def spot(region: str) -> Lane:
    return Lane("sagemaker", region, "ml.c5.xlarge", Purchase.SPOT)


def first_of(plan: Plan, region: str) -> int:
    return next(share.first for share in plan.shares if share.places[0].lane == spot(region))


@pytest.mark.parametrize("on_demand", [3, 0])
def test_tasks_that_wait_for_one_that_has_just_begun_in_another_lane_are_not_late(team: Team, on_demand: int) -> None:
    plan = two_lanes_of_one_slot(team, on_demand)
    begun = first_of(plan, HERE)
    rest = Ranges.parse("0-7").minus(Ranges.of([begun]))
    # There, four of 18 minutes, their starts included; here, one of 15 and three of 18. The deadline is 75 minutes.
    found = propose(team, waiting(plan, str(rest), running=(Running(LotKey(spot(HERE)), 1, 0.25),)))
    assert (found.moves, found.why) == ([], "")
    assert found.stay_hours == pytest.approx(4 * 0.3, abs=0.02)
    assert found.hours == pytest.approx(found.stay_hours)


def test_a_task_that_runs_for_most_of_the_time_left_keeps_its_slot_no_longer_than_it_runs(team: Team) -> None:
    plan = two_lanes_of_one_slot(team)
    begun, left = first_of(plan, HERE), time.time() - 35 * 60
    # 40 minutes are left, 15 of them for what runs: then one more has time there, and two have it beside it.
    rest = [begun + 1, first_of(plan, THERE), first_of(plan, THERE) + 1]
    running = (Running(LotKey(spot(HERE)), 1, 0.25),)
    found = propose(team, waiting(plan, str(Ranges.of(rest)), running=running, since=left))
    assert found.why == ""
    assert found.stay_hours == pytest.approx(0.6, abs=0.02)


def test_tasks_behind_one_that_runs_too_long_move_and_those_of_other_lanes_stay(team: Team) -> None:
    plan = two_lanes_of_one_slot(team)
    begun = first_of(plan, HERE)
    rest = Ranges.parse("0-7").minus(Ranges.of([begun]))
    # Three of 18 minutes begin here after 27 minutes: the last would end after 81.
    found = propose(team, waiting(plan, str(rest), running=(Running(LotKey(spot(HERE)), 1, 0.45),)))
    assert found.why.startswith("where they are, the last would end 0.1 h after")
    assert {move.origin.lane for move in found.moves} == {spot(HERE)}
    assert sum(move.tasks for move in found.moves) <= 3
    assert found.hours <= 1.25


def test_envelopes_together_stay_within_those_that_the_tasks_had(team: Team) -> None:
    everywhere(team)
    costs(team, 0.05, 0.08)
    plan = planned(team, retries="0\nplan: {budget: 20, minimize: cost}")
    costs(team, 0.09, 0.03)
    found = propose(team, waiting(plan, "0-4"))
    had = fsum(plan.share(task).limits.envelope or 0.0 for task in range(5))
    have = fsum((share.limits.envelope or 0.0) * share.count for share in found.planned.shares)
    assert found.planned.tasks == Ranges.parse("0-4")
    assert have + found.copies_usd <= had * (1 + 1e-9)
    assert have == pytest.approx(had)


def test_tasks_whose_envelopes_promise_too_little_today_stay_where_they_are(team: Team) -> None:
    everywhere(team)
    costs(team, 0.05, 0.08)
    plan = planned(team, retries="0\nplan: {budget: 20, minimize: cost}")
    least = replace(plan, shares=tuple(with_envelope(share, 0.2) for share in plan.shares))
    found = propose(team, waiting(least))
    assert (found.moves, found.planned.shares, found.lost) == ([], (), 0)
    assert found.usd == found.stay_usd > 0


def with_envelope(share: Share, usd: float) -> Share:
    return replace(share, limits=replace(share.limits, envelope=usd))


def test_a_copy_that_the_run_has_made_is_there_and_costs_nothing(team: Team) -> None:
    costs(team, 0.05, 0.08)
    team.learns("transfer_prices", "from_region,to_region,usd_per_gb", f"{HERE},{THERE},0.02")
    plan = planned(team, data="{campaigns: [alps], move_data: if_cheaper}")
    made = Copy(0, HERE, THERE, "s3://from/", copied_uri("alps@1"), 5.0, 0.1)
    costs(team, 0.09, 0.03)
    found = propose(team, waiting(replace(plan, copies=(made,)), "0-3"))
    assert set(regions(found).values()) == {THERE}
    assert {share.places[0].s3_uri for share in found.planned.shares} == {copied_uri("alps@1")}
    assert found.copies_usd == 0.0


def test_a_lane_that_has_just_refused_is_left_and_takes_nothing_more(team: Team) -> None:
    everywhere(team)
    costs(team, 0.05, 0.08)
    plan = planned(team)
    lane = Lane("sagemaker", HERE, "ml.c5.xlarge", Purchase.SPOT)
    found = propose(team, waiting(plan, refused=frozenset({lane})))
    assert set(regions(found).values()) == {THERE}


def test_where_the_catalog_does_not_know_the_data_that_is_said(team: Team) -> None:
    plan = planned(team, data="{campaigns: [alps]}")
    other = replace(plan, datasets=(replace(plan.datasets[0], name="moon@7"),))
    with pytest.raises(CatalogError, match=r"does not know moon@7 \(`sweep catalog pull`"):
        propose(team, waiting(other, "0-3"))


@pytest.fixture
def ready(team: Team) -> tuple[Team, Plan]:
    everywhere(team)
    costs(team, 0.05, 0.08)
    return team, planned(team)


@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    tasks=st.sets(st.integers(0, 7), min_size=1),
    here=st.sampled_from([0.02, 0.05, 0.12]),
    there=st.sampled_from([0.03, 0.11]),
)
def test_the_run_has_all_its_tasks_afterwards_and_never_pays_more(
    ready: tuple[Team, Plan], tasks: set[int], here: float, there: float
) -> None:
    team, plan = ready
    costs(team, here, there)
    found = propose(team, waiting(plan, str(Ranges.of(tasks))))
    assert not found.planned.tasks.minus(Ranges.of(tasks))
    assert found.usd <= found.stay_usd * (1 + 1e-9)
    now = found.planned.applied(plan)
    assert Plan.from_json(now.to_json()).tasks == 8
    assert [now.task(number, code="").key for number in range(8)] == [
        plan.task(number, code="").key for number in range(8)
    ]
