"""Where a sweep leaves the number of instances to the plan, it takes the cheapest that the deadline and slots allow."""

from __future__ import annotations

from itertools import product
from math import ceil, floor, inf, log2
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.errors import InfeasibleError
from orchestrator.plan.slots import crowded, tasks_by_lot, units_taken
from orchestrator.planner.difference import difference
from orchestrator.planner.explain.why import explain
from orchestrator.planner.frontier import frontier
from orchestrator.planner.solve import solve
from orchestrator.planner.stale import why_stale
from orchestrator.wire.task import Quota
from tests.fixtures.examples import examples
from tests.fixtures.sweeps import candidate, make_market, make_sweep, with_quota
from tests.planner.solver.brute_force import splits

if TYPE_CHECKING:
    from orchestrator.plan.plan import Plan

TYPES = ["ml.g5.xlarge", "ml.g5.2xlarge"]


def choosing(counts: Any, tasks: int = 1, **changes: Any) -> dict[str, Any]:
    """Return the changes of a sweep of so many equal tasks, of an hour on one instance, that may choose."""
    train = {"entry_point": "train.py", "source": "training", "image": "x", "instances": counts, "efficiency": 0.8}
    train |= changes.pop("train", {})
    return {
        "train": train,
        "space": {"seed": list(range(tasks))},
        "runtime": 1,
        "where__instance_types": TYPES,
    } | changes


def chosen(plan: Plan) -> list[tuple[int, int]]:
    """Return how many tasks have how many instances, share by share."""
    return [(share.count, share.instances) for share in plan.shares]


@settings(max_examples=examples(120))
@given(
    prices=st.tuples(st.sampled_from([1.0, 1.5, 2.0]), st.sampled_from([1.0, 1.5])),
    quotas=st.tuples(st.integers(0, 5), st.integers(0, 5)),
    together=st.sampled_from([None, 3, 5]),
    counts=st.sets(st.integers(1, 4), min_size=1, max_size=3),
    tasks=st.integers(1, 3),
    hours=st.integers(1, 4),
    efficiency=st.sampled_from([0.6, 0.75, 1.0]),
    deadline=st.sampled_from([1, 2, 3, 5]),
)
def test_a_plan_costs_what_the_best_of_all_ways_to_give_tasks_instances_does(
    prices: tuple[float, float],
    quotas: tuple[int, int],
    together: int | None,
    counts: set[int],
    tasks: int,
    hours: int,
    efficiency: float,
    deadline: int,
) -> None:
    ways = []  # type, number of instances, hours, dollars
    for (number, price), count in product(enumerate(prices), sorted(counts)):
        took = hours / (2 * efficiency) ** log2(count)
        if took <= deadline + 1e-9:
            ways.append((number, count, took, price * count * took))
    best = inf
    for split in splits(tasks, len(ways)):
        held = [0, 0]
        for (number, count, took, _), some in zip(ways, split, strict=True):
            held[number] += count * ceil(some / floor(deadline / took + 1e-6))
        if all(one <= most for one, most in zip(held, quotas, strict=True)) and sum(held) <= (together or inf):
            best = min(best, sum(usd * some for (_, _, _, usd), some in zip(ways, split, strict=True)))

    sweep = make_sweep(
        **choosing(
            sorted(counts), tasks, runtime=hours, plan={"deadline": f"{deadline}h"}, train={"efficiency": efficiency}
        )
    )
    market = make_market(
        *(
            candidate(instance_type=name, usd_per_hour=price, on_demand_usd_per_hour=price, slots=float(quota))
            for name, price, quota in zip(TYPES, prices, quotas, strict=True)
        )
    )
    if together is not None:
        market = with_quota(market, "*/*", together)
    try:
        plan = solve(sweep, market)
    except InfeasibleError:
        assert best == inf
        return
    assert plan.usd == pytest.approx(best)
    for (number, count, took, usd), share in product(ways, plan.shares):
        if (TYPES[number], count) == (share.places[0].lane.instance_type, share.instances):
            assert (share.hours, share.usd) == (pytest.approx(took), pytest.approx(usd))


def test_one_number_in_a_list_is_that_number() -> None:
    alone, listed = (solve(make_sweep(**choosing(count)), make_market(candidate())).to_json() for count in (2, [2]))
    for body in (alone, listed):
        del body["sweep"]["train"]["instances"]
    assert alone == listed


def test_as_few_as_the_deadline_allows() -> None:
    market = make_market(candidate())
    assert chosen(solve(make_sweep(**choosing([1, 2, 4])), market)) == [(1, 1)]
    assert chosen(solve(make_sweep(**choosing([1, 2, 4], plan={"deadline": "40m"})), market)) == [(1, 2)]
    assert chosen(solve(make_sweep(**choosing([1, 2, 4], plan={"deadline": "30m"})), market)) == [(1, 4)]
    assert chosen(solve(make_sweep(**choosing([1, 2, 4], plan={"minimize": "time"})), market)) == [(1, 4)]
    with pytest.raises(InfeasibleError, match="takes 23m30s where it is fastest"):
        solve(make_sweep(**choosing([1, 2, 4], plan={"deadline": "20m"})), market)


def test_a_quota_bounds_how_many_a_training_may_have() -> None:
    market = make_market(candidate(slots=3.0))
    plan = solve(make_sweep(**choosing([1, 2, 4], plan={"minimize": "time"})), market)
    assert chosen(plan) == [(1, 2)]
    assert "left out: the quota ml.g5.xlarge/on_demand in us-east-1 is 3, and a training needs 4" in plan.notes


