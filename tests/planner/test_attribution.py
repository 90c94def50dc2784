"""What has made a plan dearer is named by its kind, and the parts add up."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.catalog.market import DISCOUNTS, HISTORY, STARTS, table
from orchestrator.plan.plan import Plan
from orchestrator.planner.attribution import attribute
from orchestrator.planner.solve import solve
from tests.fixtures.examples import examples
from tests.fixtures.sweeps import candidate, make_market, make_sweep

if TYPE_CHECKING:
    from orchestrator.catalog.market import Market

MOVING = {"data": {"move_data": "if_cheaper"}}


def spot(usd: float, **facts: Any) -> dict[str, Any]:
    return candidate(purchase="spot", usd_per_hour=usd, on_demand_usd_per_hour=2.0, **facts)


def learned(market: Market, paid: float = 0.0, hours: float = 0.0) -> Market:
    """The Market after so many hours on spot that cost so much, and ten tasks of an epoch that took so long."""
    paid_before = [("sagemaker", "us-east-1", "ml.g5.xlarge", 10_000.0, paid)] if paid else []
    task = ("sagemaker", "us-east-1", "ml.g5.xlarge", "spot", 1, 10**9, '{"epochs":1}', hours)
    past = table([task] * 10 if hours else (), HISTORY)
    return replace(market, discounts=table(paid_before, DISCOUNTS), history=past)


def parts(before: Market, after: Market, **asked: Any) -> dict[str, float]:
    old, new = (solve(make_sweep(**asked), market) for market in (before, after))
    found = {part.cause: pytest.approx(part.usd, abs=0.006) for part in attribute(old, new, after)}
    assert round(new.usd, 2) - round(old.usd, 2) == pytest.approx(
        sum(part.usd for part in attribute(old, new, after)), abs=1e-9
    )
    assert attribute(Plan.from_json(old.to_json()), new, after) == attribute(old, new, after)
    return found


OTHER = candidate(region="eu-west-1", usd_per_hour=1.5)
BEFORE = make_market(spot(1.0, slots=2.0), OTHER)
GONE = {"places that are gone and places that are new": 1.0}
HURRY = {"space": {"epochs": [1], "lr": [1, 2, 3, 4]}, "runtime": 1, "plan": {"deadline": "1h30m"}}


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (BEFORE, {}),
        (make_market(spot(1.2, slots=2.0), OTHER), {"prices": 0.41}),
        (make_market(spot(1.0, slots=1.0), OTHER), {"quotas": 0.47}),
        (make_market(spot(1.0, slots=2.0, interruptions_per_hour=0.1), OTHER), {"interruption rates": 0.06}),
        (make_market(spot(1.0, slots=2.0), OTHER, candidate(region="ap-1")), {"places that are new": -1.06}),
        (make_market(spot(1.0, slots=2.0), candidate(region="ap-1", usd_per_hour=2.0)), GONE),
    ],
)
def test_a_change_of_one_kind_is_all_of_it(after: Market, expected: dict[str, float]) -> None:
    assert parts(BEFORE, after, **HURRY) == expected


def test_what_starts_make_dearer_is_no_change() -> None:
    """A deadline that starts would break moves tasks to a dearer lane, today as before: only the price has changed."""

    def market(usd: float) -> Market:
        dearer = candidate(slots=10, region="us-west-2", usd_per_hour=1.5, on_demand_usd_per_hour=1.5)
        made = make_market(candidate(slots=10, usd_per_hour=usd), dearer)
        lanes = made.candidates[list(STARTS[:4])].drop_duplicates().itertuples(index=False, name=None)
        return replace(made, starts=table([(*lane, 0.05, 3600.0) for lane in lanes], STARTS))

    asked = {"space": {"lr": {"range": [1, 100], "step": 1}}, "runtime": 1.0, "plan": {"deadline": "10h"}}
    assert parts(market(1.0), market(1.1), **asked) == {"prices": 9.0}  # of the 90 hours that stay there


def test_what_our_own_tasks_paid_and_how_long_they_took_is_told_apart() -> None:
    asked = HURRY | {"runtime": None, "sizes": ["epochs"]}
    guessed, slow = learned(BEFORE), learned(BEFORE, hours=0.5)
    assert set(parts(guessed, slow, **asked)) == {"learned runtimes"}
    assert set(parts(slow, learned(BEFORE, paid=1.3, hours=0.5), **asked)) == {"learned discounts"}
    dearer = make_market(spot(1.1, slots=2.0), candidate(region="eu-west-1", usd_per_hour=1.5))
    assert set(parts(guessed, learned(dearer, paid=1.3, hours=0.5), **asked)) == {
        "prices",
        "learned discounts",
        "learned runtimes",
    }


def test_data_that_came_or_may_be_copied_for_less() -> None:
    two = make_market(spot(1.0), spot(1.0, dataset="bay@2"))
    assert parts(make_market(spot(1.0)), two) == {"data": pytest.approx(3.06, abs=0.1)}
    far = {"region": "us-west-2", "from_region": "us-east-1", "bytes": 10**11}
    dear, cheap = (make_market(spot(0.1, **far, transfer_usd_per_gb=usd)) for usd in (0.05, 0.02))
    assert parts(dear, cheap, **MOVING) == {"data": -3.0}


def test_what_was_asked_is_a_kind_too() -> None:
    market = make_market(candidate())
    old, new = solve(make_sweep(), market), solve(make_sweep(runtime="0.6 * epochs"), market)
    assert [(part.cause, round(part.usd, 2)) for part in attribute(old, new, market)] == [("what was asked", 0.6)]


def test_facts_that_only_together_allow_a_plan_are_one_part() -> None:
    """With the slots of before, tasks that take as long as is known now would not have ended in time."""
    asked = HURRY | {"runtime": None, "sizes": ["epochs"], "plan": {"deadline": "2h"}}
    before = learned(make_market(spot(1.0, slots=1.0)), hours=0.25)
    after = learned(make_market(spot(1.0, slots=4.0)), hours=1.5)
    assert list(parts(before, after, **asked)) == ["learned runtimes and quotas"]


def test_a_plan_of_older_make_knows_no_kinds() -> None:
    market = make_market(candidate(usd_per_hour=2.0))
    old = replace(solve(make_sweep(), make_market(candidate())), prices=(), learned=None)
    new = solve(make_sweep(), market)
    assert [(part.cause, round(part.usd, 2)) for part in attribute(old, new, market)] == [("data", 3.0)]


@settings(max_examples=examples(20))
@given(st.data())
def test_whatever_changes_the_parts_add_up(data: Any) -> None:
    def market() -> Market:
        rows = [
            spot(data.draw(st.sampled_from([0.5, 1.0, 1.5])), slots=data.draw(st.sampled_from([1.0, 2.0, 9.0]))),
            candidate(region="eu-west-1", usd_per_hour=data.draw(st.sampled_from([1.0, 2.0])), slots=None),
        ]
        return learned(make_market(*rows), paid=data.draw(st.sampled_from([0.0, 0.4, 1.4])))

    parts(market(), market(), **HURRY)
