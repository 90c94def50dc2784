"""The optimiser against brute force, against the bound, against greedy; and the traps that others fell into."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.planner.model.problem import NO_COPY, Choices, Problem
from orchestrator.planner.model.solution import DoesNotFit, Solution
from orchestrator.planner.model.time_limit import TimeLimit
from orchestrator.planner.pack.schedule import misfits
from orchestrator.planner.solver import exact, rounding
from orchestrator.planner.solver.optimise import optimise

if TYPE_CHECKING:
    from collections.abc import Callable

HOURS = [1.0, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0]


def problem(
    counts: list[int], slots: list[float], rows: list[tuple[int, int, int, float, float, float]], **rest: object
) -> Problem:
    """`rows`: cohort, lane, copy, hours, wait, usd."""
    rows = sorted(rows, key=lambda row: (row[0], row[5], row[1]))
    cohort, lane, copy, hours, wait, usd = (np.array(column) for column in zip(*rows, strict=True))
    facts = {"charges": [], "horizon": 10.0, "budget": np.inf, **rest}
    return Problem(
        counts=np.array(counts),
        slots=np.array(slots, dtype=float),
        charges=np.array(facts["charges"], dtype=float),
        choices=Choices(cohort, lane, copy, hours, wait, usd, promise=2 * usd),
        horizon=float(facts["horizon"]),  # type: ignore[arg-type]
        budget=float(facts["budget"]),  # type: ignore[arg-type]
    ).within(float(facts["horizon"]))  # type: ignore[arg-type]


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Up to 3 cohorts of 4 tasks on 3 lanes of 2 slots, the last of which has data only by copying it."""
    cohorts = draw(st.integers(1, 3))
    counts = draw(st.lists(st.integers(1, 4), min_size=cohorts, max_size=cohorts))
    slots = draw(st.lists(st.sampled_from([1.0, 2.0, np.inf]), min_size=3, max_size=3))
    rows = []
    for cohort, lane in product(range(cohorts), range(3)):
        if lane == 0 or draw(st.booleans()):
            copy = cohort % 2 if lane == 2 else NO_COPY
            hours, usd = draw(st.sampled_from(HOURS)), float(draw(st.integers(1, 9)))
            rows.append((cohort, lane, copy, hours, 1.0 if lane == 2 else 0.0, usd))
    charges = draw(st.lists(st.integers(0, 12), min_size=2, max_size=2))
    budget = draw(st.sampled_from([np.inf, np.inf, 60.0]))
    return problem(counts, slots, rows, charges=charges, budget=budget)


def brute_force(given: Problem) -> float:
    """The least cost of all ways to send tasks to places, each checked task by task; inf if none works."""
    choices = given.choices
    best = np.inf
    ways = [
        list(splits(int(count), given.first[k + 1] - given.first[k])) for k, count in enumerate(given.counts.tolist())
    ]
    for way in product(*ways):
        tasks = np.array([count for part in way for count in part], dtype=np.int64)
        found = Solution(given, tasks, 0.0)
        if found.usd < best - 1e-9 and found.promise <= given.budget and runs(given, choices, tasks):
            best = found.usd
    return best


def splits(count: int, parts: int) -> list[tuple[int, ...]]:
    """All ways to write count as a sum of so many parts."""
    if parts == 0:
        return [()] if count == 0 else []
    return [(n, *rest) for n in range(count + 1) for rest in splits(count - n, parts - 1)]


def runs(given: Problem, choices: Choices, tasks: np.ndarray) -> bool:
    for lane, slots in enumerate(given.slots.tolist()):
        if np.isfinite(slots):
            rows = np.flatnonzero((choices.lane == lane) & (tasks > 0))
            items = [(choices.wait[r], choices.hours[r]) for r in rows for _ in range(tasks[r])]
            if not fits(tuple(sorted(items, reverse=True)), (0.0,) * int(slots), given.horizon):
                return False
    return True


@cache
def fits(items: tuple[tuple[float, float], ...], filled: tuple[float, ...], horizon: float) -> bool:
    """Whether there is a slot for each, by trying them all, in reversed time."""
    if not items:
        return True
    (wait, hours), rest = items[0], items[1:]
    return any(
        fits(rest, tuple(sorted((*filled[:slot], filled[slot] + hours, *filled[slot + 1 :]))), horizon)
        for slot in range(len(filled))
        if filled[slot] + hours <= horizon - wait + 1e-9
    )


