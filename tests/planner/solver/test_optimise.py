"""The optimiser against brute force, against the bound, against greedy; and the traps that others fell into."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.planner.model.arrays import SLACK
from orchestrator.planner.model.choices import NO_COPY
from orchestrator.planner.model.solution import DoesNotFit, Solution
from orchestrator.planner.model.time_limit import TimeLimit
from orchestrator.planner.pack.schedule import end_hours_by_choice, overfull_lanes
from orchestrator.planner.solver import exact, rounding
from orchestrator.planner.solver.dominated import without_dominated
from orchestrator.planner.solver.optimise import EXACT_CHOICES, find_least_promise, optimise
from tests.fixtures.examples import examples
from tests.planner.solver.brute_force import keeps_every_limit, least_usd
from tests.planner.solver.problems import make_problem, own_limits, random_problem, small_problems

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.planner.model.problem import Problem

KINDS: dict[str, dict[str, bool]] = {
    "plain": {},
    "windows, quotas and pools": {"every_limit": True},
    "windows, pools and quotas of vCPUs": {"every_limit": True, "weighed": True},
}
COUNTS: dict[str, dict[str, bool]] = {"counts of instances": {"counts_of_instances": True}}


def every(kinds: dict[str, dict[str, bool]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("kind", list(kinds.values()), ids=list(kinds))


@every(KINDS | COUNTS)
@settings(max_examples=examples(300))
@given(data=st.data())
def test_a_small_plan_costs_what_brute_force_says(data: Any, kind: dict[str, bool]) -> None:
    problem = data.draw(small_problems(**kind))
    best = least_usd(problem)
    try:
        found = optimise(problem)
    except DoesNotFit:
        assert best == inf
        return
    assert found.usd == pytest.approx(best)
    assert found.bound <= best + 1e-4


def solve_exactly(problem: Problem) -> Solution:
    found, _ = exact.solve(problem)
    assert found is not None
    return found


@every(KINDS)
@settings(max_examples=examples(100))
@given(data=st.data())
def test_every_task_is_placed_and_every_limit_kept(data: Any, kind: dict[str, bool]) -> None:
    problem = data.draw(small_problems(**kind))
    for way in (optimise, rounding.solve, solve_exactly):
        try:
            found = way(problem)
        except DoesNotFit:
            continue
        assert found is not None
        sent = np.bincount(problem.choices.cohort, weights=found.tasks, minlength=len(problem.counts))
        assert sent.tolist() == problem.counts.tolist()
        assert keeps_every_limit(problem, found.tasks)
        assert found.usd >= found.bound - 1e-4
        assert all(limit.used(found.slots) <= limit.free for limit in problem.limits)
        latest_end = np.minimum(problem.closes, problem.horizon)[problem.choices.lane]
        assert (end_hours_by_choice(found) <= latest_end + 1e-6).all()


@settings(max_examples=examples(300))
@given(small_problems(every_limit=True, counts_of_instances=True))
def test_what_a_relaxation_leaves_out_because_fewer_instances_are_better_changes_no_bound(problem: Problem) -> None:
    lean, rows = without_dominated(problem)
    assert lean.choices.cohort.tolist() == problem.choices.cohort[rows].tolist()
    try:
        found = rounding.solve(problem)
    except DoesNotFit:
        return
    assert keeps_every_limit(problem, found.tasks)
    assert found.bound <= least_usd(problem) + 1e-4


def greedy_usd(problem: Problem) -> float | None:
    """Return what it costs to send each cohort in turn to its cheapest places with hours left; None if some are left.

    Copies are paid for as they come up.
    """
    left, made, usd = problem.most_slots * problem.horizon, set(), 0.0
    for cohort, count in enumerate(problem.counts.tolist()):
        for row in range(problem.first_choice[cohort], problem.first_choice[cohort + 1]):
            lane, copy = problem.choices.lane[row], int(problem.choices.copy[row])
            some = min(count, int(left[lane] / problem.choices.hours[row]))
            if some:
                left[lane] -= some * problem.choices.hours[row]
                usd += some * problem.choices.usd[row]
                usd += 0 if copy == NO_COPY or copy in made else problem.charges[copy]
                made.add(copy)
                count -= some
        if count:
            return None
    return usd


@pytest.mark.parametrize(("tasks", "longest", "most"), [(400, 4.0, 0.03), (2_000, 1.0, 0.01), (100_000, 0.5, 0.005)])
@pytest.mark.parametrize("seed", [0, 2, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 3))])
def test_a_larger_plan_says_its_gap_and_is_never_dearer_than_greedy(
    seed: int, tasks: int, longest: float, most: float
) -> None:
    problem = random_problem(seed, tasks=tasks, longest=longest)
    found = optimise(problem)
    assert not overfull_lanes(problem, found.tasks)
    assert found.gap == pytest.approx(found.usd / found.bound - 1)
    assert found.gap < most
    greedy = greedy_usd(problem)
    assert greedy is None or found.usd <= greedy + 1e-6


@pytest.mark.parametrize("seed", [0, 2])
def test_few_tasks_among_many_choices_are_placed_at_the_least_cost_and_promise(seed: int) -> None:
    problem = random_problem(seed, cohorts=6, lanes=120, tasks=8, longest=8.0)
    assert len(problem.choices) > EXACT_CHOICES
    assert optimise(problem).gap == pytest.approx(0.0, abs=1e-6)
    promised = replace(problem, choices=replace(problem.choices, usd=problem.choices.promise))
    least, _ = exact.solve(promised)
    assert least is not None
    assert find_least_promise(problem).promise == pytest.approx(least.usd)


def test_the_same_problem_has_the_same_solution() -> None:
    for way in (solve_exactly, rounding.solve):
        assert way(random_problem(5)).tasks.tolist() == way(random_problem(5)).tasks.tolist()


def test_sixteen_tasks_of_six_hours_do_not_fit_ten_slots_in_ten_hours() -> None:
    problem = make_problem([16], [10.0], [(0, 0, NO_COPY, 6.0, 0.0, 1.0)])
    with pytest.raises(DoesNotFit):
        optimise(problem)
    assert optimise(replace(problem, limits=own_limits([16.0]))).usd == 16


def test_a_copy_is_paid_once_for_all_the_tasks_that_use_it() -> None:
    rows = [(0, 0, NO_COPY, 1.0, 0.0, 2.0), (0, 1, 0, 1.0, 0.0, 1.0)]
    assert optimise(make_problem([9], [inf, inf], rows, charges=[10])).usd == 18
    found = optimise(make_problem([11], [inf, inf], rows, charges=[10]))
    assert (found.usd, found.copies.tolist()) == (21, [0])


def test_tasks_wait_for_their_copy() -> None:
    rows = [(0, 0, 0, 4.0, 3.0, 1.0)]
    assert optimise(make_problem([2], [2.0], rows, charges=[1])).usd == 3
    with pytest.raises(DoesNotFit):  # one after the other: 3 + 4 + 4 hours
        optimise(make_problem([2], [1.0], rows, charges=[1]))


def test_a_cohort_is_split_where_its_cheapest_lane_is_full() -> None:
    rows = [(0, 0, NO_COPY, 5.0, 0.0, 1.0), (0, 1, NO_COPY, 5.0, 0.0, 3.0)]
    found = optimise(make_problem([5], [2.0, inf], rows))
    assert found.tasks.tolist() == [4, 1]


@pytest.mark.parametrize("way", [exact.solve, rounding.solve])
def test_without_time_there_is_a_plan_all_the_same_and_the_time_limit_says_so(way: Callable[..., Solution]) -> None:
    problem = random_problem(5, cohorts=40, lanes=60, tasks=20_000)
    time_limit = TimeLimit(0.0)
    found = optimise(problem, time_limit) if way is exact.solve else way(problem, time_limit)
    assert time_limit.stopped
    assert not overfull_lanes(problem, found.tasks)
    assert found.usd >= found.bound
    patient = TimeLimit(1e6)
    assert optimise(make_problem([1], [1.0], [(0, 0, NO_COPY, 1.0, 0.0, 1.0)]), patient).usd == 1
    assert not patient.stopped


def test_costs_may_be_replaced_without_sorting_the_choices_anew() -> None:
    problem = make_problem([2], [inf, inf], [(0, 0, NO_COPY, 1.0, 0.0, 1.0), (0, 1, NO_COPY, 1.0, 0.0, 2.0)])
    turned = replace(problem, choices=replace(problem.choices, usd=np.array([3.0, 1.0])))
    assert optimise(turned).usd == 2


@pytest.mark.parametrize("seed", [3, 10])
def test_a_budget_of_just_the_least_promise_is_enough(seed: int) -> None:
    problem = random_problem(seed, cohorts=8, lanes=8, tasks=60, longest=4.0)
    random = np.random.default_rng(seed)
    promise = problem.choices.usd * random.uniform(1.1, 3.7, len(problem.choices))
    problem = replace(problem, choices=replace(problem.choices, promise=promise))
    least = optimise(replace(problem, choices=replace(problem.choices, usd=promise))).promise
    found = optimise(replace(problem, budget=least))
    assert found.promise <= least * SLACK
    assert found.bound <= found.usd * SLACK
