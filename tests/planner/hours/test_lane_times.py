"""Starts, waits and refusals of lanes: a prior, and what was seen by how much of it there is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.catalog.market import ASKED, PINS, STARTED, STARTS, Seen, table
from orchestrator.errors import InfeasibleError
from orchestrator.planner.difference import difference
from orchestrator.planner.explain.why import explain
from orchestrator.planner.hours.lane_times import TIMES, chance_refused, expected_wait, with_times
from orchestrator.planner.solve import solve
from tests.fixtures.sweeps import candidate, make_market, make_sweep

if TYPE_CHECKING:
    from orchestrator.catalog.market import Market

HERE = ("sagemaker", "us-east-1", "ml.g5.xlarge", "on_demand")
THERE = ("sagemaker", "eu-west-1", "ml.g5.xlarge", "on_demand")
ALL_DAY = 17.6
"""Hours of a whole day, each by its age."""


def market(**seen: Any) -> Market:
    """Return two lanes of which one is a fifth dearer, with starts of three minutes, and what was seen of them."""
    dearer = candidate(region="eu-west-1", usd_per_hour=1.2, on_demand_usd_per_hour=1.2, slots=4.0)
    known = make_market(candidate(slots=4.0), dearer)
    starts = table([(*lane, 0.05, float("inf")) for lane in (HERE, THERE)], STARTS)
    columns = {"starts": STARTED, "asked": ASKED, "pins": PINS}
    return replace(known, starts=starts, seen=Seen(**{name: table(rows, columns[name]) for name, rows in seen.items()}))


def times(known: Market) -> dict[str, list[float]]:
    lanes = with_times(known.candidates, known)
    return {name: lanes[name].tolist() for name in TIMES}


def pin(what: str, value: float, lane: tuple[str, ...] = HERE) -> tuple[Any, ...]:
    return (what, "/".join(lane), value, "anna", "2026-11-20")


def regions(known: Market, **asked: Any) -> dict[str, int]:
    shares = solve(make_sweep(runtime=1, **asked), known).shares
    return {share.places[0].lane.region: share.count for share in shares}


def test_without_any_history_a_start_is_what_the_platform_says_and_nobody_waits() -> None:
    assert times(market()) == {
        "start_h": [0.05, 0.05],
        "starts_per_hour": [float("inf")] * 2,
        "wait_h": [0.0, 0.0],
        "refused": [0.0, 0.0],
    }


def test_twenty_trainings_weigh_as_much_as_the_prior() -> None:
    assert times(market(starts=[(*HERE, 20, 0.15)]))["start_h"] == [pytest.approx(0.1), 0.05]
    assert times(market(starts=[(*HERE, 2, 0.15)]))["start_h"] == [pytest.approx((20 * 0.05 + 2 * 0.15) / 22), 0.05]


def test_twelve_hours_of_asking_weigh_as_much_as_the_prior() -> None:
    found = times(market(asked=[(*HERE, 12.0, 12.0, 0.0, 0.0)]))
    assert found["refused"] == [0.5, 0.0]
    assert found["wait_h"] == [1.0, 0.0]


def test_waits_of_those_who_got_machines_count_as_well() -> None:
    assert times(market(asked=[(*HERE, 12.0, 0.0, 12.0, 6.0)]))["wait_h"] == [0.25, 0.0]


@given(asked=st.floats(0, 40), part=st.floats(0, 1), more=st.floats(0, 1), waited=st.floats(0, 5))
def test_more_refusals_never_make_a_lane_better(asked: float, part: float, more: float, waited: float) -> None:
    refused = part * asked
    granted = asked - refused
    before, after = (chance_refused(asked, refused + extra) for extra in (0.0, more * granted))
    assert 0 <= before <= after < 1
    assert expected_wait(before, granted, waited) <= expected_wait(after, granted, waited)


def test_a_lane_that_refused_all_day_is_no_bargain_and_one_bad_hour_turns_nothing_over() -> None:
    assert regions(market(asked=[(*HERE, 1.0, 1.0, 0.0, 0.0)])) == {"us-east-1": 4}
    assert regions(market(asked=[(*HERE, ALL_DAY, ALL_DAY, 0.0, 0.0)])) == {"eu-west-1": 4}


def test_where_there_is_nothing_else_a_lane_that_refuses_is_used_for_what_it_costs() -> None:
    known = market(asked=[(*HERE, ALL_DAY, ALL_DAY, 0.0, 0.0)])
    only = replace(known, candidates=known.candidates[known.candidates["region"] == "us-east-1"])
    made = solve(make_sweep(runtime=1), only)
    assert made.usd == pytest.approx(4.0)
    assert made.gap == pytest.approx(0.0)
    waits = ALL_DAY / 12
    assert made.finish == pytest.approx(1.05 + waits)
    assert "as learned, trainings wait for machines, which `by when` counts: " + "/".join(HERE) in " ".join(made.notes)


def test_a_plan_says_which_lanes_count_as_dearer_and_explain_says_it_of_each() -> None:
    known = market(asked=[(*HERE, ALL_DAY, ALL_DAY, 0.0, 0.0)])
    made = solve(make_sweep(runtime=1), known)
    assert (
        "lanes that refused machines lately count as dearer than they are, in the bound too: "
        "sagemaker/us-east-1/ml.g5.xlarge/on_demand 2.5 times; what the plan costs is what would be paid"
    ) in made.notes
    assert (
        "  cheaper: us-east-1 ml.g5.xlarge on_demand, $1/h: 1 h (+0) and $1 (-0.2) each; "
        "but it refused machines lately, and so counts as 2.5 times as dear"
    ) in explain(made, "0", known)
    assert made.shares[0].why.startswith("cheapest of those that have machines")


def test_what_refusals_have_changed_is_told_as_that() -> None:
    before, today = market(), market(asked=[(*HERE, ALL_DAY, ALL_DAY, 0.0, 0.0)])
    old, new = (solve(make_sweep(runtime=1), one) for one in (before, today))
    assert "because of refusals: +$0.80" in difference(old, new, today)


def test_deadlines_count_learned_starts_and_waits() -> None:
    asked = {"plan": {"deadline": "80m"}}
    assert regions(market(), **asked) == {"us-east-1": 4}
    slow = market(starts=[(*HERE, 200, 0.5)])
    assert regions(slow, **asked) == {"eu-west-1": 4}
    waits = market(asked=[(*HERE, 12.0, 0.0, 12.0, 12.0)])
    assert regions(waits, **asked) == {"eu-west-1": 4}
    only = replace(waits, candidates=waits.candidates[waits.candidates["region"] == "us-east-1"])
    with pytest.raises(InfeasibleError, match="takes 1h33m where it is fastest, 33m of that to start and to end"):
        solve(make_sweep(runtime=1, **asked), only)


def test_a_pin_takes_the_place_of_what_was_learned_and_the_plan_says_so() -> None:
    seen = {"asked": [(*HERE, ALL_DAY, ALL_DAY, 0.0, 0.0)], "starts": [(*HERE, 200, 0.5)]}
    known = market(**seen, pins=[pin("waiting", 0.0), pin("start", 0.1), pin("start", 2.0, THERE)])
    found = times(known)
    assert (found["start_h"], found["wait_h"], found["refused"]) == ([0.1, 2.0], [0.0, 0.0], [0.0, 0.0])
    made = solve(make_sweep(runtime=1), known)
    assert made.finish == pytest.approx(1.1)
    lane = "/".join(HERE)
    assert f"pinned: the start of {lane} is 6m, as anna said on 2026-11-20" in made.notes
    assert "pinned: 1 value of lanes that the plan does not use first" in made.notes