@settings(max_examples=300, deadline=None)
@given(problems())
def test_a_small_plan_costs_what_brute_force_says(given: Problem) -> None:
    best = brute_force(given)
    try:
        found = optimise(given)
    except DoesNotFit:
        assert best == np.inf
        return
    assert found.usd == pytest.approx(best)
    assert found.bound <= best + 1e-4


@settings(max_examples=100, deadline=None)
@given(problems())
def test_every_task_is_placed_and_every_limit_kept(given: Problem) -> None:
    for way in (optimise, rounding.solve, exact.solve):
        try:
            found = way(given)
        except DoesNotFit:
            continue
        sent = np.bincount(given.choices.cohort, weights=found.tasks, minlength=len(given.counts))
        assert sent.tolist() == given.counts.tolist()
        assert runs(given, given.choices, found.tasks)
        assert found.promise <= given.budget * (1 + 1e-9)
        assert found.usd >= found.bound - 1e-4


def random_problem(seed: int, *, cohorts: int = 12, lanes: int = 20, tasks: int = 400, longest: float = 1.0) -> Problem:
    """Cohorts with data on some lanes and copies to the others, and so few slots that they bind."""
    random = np.random.default_rng(seed)
    length = longest * random.choice([0.125, 0.25, 0.5, 1.0], cohorts)
    pace, price = random.uniform(0.5, 2, lanes), random.uniform(0.3, 3, lanes)
    region = np.arange(lanes) % 4
    rows, charges = [], random.uniform(1, 60, cohorts * 4) * tasks * longest / 1000
    for cohort in range(cohorts):
        home = set(random.choice(4, 2, replace=False).tolist())
        for lane in range(lanes):
            hours = float(length[cohort] * pace[lane])
            copy = NO_COPY if region[lane] in home else cohort * 4 + int(region[lane])
            rows.append((cohort, lane, copy, hours, 0.0 if copy == NO_COPY else 0.25, hours * float(price[lane])))
    counts = random.multinomial(tasks, np.ones(cohorts) / cohorts) + 1
    load = float(counts @ length) * float(pace.mean())
    slots = np.ceil(random.pareto(1.5, lanes) + 0.5)
    slots = np.ceil(slots * 1.3 * load / (slots.sum() * 24))
    return problem(counts.tolist(), slots.tolist(), rows, charges=charges.tolist(), horizon=24.0)


def greedy(given: Problem) -> float | None:
    """Each cohort in turn to its cheapest places with hours left, paying for copies as it goes."""
    left, made, usd = given.slots * given.horizon, set(), 0.0
    for cohort, count in enumerate(given.counts.tolist()):
        rows = list(range(given.first[cohort], given.first[cohort + 1]))
        for row in rows:
            lane, copy = given.choices.lane[row], int(given.choices.copy[row])
            some = min(count, int(left[lane] / given.choices.hours[row]))
            if some:
                left[lane] -= some * given.choices.hours[row]
                usd += some * given.choices.usd[row]
                usd += 0 if copy == NO_COPY or copy in made else given.charges[copy]
                made.add(copy)
                count -= some
        if count:
            return None
    return usd


@pytest.mark.parametrize(("tasks", "longest", "most"), [(400, 4.0, 0.03), (2_000, 1.0, 0.01), (100_000, 0.5, 0.005)])
@pytest.mark.parametrize("seed", range(4))
def test_a_larger_plan_says_its_gap_and_is_never_dearer_than_greedy(
    seed: int, tasks: int, longest: float, most: float
) -> None:
    given = random_problem(seed, tasks=tasks, longest=longest)
    found = optimise(given)
    assert not misfits(given, found.tasks)
    assert found.gap == pytest.approx(found.usd / found.bound - 1)
    assert found.gap < most
    beside = greedy(given)
    assert beside is None or found.usd <= beside + 1e-6


def test_the_same_problem_has_the_same_solution() -> None:
    for way in (exact.solve, rounding.solve):
        assert way(random_problem(5)).tasks.tolist() == way(random_problem(5)).tasks.tolist()


