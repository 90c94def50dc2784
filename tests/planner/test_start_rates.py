"""Trainings take a while to start, and a Region starts only so many in a second: plans say so and keep deadlines."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.catalog.market import STARTS, table
from orchestrator.errors import InfeasibleError, Refused, SweepError, TooFewSlots
from orchestrator.planner.solve import solve
from orchestrator.spec.duration import seconds
from tests.fixtures.examples import examples
from tests.fixtures.sweeps import candidate, make_market, make_sweep

if TYPE_CHECKING:
    from orchestrator.catalog.market import Market
    from orchestrator.plan.plan import Plan

START_H = 0.05
REGIONS = {"us-east-1": 1.0, "us-west-2": 1.2, "eu-west-1": 1.3, "eu-west-2": 1.5}


def with_starts(market: Market, start_h: float = START_H, starts_per_hour: float = 3600.0) -> Market:
    lanes = market.candidates[list(STARTS[:4])].drop_duplicates().itertuples(index=False, name=None)
    return replace(market, starts=table([(*lane, start_h, starts_per_hour) for lane in lanes], STARTS))


def plan(market: Market, tasks: int, runtime: Any, **asked: Any) -> Plan:
    space = {"seed": {"range": [1, tasks], "step": 1}} if tasks > 1 else {"seed": [1]}
    return solve(make_sweep(space=space, runtime=runtime, **asked), with_starts(market))


def test_a_slot_is_held_while_trainings_start_and_a_region_starts_one_a_second() -> None:
    # Ten rounds of 63 minutes, after ten first starts a second apart.
    assert plan(make_market(candidate(slots=10)), 100, 1.0).finish == pytest.approx(10.5 + 10 / 3600)


def test_starts_cost_nothing_and_count_in_no_timeout() -> None:
    market = make_market(candidate(slots=10))
    there = plan(market, 100, 1.0, timeout="1h")
    assert (there.usd, there.hours, there.shares[0].longest) == (100.0, 100.0, 1.0)


def test_tasks_of_seconds_end_when_all_of_them_have_been_started() -> None:
    made = plan(make_market(candidate(slots=None)), 25_000, 0.0025)
    assert made.finish == pytest.approx(25_000 / 3600 + 0.0525)
    assert (
        "25,000 tasks take 9s and hold a slot for 3m9s, as trainings have to start and end: a script that trains 20 "
        "points one after the other would hold slots for 10% of that time"
    ) in made.notes
    assert "launchers cost about $16.28 more: they wait while trainings start, run and end" in made.notes


def test_what_points_together_would_save_counts_whole_trainings() -> None:
    made = plan(make_market(candidate(slots=None)), 3, 0.0025)
    together, alone = 3 * 9 + 180, 3 * (9 + 180)
    assert (
        f"that trains 3 points one after the other would hold slots for {together / alone:.0%} of that time"
        in " ".join(made.notes)
    )
    made = plan(make_market(candidate(slots=None)), 41, 0.0025)
    together, alone = 41 * 9 + 3 * 180, 41 * (9 + 180)
    assert f"would hold slots for {together / alone:.0%} of that time" in " ".join(made.notes)


def test_a_single_point_is_not_to_be_trained_together_with_others() -> None:
    made = plan(make_market(candidate(slots=None)), 1, 0.0025)
    assert "1 task takes 9s and holds a slot for 3m9s, as trainings have to start and end" in made.notes


def test_long_tasks_have_no_such_notes() -> None:
    notes = plan(make_market(candidate(usd_per_hour=20.0, on_demand_usd_per_hour=20.0)), 4, 1.0).notes
    assert not [note for note in notes if "start" in note]


def test_a_deadline_that_only_starts_would_break_is_refused_with_one_that_does() -> None:
    market = make_market(candidate(slots=10))
    with pytest.raises(InfeasibleError) as refused:
        plan(market, 100, 1.0, plan={"deadline": "10h"})
    assert str(refused.value) == (
        "the tasks fit into the deadline of 10h, but not with their starts: in us-east-1 one takes 3m, and 1 a second "
        "can begin. The last task would end after 10h30m10s (relax the deadline to 10h31m)"
    )
    assert plan(market, 100, 1.0, plan={"deadline": "10h31m"}).finish <= 10 + 31 / 60


def test_where_starts_would_break_a_deadline_a_dearer_lane_helps() -> None:
    dearer = candidate(slots=10, region="us-west-2", usd_per_hour=1.5, on_demand_usd_per_hour=1.5)
    made = plan(make_market(candidate(slots=10), dearer), 100, 1.0, plan={"deadline": "10h"})
    assert made.finish <= 10
    assert {share.places[0].lane.region for share in made.shares} == {"us-east-1", "us-west-2"}
    assert made.usd == pytest.approx(105.0), "nine rounds of 63 minutes end in time"
    assert made.bound == pytest.approx(105.0), "whoever plans must count starts, so the bound does"


def test_what_one_region_cannot_start_in_time_goes_to_others() -> None:
    rows = [
        candidate(slots=None, region=region, usd_per_hour=usd, on_demand_usd_per_hour=usd)
        for region, usd in REGIONS.items()
    ]
    made = plan(make_market(*rows), 25_000, 0.0025, plan={"deadline": "2h"})
    assert made.finish <= 2
    assert {share.places[0].lane.region for share in made.shares} == set(REGIONS)
    assert made.tasks == 25_000
    with pytest.raises(InfeasibleError, match="relax the deadline"):
        plan(make_market(*rows), 25_000, 0.0025, plan={"deadline": "90m"})


def test_a_market_that_says_nothing_of_starts_has_none() -> None:
    made = solve(make_sweep(runtime=1.0), make_market(candidate(slots=2)))
    assert made.finish == 2.0


SHORT_AND_LONG = [candidate(slots=2), candidate(slots=2, region="us-west-2", usd_per_hour=1.5)]


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        ({"runtime": 1, "plan": {"deadline": "2h"}}, InfeasibleError, "not with their starts"),
        ({"runtime": 0.25, "plan": {"deadline": "17m"}}, InfeasibleError, "18m where it is fastest, 3m of that to st"),
        ({"runtime": 1, "plan": {"deadline": "110m"}}, TooFewSlots, "8 tasks do not fit into the deadline of 1h50m"),
        ({"runtime": 1, "plan": {"deadline": "127m", "budget": 10}}, Refused, "cannot be promised within 2h7m"),
        ({"runtime": 1, "plan": {"deadline": "125m", "budget": 8}}, TooFewSlots, "2h5m: all slots of all lanes"),
    ],
)
def test_what_a_refusal_advises_is_tried_with_the_starts_of_tasks(
    asked: dict[str, Any], error: type[SweepError], message: str
) -> None:
    market = make_market(*SHORT_AND_LONG)
    with pytest.raises(error, match=message) as refused:
        plan(market, 8, **asked)
    hint = refused.value.hint
    hours = re.search(r"deadline (?:to|of) (\w+)", hint)
    dollars = re.search(r"a budget of ([\d.]+)", hint)
    if hours:
        longer = {**asked, "plan": {**asked["plan"], "deadline": hours[1]}}
        longer["plan"] |= {"budget": float(dollars[1])} if dollars else {}
        assert plan(market, 8, **longer).finish <= seconds(hours[1]) / 3600 + 1e-9
        with pytest.raises(SweepError):
            plan(market, 8, **{**asked, "plan": {**asked["plan"], "deadline": f"{seconds(hours[1]) / 1.05:.0f}s"}})
    if dollars and not hours:
        assert plan(market, 8, **{**asked, "plan": {**asked["plan"], "budget": float(dollars[1])}})
    quota = re.search(r"raise (?:the quota|these quotas) to (\d+)(?: and (\d+))?", hint)
    if quota:
        named = [row for row in SHORT_AND_LONG if f" in {row['region']}: " in refused.value.message]
        raised = [{**row, "slots": float(units)} for row, units in zip(named, quota.groups(), strict=False)]
        plan(make_market(*SHORT_AND_LONG, *raised), 8, **asked)
    assert hours or dollars or quota


@settings(max_examples=examples(25), deadline=None)
@given(
    tasks=st.integers(1, 60),
    hours=st.sampled_from([0.01, 0.3, 1.0, 2.5]),
    slots=st.lists(st.integers(1, 6), min_size=1, max_size=3),
    deadline=st.integers(1, 12),
)
def test_no_plan_ends_after_its_deadline_when_it_is_played_start_by_start(
    tasks: int, hours: float, slots: list[int], deadline: int
) -> None:
    rows = [
        candidate(slots=float(count), region=region, usd_per_hour=usd, on_demand_usd_per_hour=usd)
        for count, (region, usd) in zip(slots, REGIONS.items(), strict=False)
    ]
    try:
        made = plan(make_market(*rows), tasks, hours, plan={"deadline": f"{deadline}h"})
    except InfeasibleError:
        return
    held = dict(zip(REGIONS, slots, strict=False))
    for share in made.shares:
        region = share.places[0].lane.region
        there = sum(one.count for one in made.shares if one.places[0].lane.region == region)
        free = [0.0] * held[region]
        last = 0.0
        for number in range(there):
            slot = min(range(len(free)), key=free.__getitem__)
            free[slot] = max(free[slot], number / 3600) + hours + START_H
            last = max(last, free[slot])
        assert last <= made.finish + 1e-9
        assert last <= deadline * (1 + 1e-9)


@pytest.mark.parametrize("deadline", [{}, {"deadline": "3h"}, {"deadline": "7542s"}], ids=str)
def test_the_bound_of_the_fastest_plan_holds_for_all_that_end_as_soon(deadline: dict[str, str]) -> None:
    """Without starts two tasks end sooner one after the other; with them, on two lanes, of which one is cheap."""
    cheap = candidate(slots=1, instance_type="ml.g5.2xlarge", usd_per_hour=0.1, on_demand_usd_per_hour=0.1)
    market = make_market(candidate(slots=1, usd_per_hour=2.0, on_demand_usd_per_hour=2.0), cheap)
    asked: dict[str, Any] = {
        "where": {"instance_types": ["ml.g5.xlarge", "ml.g5.2xlarge"]},
        "runtime": {"ml.g5.xlarge": 1, "ml.g5.2xlarge": 2.04},
    }
    fastest = plan(market, 2, **asked, plan={"minimize": "time", **deadline})
    cheapest = plan(market, 2, **asked, plan={"deadline": "7542s"})
    assert cheapest.finish <= fastest.finish
    assert 0 < fastest.bound <= min(cheapest.usd, fastest.usd) + 1e-9


def test_the_bound_counts_starts_where_tasks_on_spot_must_end_some_time_before_the_deadline() -> None:
    """Without starts, one lane has time for both tasks, one after the other, and there is time for spot."""
    prices = {"us-east-1": 2.0, "us-west-2": 3.0}
    lanes = [candidate(region=r, slots=1, usd_per_hour=usd, on_demand_usd_per_hour=usd) for r, usd in prices.items()]
    spot = {"region": "us-west-2", "slots": 1, "usd_per_hour": 2.5, "on_demand_usd_per_hour": 3.0}
    market = make_market(*lanes, candidate(purchase="spot", **spot))
    where = {"instance_types": ["ml.g5.xlarge"], "purchases": ["spot", "on_demand"]}
    asked: dict[str, Any] = {"where": where, "train__checkpoints": {"every": "5m"}}
    made = plan(market, 2, 0.8, **asked, plan={"deadline": "100m"})
    assert made.usd == pytest.approx(0.8 * 2.0 + 0.8 * 3.0)
    assert made.bound == pytest.approx(made.usd)
