"""Large problems keep every limit as well, and their plans are near the bound."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import pytest

from orchestrator.planner.model.choices import NO_COPY, NO_POOL
from orchestrator.planner.model.problem import Limit, Pool
from orchestrator.planner.offer.formulate import formulate
from orchestrator.planner.pack.schedule import overfull_lanes
from orchestrator.planner.solver import rounding
from tests.fixtures.sweeps import candidate, make_market, make_sweep, with_total
from tests.planner.solver.problems import own_limits, random_problem, shared_limit


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2))])
def test_a_larger_plan_keeps_a_budget_that_binds(seed: int) -> None:
    problem = random_problem(seed, tasks=50_000)
    dear_is_safe = replace(problem.choices, promise=problem.choices.hours.max() * 3 - problem.choices.usd)
    problem = replace(problem, choices=dear_is_safe)
    free = rounding.solve(problem)
    least = rounding.solve(replace(problem, choices=replace(dear_is_safe, usd=dear_is_safe.promise))).promise
    budget = (free.promise + least) / 2
    found = rounding.solve(replace(problem, budget=budget))
    assert least < found.promise <= budget < free.promise
    assert not overfull_lanes(problem, found.tasks)
    assert free.bound <= found.bound <= found.usd
    assert found.gap < 0.05
    same = rounding.solve(replace(problem, budget=free.promise))
    assert same.tasks.tolist() == free.tasks.tolist()


def test_a_budget_is_enough_if_any_plan_keeps_it_though_no_good_copies_were_found() -> None:
    """The copies that are just enough as far as hours tell leave whole tasks over: only any copies find room."""
    lanes = (
        ("r-1", "ml.b", "on_demand", 25.68, 25.68, 1),
        ("r-1", "ml.b", "spot", 12.769, 19.314, 2),
        ("r-1", "ml.c", "on_demand", 57.149, 57.149, 2),
        ("r-2", "ml.a", "on_demand", 8.479, 8.479, 2),
        ("r-2", "ml.a", "spot", 11.423, 19.218, 1),
    )
    names = ("region", "instance_type", "purchase", "usd_per_hour", "on_demand_usd_per_hour", "slots")
    copied = {"from_region": "r-1", "transfer_usd_per_gb": 0.02}
    rows = [
        candidate(bytes=895 * 10**9, **dict(zip(names, lane, strict=True)), **(copied if lane[0] == "r-2" else {}))
        for lane in lanes
    ]
    sweep = make_sweep(
        data={"move_data": "if_cheaper"},
        space={"epochs": [1, 2, 3], "k": [1, 2]},
        where={"instance_types": ["ml.a", "ml.b", "ml.c"], "purchases": ["spot", "on_demand"]},
        runtime={"ml.a": "0.3 * epochs", "ml.b": "0.18 * epochs", "ml.c": "0.105 * epochs"},
    )
    market = with_total(with_total(make_market(*rows), "r-1", 2), "r-2", 1)
    problem = formulate(sweep, market).offer.problem.within(3906 / 3600)
    found = rounding.solve(replace(problem, budget=93.99))
    assert found.keeps_budget
    assert not overfull_lanes(problem, found.tasks, found.slots)
    assert found.bound <= 53.648160


def test_the_least_that_can_be_promised_is_a_budget_with_a_plan_and_a_bound_as_good_as_without() -> None:
    problem = random_problem(0, tasks=5_000)
    dear_is_safe = replace(problem.choices, promise=problem.choices.hours.max() * 3 - problem.choices.usd)
    problem = replace(problem, choices=dear_is_safe)
    least = rounding.promise_least(problem).promise
    found = rounding.solve(replace(problem, budget=least))
    assert found.promise <= least
    assert rounding.solve(problem).bound <= found.bound <= found.usd


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("tasks", [400, 100_000])
@pytest.mark.parametrize("each", [(1,), (4, 8, 48)], ids=["instances", "vCPUs"])
def test_a_larger_plan_keeps_windows_quotas_and_pools_and_is_near_its_bound(
    seed: int, tasks: int, each: tuple[int, ...]
) -> None:
    plain = random_problem(seed, tasks=tasks)
    choices, lanes, slots = plain.choices, np.arange(plain.lanes), plain.most_slots
    paid = (choices.copy == NO_COPY) & (choices.lane % 5 == 0)
    usd = np.where(paid, choices.usd / 2, choices.usd)
    pooled = replace(choices, usd=usd, pool=np.where(paid, 0, NO_POOL), draw=np.where(paid, choices.usd, 0.0))
    problem = replace(
        plain,
        closes=np.where(lanes % 7 == 3, 18.0, inf),
        limits=own_limits(slots * 2, *(_of_region(lanes[lanes % 4 == r], slots, each) for r in range(4))),
        pools=(Pool(plain.choices.usd.max() * tasks / 5_000, 0.0, inf),),
        choices=pooled.take(np.lexsort((usd, choices.cohort))),
    ).within(24.0)
    found = rounding.solve(problem)
    assert not overfull_lanes(problem, found.tasks, found.slots)
    assert all(limit.used(found.slots) <= limit.free for limit in problem.limits)
    assert (problem.drawn_usd(found.tasks) <= problem.funds * (1 + 1e-9)).all()
    assert problem.drawn_usd(found.tasks)[0] > 0
    assert found.bound <= found.usd <= found.bound * (1.05 if tasks == 400 else 1.01)


def _of_region(lanes: np.ndarray, slots: np.ndarray, each: tuple[int, ...]) -> Limit:
    """Return a quota of three quarters of what these lanes could hold; `each` are units of a training, by turns."""
    units = [each[lane % len(each)] for lane in lanes.tolist()]
    return shared_limit(lanes.tolist(), np.floor(float(np.array(units) @ slots[lanes]) * 1.5), units)