def test_sixteen_tasks_of_six_hours_do_not_fit_ten_slots_in_ten_hours() -> None:
    given = problem([16], [10.0], [(0, 0, NO_COPY, 6.0, 0.0, 1.0)])
    with pytest.raises(DoesNotFit):
        optimise(given)
    assert optimise(replace(given, slots=np.array([16.0]))).usd == 16


def test_a_copy_is_paid_once_for_all_the_tasks_that_use_it() -> None:
    rows = [(0, 0, NO_COPY, 1.0, 0.0, 2.0), (0, 1, 0, 1.0, 0.0, 1.0)]
    assert optimise(problem([9], [np.inf, np.inf], rows, charges=[10])).usd == 18
    found = optimise(problem([11], [np.inf, np.inf], rows, charges=[10]))
    assert (found.usd, found.copies.tolist()) == (21, [0])


def test_tasks_wait_for_their_copy() -> None:
    rows = [(0, 0, 0, 4.0, 3.0, 1.0)]
    assert optimise(problem([2], [2.0], rows, charges=[1])).usd == 3
    with pytest.raises(DoesNotFit):  # one after the other: 3 + 4 + 4 hours
        optimise(problem([2], [1.0], rows, charges=[1]))


def test_a_cohort_is_split_where_its_cheapest_lane_is_full() -> None:
    rows = [(0, 0, NO_COPY, 5.0, 0.0, 1.0), (0, 1, NO_COPY, 5.0, 0.0, 3.0)]
    found = optimise(problem([5], [2.0, np.inf], rows))
    assert found.tasks.tolist() == [4, 1]


@pytest.mark.parametrize("seed", range(20))
def test_whole_sizes_that_fit_into_one_still_do_after_a_dual_feasible_function(seed: int) -> None:
    random = np.random.default_rng(seed)
    sizes = random.choice([0.1, 0.2, 0.25, 1 / 3, 0.5, 0.6], 6)
    kept = sizes[: np.searchsorted(np.cumsum(sizes), 1 + 1e-9, side="right")]
    for q in exact.DUALS:
        assert exact.whole(kept, q).sum() <= 1 + 1e-9


@pytest.mark.parametrize("way", [exact.solve, rounding.solve])
def test_without_time_there_is_a_plan_all_the_same_and_the_clock_says_so(way: Callable[..., Solution]) -> None:
    given = random_problem(5, cohorts=40, lanes=60, tasks=20_000)
    clock = TimeLimit(0.0)
    found = optimise(given, clock) if way is exact.solve else way(given, clock)
    assert clock.stopped
    assert not misfits(given, found.tasks)
    assert found.usd >= found.bound
    patient = TimeLimit(1e6)
    assert optimise(problem([1], [1.0], [(0, 0, NO_COPY, 1.0, 0.0, 1.0)]), patient).usd == 1
    assert not patient.stopped


@pytest.mark.parametrize("seed", range(3))
def test_a_larger_plan_keeps_a_budget_that_binds(seed: int) -> None:
    given = random_problem(seed, tasks=50_000)
    dear_is_safe = replace(given.choices, promise=given.choices.hours.max() * 3 - given.choices.usd)
    given = replace(given, choices=dear_is_safe)
    free = rounding.solve(given)
    least = rounding.solve(replace(given, choices=replace(dear_is_safe, usd=dear_is_safe.promise))).promise
    budget = (free.promise + least) / 2
    found = rounding.solve(replace(given, budget=budget))
    assert least < found.promise <= budget < free.promise
    assert not misfits(given, found.tasks)
    assert free.bound <= found.bound <= found.usd
    assert found.gap < 0.05
    same = rounding.solve(replace(given, budget=free.promise))
    assert same.tasks.tolist() == free.tasks.tolist()


def test_costs_may_be_replaced_without_sorting_the_choices_anew() -> None:
    given = problem([2], [np.inf, np.inf], [(0, 0, NO_COPY, 1.0, 0.0, 1.0), (0, 1, NO_COPY, 1.0, 0.0, 2.0)])
    turned = replace(given, choices=replace(given.choices, usd=np.array([3.0, 1.0])))
    assert optimise(turned).usd == 2