def test_on_spot_too_few_instances_may_run_into_the_timeout() -> None:
    market = make_market(candidate(purchase="spot", usd_per_hour=0.3, interruptions_per_hour=0.5))
    plan = solve(make_sweep(**choosing([1, 2], timeout="65m")), market)
    assert chosen(plan) == [(1, 2)]
    note = "left out: ml.g5.xlarge spot in us-east-1 on 1 instance, where tasks would run into the timeout of 65m"
    assert note in plan.notes


def test_envelopes_and_the_most_that_it_can_cost_count_every_instance() -> None:
    [share] = solve(
        make_sweep(**choosing([1, 4], plan={"deadline": "30m", "budget": 10})), make_market(candidate())
    ).shares
    assert share.instances == 4
    assert share.usd == pytest.approx(4 / 1.6**2)
    assert (share.limits.envelope or 0) >= 4 * (1.25 * share.hours + 0.05)


def two_sizes(**changes: Any) -> Plan:
    """Return a plan of two tasks that take an hour on one instance, and of two that are in time on four only."""
    body = choosing([1, 4], plan={"deadline": "2h"}) | {"space": {"hours": [1, 3], "seed": [1, 2]}, "runtime": "hours"}
    return solve(make_sweep(**body | changes), make_market(candidate(slots=12.0)))


def test_tasks_of_one_lot_may_differ_in_instances_and_share_its_quota() -> None:
    plan = two_sizes()
    assert chosen(plan) == [(2, 1), (2, 4)]
    [lot] = plan.lots
    assert lot.used == 2 * 1 + 2 * 4
    assert [dict(counts) for counts in tasks_by_lot(plan).values()] == [{1: 2, 4: 2}]
    assert units_taken(plan, tasks_by_lot(plan)) == {Quota("sagemaker", "us-east-1", "ml.g5.xlarge/on_demand"): 10}
    assert not crowded(plan)
    assert why_stale(plan, make_market(candidate(slots=12.0))) == ""
    assert "has 9 of 9 units free, and the plan takes 10" in why_stale(plan, make_market(candidate(slots=9.0)))


@pytest.mark.parametrize(
    ("checkpoints", "found"),
    [
        (None, [("us-east-1", 2), ("us-west-2", 1), ("us-east-1", 1)]),
        ({"any_instances": True}, [("us-east-1", 2), ("us-west-2", 1), ("us-east-1", 1)]),
        ({}, [("us-east-1", 2), ("us-west-2", 2)]),
    ],
)
def test_a_refused_task_may_get_other_instances_unless_its_checkpoint_is_for_so_many(
    checkpoints: dict[str, Any] | None, found: list[tuple[str, int]]
) -> None:
    """Elsewhere the cheapest number in time comes next; where it was refused, more would be refused as well."""
    market = make_market(candidate(slots=5.0), candidate(region="us-west-2", usd_per_hour=3.0, slots=4.0))
    train = {"efficiency": None, "checkpoints": checkpoints}
    body = choosing([1, 2, 4], 6, runtime="1/instances + instances/1000", plan={"deadline": "96m"}, train=train)
    one, two = solve(make_sweep(**body), market).shares
    assert [(share.count, share.instances) for share in (one, two)] == [(3, 1), (3, 2)]
    assert [(place.lane.region, place.instances) for place in two.places] == found
    assert ("in us-west-2 on 1 instance, " in two.why) == (found[1][1] == 1)


def test_explaining_says_what_other_numbers_of_instances_would_have_cost() -> None:
    market = make_market(candidate())
    plan = solve(make_sweep(**choosing([1, 2, 4, 8], plan={"deadline": "40m"})), market)
    assert explain(plan, "0", market)[:6] == [
        "task 0 of alps@1: us-east-1 ml.g5.xlarge on_demand on 2 instances, $1/h each",
        "  chosen: 0.625 h and $1.25 each; the last ends after 0.625 h; 8 slots",
        "  cheaper: us-east-1 ml.g5.xlarge on_demand on 1 instance, $1/h: "
        "1 h (+0.375) and $1 (-0.25) each; but too late",
        "  runner-up: us-east-1 ml.g5.xlarge on_demand on 4 instances, $1/h each: "
        "0.391 h (-0.234) and $1.562 (+0.3125) each",
        "  on 8 instances: 0.244 h (-0.381) and $1.953 (+0.7031) each",
        "hours: runtime: 1.0 hours on one instance, as the sweep file says, whatever its type; 2 instances taken to be "
        "1.6, 4 to be 2.6 and 8 to be 4.1 times as fast, as train.efficiency says",
    ]


def test_a_lot_with_too_few_slots_left_for_one_more_training_says_how_few() -> None:
    sweep, market = make_sweep(**choosing([2, 4], 2, plan={"minimize": "time"})), make_market(candidate(slots=7.0))
    lines = explain(solve(sweep, market), "0", market)
    assert lines[2] == (
        "  on 4 instances: 0.391 h (-0.234) and $1.562 (+0.3125) each; but it needs 4 slots, and only 2 are free"
    )


def test_a_difference_tells_of_instances_even_where_the_lane_is_the_same() -> None:
    market = make_market(candidate())
    old, new = (solve(make_sweep(**choosing([1, 2], 3, plan={"deadline": at})), market) for at in ("2h", "40m"))
    assert "ml.g5.xlarge on_demand in us-east-1: tasks on 1 instance became tasks on 2 instances" in difference(
        old, new, market
    )


def test_the_frontier_goes_from_few_instances_to_many() -> None:
    plans = frontier(make_sweep(**choosing([1, 2, 4])), make_market(candidate()))
    assert [chosen(plan) for plan in plans] == [[(1, 1)], [(1, 2)], [(1, 4)]]
