"""What choices cost and promise: interruptions, timeouts, data on its way, and savings plans."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from orchestrator.catalog.market import BILLING, HISTORY, STARTS, table
from orchestrator.errors import InfeasibleError
from orchestrator.plan.launcher_price import LAUNCHER_USD_PER_HOUR
from orchestrator.planner.hours.interruptions import expected_hours
from orchestrator.planner.hours.runtimes import HONEST_FACTOR
from orchestrator.planner.model.choices import NO_POOL
from orchestrator.planner.model.problem import Pool
from orchestrator.planner.offer import choices as choices_module
from orchestrator.planner.solve import solve
from orchestrator.wire.task import KEPT_BACK_S, Purchase
from tests.fixtures.sweeps import candidate, make_market, make_sweep
from tests.planner.offer.offers import TYPES, market_with, offered, savings_plan

if TYPE_CHECKING:
    from orchestrator.planner.offer.offer import Offer


def lanes_of(found: Offer, pool: int) -> list[tuple[Any, ...]]:
    rows = np.flatnonzero(found.problem.choices.pool == pool)
    lanes = found.lanes.iloc[found.problem.choices.lane[rows]]
    return list(lanes[["region", "instance_type", "purchase"]].itertuples(index=False, name=None))


def test_data_on_its_way_and_a_plan_that_opens_later_are_waited_for_at_once() -> None:
    market = make_market(
        candidate(
            region="eu-west-1",
            from_region="us-east-1",
            transfer_usd_per_gb=0.02,
            bytes=3600 * 5 * 10**9,
            purchase="committed",
            usd_per_hour=0.0,
            opens_h=3.0,
            site="arn:a",
        )
    )
    assert offered(market=market).problem.choices.wait.tolist() == [5.0]


def test_choices_are_the_same_however_many_are_listed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = {"space__epochs": [1, 2, 3, 30], "runtime": "0.5 * epochs", "timeout": "12h"}
    market = market_with()
    together = offered(market=market, **sizes)
    monkeypatch.setattr(choices_module, "AT_ONCE", 1)
    apart = offered(market=market, **sizes)
    assert len(together.problem.choices) == 3 * 4, "30 epochs run into their timeout"
    assert together.candidate.tolist() == apart.candidate.tolist()
    for name in together.problem.choices.__dataclass_fields__:
        one, other = (getattr(each.problem.choices, name) for each in (together, apart))
        assert np.array_equal(one, other, equal_nan=one.dtype == float)


def test_what_is_the_same_for_all_choices_takes_the_memory_of_one() -> None:
    choices = offered(market=market_with()).problem.choices
    some = choices.take(np.array([0, 2, 3]))
    for each in (choices, some, type(choices).join([some, choices])):
        assert [
            name for name in ("pool", "draw", "unpaid", "spare", "part") if getattr(each, name).strides != (0,)
        ] == []
        assert each.average.tolist() == each.hours.tolist()
    assert some.average is some.hours
    mixed = type(choices).join([replace(some, draw=np.array([1.0, 2.0, 3.0])), some])
    assert mixed.draw.tolist() == [1, 2, 3, 0, 0, 0]


def test_an_on_demand_choice_under_a_savings_plan_is_there_twice() -> None:
    found = offered(market=market_with(savings_plan()))
    choices = found.problem.choices
    paid = choices.pool == 0
    assert sorted(lanes_of(found, 0)) == sorted(
        lane for lane in lanes_of(found, NO_POOL) if lane[2] == Purchase.ON_DEMAND.value
    )
    assert choices.usd[paid].tolist() == [0.0] * 3
    assert sorted(choices.draw[paid]) == pytest.approx([2 * 0.8, 2 * 0.8, 6 * 0.8])
    assert (choices.draw[~paid] == 0).all()
    assert (np.diff(choices.usd) >= 0).all(), "cheapest first"
    assert found.problem.pools == (Pool(10.0, 0.0, 100.0),)


def test_a_task_that_draws_more_than_a_savings_plan_pays_for_in_an_hour_is_not_sent_on_its_account() -> None:
    small = ("small", "sagemaker", "*", "*", 1.0, 0.2, 0.0, 100.0)  # $1 an hour; the larger type draws $2.40
    assert {instance_type for _, instance_type, _ in lanes_of(offered(market=market_with(small)), 0)} == {TYPES[0]}


def test_no_promise_counts_on_a_savings_plan() -> None:
    found = offered(market=market_with(savings_plan()))
    choices, spot = found.problem.choices, float(expected_hours(np.array(2.0), None))
    for row in range(len(choices)):
        lane = found.lanes.iloc[int(choices.lane[row])]
        hours = spot if lane["purchase"] == "spot" else 2.0
        rate = 3.0 if lane["instance_type"] == TYPES[1] else 1.0
        promise = rate * (HONEST_FACTOR * hours + KEPT_BACK_S / 3600) + LAUNCHER_USD_PER_HOUR * hours
        assert choices.promise[row] == pytest.approx(promise)


def test_what_a_platform_bills_besides_is_in_the_cost_and_in_the_promise() -> None:
    """EC2 bills the boot, and a minute at least; it may bill a quarter of an hour beyond the longest run."""
    lanes = (candidate(platform="ec2", instance_type="g5.xlarge"), candidate())
    market = replace(
        make_market(*lanes),
        starts=table([("ec2", "us-east-1", "g5.xlarge", "on_demand", 0.02, 7200.0)], STARTS),
        billing=table([("ec2", 1.0, 60.0, 900.0)], BILLING),
    )
    found = offered(market=market, runtime=0.5, where__instance_types=["g5.xlarge", TYPES[0]])
    choices, platforms = found.problem.choices, found.lanes["platform"].iloc[found.problem.choices.lane].tolist()
    assert platforms == ["sagemaker", "ec2"], "cheapest first"
    assert choices.usd.tolist() == pytest.approx([0.5, 0.52])
    assert choices.average.tolist() == [0.5, 0.5], "what is learned, and what is waited for, is the training's own time"
    launcher = LAUNCHER_USD_PER_HOUR * 0.5
    kept_back = [KEPT_BACK_S / 3600, 0.25]
    assert choices.promise.tolist() == pytest.approx([HONEST_FACTOR * 0.5 + each + launcher for each in kept_back])


def test_a_training_of_seconds_is_billed_for_the_least_there_is() -> None:
    market = replace(
        make_market(candidate(platform="ec2", instance_type="g5.xlarge")),
        billing=table([("ec2", 1.0, 60.0, 900.0)], BILLING),
    )
    found = offered(market=market, runtime=4 / 3600, where__instance_types=["g5.xlarge"])
    assert found.problem.choices.usd.tolist() == pytest.approx([1 / 60])


def test_a_promise_covers_what_nine_in_ten_tasks_took() -> None:
    rows = [
        ("sagemaker", "us-east-1", TYPES[0], "on_demand", 1, 10**9, "{}", hours) for hours in np.geomspace(0.5, 8, 99)
    ]
    market = replace(make_market(candidate()), history=table(rows, HISTORY))
    choices = offered(market=market, runtime=None).problem.choices
    honest = (choices.promise[0] - LAUNCHER_USD_PER_HOUR * choices.hours[0] - KEPT_BACK_S / 3600) / choices.hours[0]
    covered = np.mean([row[-1] <= honest * choices.hours[0] for row in rows])
    assert covered == pytest.approx(0.9, abs=0.02)
    assert honest > 1.5 * HONEST_FACTOR


def test_a_savings_plan_holds_where_it_says() -> None:
    found = offered(market=market_with(savings_plan(region="eu-west-1"), savings_plan(instance_type=TYPES[1])))
    assert lanes_of(found, 0) == [("eu-west-1", TYPES[0], "on_demand")]
    assert lanes_of(found, 1) == [("us-east-1", TYPES[1], "on_demand")]


def test_a_savings_plan_of_a_family_holds_for_its_types_only() -> None:
    family, _, _ = TYPES[1].rpartition(".")
    found = offered(market=market_with(savings_plan(instance_type=f"{family}.*")))
    assert {name.rpartition(".")[0] for _, name, _ in lanes_of(found, 0)} == {family}
    assert lanes_of(offered(market=market_with(savings_plan(instance_type="ml.g.*"))), 0) == []


def test_a_savings_plan_that_ends_before_a_task_could_is_none_and_one_that_begins_later_is_waited_for() -> None:
    assert lanes_of(offered(market=market_with(savings_plan(closes=1.9))), 0) == []
    found = offered(market=market_with(savings_plan(opens=4.0, closes=6.0)))
    assert found.problem.choices.wait[found.problem.choices.pool == 0].tolist() == [4.0] * 3


def test_spot_is_interrupted_as_often_as_its_lane_is() -> None:
    spot = {"purchase": "spot", "usd_per_hour": 0.5}
    found = offered(
        candidate(**spot, interruptions_per_hour=0.4),
        candidate(**spot, region="eu-west-1"),
        candidate(**spot, region="us-west-2", interruptions_per_hour=0.0),
    )
    regions = found.lanes["region"].iloc[found.problem.choices.lane]
    hours = dict(zip(regions, found.problem.choices.hours, strict=True))
    assert hours["us-west-2"] == pytest.approx(2.0)
    assert hours["eu-west-1"] == expected_hours(np.array(2.0), None)
    assert hours["us-east-1"] == expected_hours(np.array(2.0), None, 0.4)


def test_spot_on_which_interruptions_would_outlast_the_timeout_is_no_choice() -> None:
    """A timeout counts what spot does again: of twenty hours without a checkpoint, 34.5 are to be expected."""
    places = (candidate(), candidate(purchase="spot", usd_per_hour=0.1))

    def bought(**changes: Any) -> tuple[list[str], bool]:
        plan = solve(make_sweep(**{"runtime": 20.0, "space": {}, "timeout": "24h"} | changes), make_market(*places))
        left_out = any("spot in us-east-1, where tasks would run into the timeout" in note for note in plan.notes)
        return [place.lane.purchase.value for share in plan.shares for place in share.places], left_out

    assert bought() == (["on_demand"], True)
    assert bought(timeout="35h", plan={"horizon": "35h", "spot_loss": "15h"}) == (["spot", "on_demand"], False)
    assert bought(train__checkpoints={"every": "10m"}) == (["spot", "on_demand"], False)


def test_spot_alone_that_would_outlast_the_timeout_is_refused_with_its_hours() -> None:
    sweep = make_sweep(runtime=20.0, space={}, timeout="24h")
    with pytest.raises(InfeasibleError, match=r"takes 34\.5 hours, interruptions of spot included, longer") as refused:
        solve(sweep, make_market(candidate(purchase="spot", usd_per_hour=0.1)))
    assert refused.value.hint.endswith("or save checkpoints, or allow on_demand")
