"""Batch has room for so many launchers, and each watches one training: plans have no more at once, and say so."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.errors import InfeasibleError, TooFewSlots
from orchestrator.planner.difference import difference
from orchestrator.planner.explain.why import explain
from orchestrator.planner.solve import solve
from tests.fixtures.examples import examples
from tests.fixtures.sweeps import candidate, make_market, make_sweep

if TYPE_CHECKING:
    from orchestrator.catalog.market import Market
    from orchestrator.plan.plan import Plan

NOTE = "Batch has room for 4 launchers at once, as max_vcpus of [infra] says: no more trainings run then"


def market(launchers: int | None, *slots: float | None) -> Market:
    regions = ("us-east-1", "us-west-2", "eu-west-1")
    rows = [
        candidate(region=region, slots=count, usd_per_hour=1 + n / 10, on_demand_usd_per_hour=1 + n / 10)
        for n, (region, count) in enumerate(zip(regions, slots, strict=False))
    ]
    return replace(make_market(*rows), launchers=launchers)


def plan(known: Market, tasks: int = 10, hours: float = 1.0, **asked: Any) -> Plan:
    space = {"seed": {"range": [1, tasks], "step": 1}} if tasks > 1 else {"seed": [1]}
    return solve(make_sweep(space=space, runtime=hours, **asked), known)


@pytest.mark.parametrize("slots", [(10.0,), (None,), (3.0, 7.0), (None, None)])
def test_no_more_trainings_run_at_once_than_there_are_launchers(slots: tuple[float | None, ...]) -> None:
    assert plan(market(None, *slots), plan={"deadline": "2h"}).finish <= 2.0
    bound = plan(market(4, *slots), plan={"deadline": "3h"})
    assert bound.finish == 3.0
    assert NOTE in bound.notes
    with pytest.raises(TooFewSlots):
        plan(market(4, *slots), plan={"deadline": "2h"})


def test_launchers_that_are_enough_change_nothing_and_are_not_told() -> None:
    free, many = plan(market(None, 10.0)), plan(market(10, 10.0))
    assert (many.shares, many.notes, many.quotas) == (free.shares, free.notes, free.quotas)
    few_slots = plan(market(4, 2.0))
    assert few_slots.finish == 5.0
    assert NOTE not in few_slots.notes


def test_a_refusal_says_how_many_would_do() -> None:
    with pytest.raises(TooFewSlots) as refused:
        plan(market(4, 10.0), plan={"deadline": "1h"})
    assert str(refused.value) == (
        "10 tasks do not fit into the deadline of 1h: launchers at once: 4 of 10 units "
        "(write `max_vcpus = 3` below [infra], and deploy that, or relax the deadline to 3h)"
    )


def test_it_is_no_quota_and_nothing_is_leased_of_it() -> None:
    made = plan(market(4, 3.0, 7.0))
    assert {fact.quota.region for fact in made.quotas} == {"us-east-1", "us-west-2"}
    assert {quota.region for lot in made.lots for quota in lot.quotas} == {"us-east-1", "us-west-2"}


def test_what_is_cheaper_and_has_no_launcher_left_is_explained() -> None:
    known = market(4, 3.0, 7.0)
    made = plan(known, tasks=11, plan={"deadline": "3h"})
    lines = "\n".join(explain(made, "10", known))
    assert "all 3 slots are busy" in lines or "Batch has room for 4 launchers, and all are in use" in lines


def test_markets_differ_by_it_and_a_difference_says_nothing_of_it() -> None:
    before, after = market(None, 10.0), market(4, 10.0)
    assert before.hash != after.hash
    told = difference(plan(before), plan(after), after)
    assert not [line for line in told if "launchers" in line]


@settings(max_examples=examples(20), deadline=None)
@given(
    slots=st.lists(st.integers(1, 6), min_size=1, max_size=3),
    launchers=st.integers(1, 12),
    tasks=st.integers(2, 30),
    deadline=st.integers(2, 12),
)
def test_lanes_together_never_hold_more(slots: list[int], launchers: int, tasks: int, deadline: int) -> None:
    known = market(launchers, *map(float, slots))
    try:
        made = plan(known, tasks, plan={"deadline": f"{deadline}h"})
    except InfeasibleError:
        assert min(sum(slots), launchers) * deadline < tasks
        return
    assert made.finish <= deadline
    here = {lot.lane.region: lot.used or 0 for lot in made.lots}
    used = {share.places[0].lane.region for share in made.shares}
    counts = {
        region: sum(share.count for share in made.shares if share.places[0].lane.region == region) for region in used
    }
    if tasks > launchers:
        assert sum(min(here[region], counts[region]) for region in used) <= launchers
    assert all(-(-counts[region] // here[region]) <= deadline for region in used)
