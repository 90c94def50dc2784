"""Whatever slots are said to be worth, what is proven from it is no more than what the best plan costs."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.planner.model.commodities import commodities
from orchestrator.planner.model.solution import DoesNotFit
from orchestrator.planner.pack.schedule import overfull_lanes
from orchestrator.planner.solver import rounding
from orchestrator.planner.solver.columns import build_columns
from orchestrator.planner.solver.copies import decide_copies
from orchestrator.planner.solver.copies.proof import Proof
from tests.fixtures.examples import examples
from tests.planner.solver.brute_force import least_usd
from tests.planner.solver.problems import random_problem, small_problems

if TYPE_CHECKING:
    from orchestrator.planner.model.problem import Problem


@settings(max_examples=examples(100))
@given(problem=small_problems(every_limit=True, weighed=True), seed=st.integers(0, 99))
def test_no_prices_prove_more_than_brute_force_finds(problem: Problem, seed: int) -> None:
    best = least_usd(problem)
    try:
        columns = build_columns(problem, commodities(problem))
    except DoesNotFit:
        assert best == inf
        return
    random, proof = np.random.default_rng(seed), Proof(columns)
    for most in (0.0, 3.0, 30.0):
        proof.use_prices(columns, random.uniform(0, 1, columns.limit_count) * most)
    proof.estimate()
    assert 0 <= proof.bound <= best + 1e-6


@pytest.fixture
def by_averages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Decide all copies as those of the largest problems are decided."""
    monkeypatch.setattr(decide_copies, "MANY", 0)
    monkeypatch.setattr(rounding, "MANY", 0)


def with_long_tasks(seed: int) -> Problem:
    """Return cohorts of which a slot holds one to ten tasks, for in part they take as long on fast lanes as on slow."""
    plain = random_problem(seed, cohorts=6, lanes=12, tasks=4_000)
    choices = plain.choices
    hours = 6 * choices.hours + np.random.default_rng(seed).uniform(2, 5, plain.lanes)[choices.lane]
    longer = replace(choices, hours=hours, usd=choices.usd / choices.hours * hours)
    limits = tuple(replace(limit, free=12 * limit.free) for limit in plain.limits)
    by_usd = np.lexsort((longer.lane, longer.usd, longer.cohort))
    return replace(plain, choices=longer.take(by_usd), limits=limits).within(24.0)


@pytest.mark.usefixtures("by_averages")
@pytest.mark.parametrize("seed", [3, 4])
def test_a_bound_by_weights_sees_what_whole_tasks_leave_of_slots(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = with_long_tasks(seed)
    found = rounding.solve(problem)
    assert not overfull_lanes(problem, found.tasks)
    assert found.gap < 0.006
    monkeypatch.setattr(rounding, "FAR", inf)
    assert rounding.solve(problem).gap > 0.015


def in_no_proportion(seed: int, tasks: int) -> Problem:
    """Return cohorts, two of each kind, that cost the more and take the longer on some lanes the shorter they are."""
    plain = random_problem(seed, cohorts=6, tasks=tasks)
    choices, width = plain.choices, len(plain.choices)
    random = np.random.default_rng(seed)
    other = replace(
        choices,
        cohort=choices.cohort + 6,
        hours=choices.hours * random.uniform(0.6, 1.0, width),
        usd=choices.usd * random.uniform(0.6, 1.0, width),
    )
    every = type(choices).join([choices, other])
    order = np.lexsort((every.lane, every.usd, every.cohort))
    return replace(plain, counts=np.tile(plain.counts // 2 + 1, 2), choices=every.take(order))


@pytest.mark.parametrize("seed", range(3))
def test_copies_that_are_good_for_average_tasks_are_good(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = in_no_proportion(seed, tasks=20_000)
    exactly = rounding.solve(problem)
    monkeypatch.setattr(decide_copies, "MANY", 0)
    found = rounding.solve(problem)
    assert not overfull_lanes(problem, found.tasks)
    assert found.usd < 1.001 * exactly.usd
    assert found.bound <= exactly.usd
    assert found.gap < 0.04


@pytest.fixture
def always_weighed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weigh tasks however near the bound a plan is."""
    monkeypatch.setattr(rounding, "FAR", -1.0)


@pytest.mark.usefixtures("by_averages", "always_weighed")
@settings(max_examples=examples(100))
@given(problem=small_problems(every_limit=True, weighed=True))
def test_by_weights_no_bound_is_more_than_brute_force_finds(problem: Problem) -> None:
    try:
        found = rounding.solve(problem)
    except DoesNotFit:
        return
    assert found.bound <= least_usd(problem) + 1e-4


@pytest.mark.usefixtures("by_averages")
@settings(max_examples=examples(100))
@given(problem=small_problems(every_limit=True))
def test_by_averages_no_bound_is_more_than_brute_force_finds(problem: Problem) -> None:
    try:
        found = rounding.solve(problem)
    except DoesNotFit:
        return
    assert found.bound <= least_usd(problem) + 1e-4


@pytest.mark.usefixtures("by_averages")
def test_a_budget_that_binds_is_kept_and_one_that_is_far_too_small_is_refused() -> None:
    problem = in_no_proportion(1, tasks=5_000)
    dear_is_safe = replace(problem.choices, promise=problem.choices.hours.max() * 3 - problem.choices.usd)
    problem = replace(problem, choices=dear_is_safe)
    free, least = rounding.solve(problem), rounding.promise_least(problem)
    budget = (free.promise + least.promise) / 2
    found = rounding.solve(replace(problem, budget=budget))
    assert free.bound <= found.bound <= found.usd
    assert least.promise < found.promise <= budget < free.promise
    assert found.gap < 0.05
    with pytest.raises(DoesNotFit):
        rounding.solve(replace(problem, budget=least.promise * 0.9))
