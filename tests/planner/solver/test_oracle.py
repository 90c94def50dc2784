"""Every kind of limit at once, on problems so small that brute force can tell the cheapest plan."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.planner.model.problem import NO_COPY, NO_POOL, Choices, Pool, Problem, Total
from orchestrator.planner.model.solution import DoesNotFit, Solution
from orchestrator.planner.pack.schedule import ends, misfits
from orchestrator.planner.solver import exact, rounding
from orchestrator.planner.solver.optimise import optimise
from tests.planner.solver.test_optimise import HOURS, fits, random_problem, splits


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Up to 3 cohorts of 4 tasks on 3 lanes of 2 slots. The second may be ours for some hours only, the third has data
    only by copying it, the first may be paid for already; and any of them may share a total."""
    cohorts = draw(st.integers(1, 3))
    counts = draw(st.lists(st.integers(1, 4), min_size=cohorts, max_size=cohorts))
    opens = draw(st.sampled_from([0.0, 0.0, 2.0]))
    closes = draw(st.sampled_from([inf, inf, 7.0, 4.5]))
    rows: list[tuple[int, int, int, float, float, float, float, int, float]] = []
    for cohort, lane in product(range(cohorts), range(3)):
        if lane == 0 or draw(st.booleans()):
            copy = cohort % 2 if lane == 2 else NO_COPY
            hours, usd = draw(st.sampled_from(HOURS)), float(draw(st.integers(1, 9)))
            wait = {0: 0.0, 1: opens, 2: 1.0}[lane]
            rows.append((cohort, lane, copy, hours, wait, usd, 2 * usd, NO_POOL, 0.0))
            if lane == 0 and draw(st.booleans()):
                rows.append((cohort, lane, copy, hours, wait, 0.0, 2 * usd, 0, usd * 0.75))
    columns = zip(*sorted(rows, key=lambda row: (row[0], row[5], row[1], row[7])), strict=True)
    cohort, lane, copy, hours, wait, usd, promise, pool, drawn = (np.array(column) for column in columns)
    totals = draw(st.lists(st.tuples(st.sampled_from([[0, 1], [1, 2], [0, 1, 2]]), st.integers(1, 4)), max_size=2))
    return Problem(
        counts=np.array(counts),
        slots=np.array(draw(st.lists(st.sampled_from([1.0, 2.0, inf]), min_size=3, max_size=3))),
        charges=np.array(draw(st.lists(st.integers(0, 12), min_size=2, max_size=2)), dtype=float),
        choices=Choices(cohort, lane, copy, hours, wait, usd, promise, pool, drawn),
        horizon=10.0,
        budget=draw(st.sampled_from([inf, inf, 60.0])),
        closes=np.array([inf, closes, inf]),
        totals=tuple(Total(np.array(lanes), float(slots)) for lanes, slots in totals),
        pools=(Pool(draw(st.sampled_from([0.25, 0.5, 1.0])), 0.0, draw(st.sampled_from([8.0, inf]))),),
    ).within(10.0)


def keeps(given: Problem, tasks: np.ndarray) -> bool:
    """Every limit, slot by slot and task by task."""
    if (given.drawn(tasks) > given.funds + 1e-9).any():
        return False
    if Solution(given, tasks, 0.0).promise > given.budget + 1e-9:
        return False
    fewest = np.zeros(len(given.slots))
    for lane in range(len(given.slots)):
        rows = np.flatnonzero((given.choices.lane == lane) & (tasks > 0))
        items = [
            (float(given.choices.wait[row]), float(given.choices.hours[row])) for row in rows for _ in range(tasks[row])
        ]
        most = int(min(given.slots[lane], len(items)))
        until = float(min(given.closes[lane], given.horizon))
        enough = (n for n in range(most + 1) if fits(tuple(sorted(items, reverse=True)), (0.0,) * n, until))
        fewest[lane] = next(enough, inf)
    return bool(np.isfinite(fewest).all()) and all(fewest[total.lanes].sum() <= total.slots for total in given.totals)


def brute_force(given: Problem) -> float:
    best = inf
    first = given.first
    parts = [list(splits(int(count), first[k + 1] - first[k])) for k, count in enumerate(given.counts.tolist())]
    for way in product(*parts):
        tasks = np.array([count for part in way for count in part], dtype=np.int64)
        usd = Solution(given, tasks, 0.0).usd
        if usd < best - 1e-9 and keeps(given, tasks):
            best = usd
    return best


@settings(max_examples=150, deadline=None)
@given(problems())
def test_with_windows_totals_and_pools_a_small_plan_costs_what_brute_force_says(given: Problem) -> None:
    best = brute_force(given)
    try:
        found = optimise(given)
    except DoesNotFit:
        assert best == inf
        return
    assert found.usd == pytest.approx(best)
    assert found.bound <= best + 1e-4


@settings(max_examples=80, deadline=None)
@given(problems())
def test_windows_totals_and_pools_are_kept(given: Problem) -> None:
    for way in (optimise, rounding.solve, exact.solve):
        try:
            found = way(given)
        except DoesNotFit:
            continue
        sent = np.bincount(given.choices.cohort, weights=found.tasks, minlength=len(given.counts))
        assert sent.tolist() == given.counts.tolist()
        assert keeps(given, found.tasks)
        assert found.usd >= found.bound - 1e-4
        assert all(found.slots[total.lanes].sum() <= total.slots for total in given.totals if np.isfinite(total.slots))
        assert (ends(found) <= np.minimum(given.closes, given.horizon)[given.choices.lane] + 1e-6).all()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("tasks", [400, 100_000])
def test_a_larger_plan_keeps_windows_totals_and_pools_and_is_near_its_bound(seed: int, tasks: int) -> None:
    plain = random_problem(seed, tasks=tasks)
    choices, lanes = plain.choices, np.arange(len(plain.slots))
    paid = (choices.copy == NO_COPY) & (choices.lane % 5 == 0)
    usd = np.where(paid, choices.usd / 2, choices.usd)
    pooled = replace(choices, usd=usd, pool=np.where(paid, 0, NO_POOL), draw=np.where(paid, choices.usd, 0.0))
    given = replace(
        plain,
        slots=plain.slots * 2,
        closes=np.where(lanes % 7 == 3, 18.0, inf),
        totals=tuple(Total(lanes[lanes % 4 == r], np.floor(plain.slots[lanes % 4 == r].sum() * 1.5)) for r in range(4)),
        pools=(Pool(plain.choices.usd.max() * tasks / 5_000, 0.0, inf),),
        choices=pooled.take(np.lexsort((usd, choices.cohort))),
    ).within(24.0)
    found = rounding.solve(given)
    assert not misfits(given, found.tasks, found.slots)
    assert all(found.slots[total.lanes].sum() <= total.slots for total in given.totals)
    assert (given.drawn(found.tasks) <= given.funds * (1 + 1e-9)).all()
    assert given.drawn(found.tasks)[0] > 0
    assert found.bound <= found.usd <= found.bound * (1.05 if tasks == 400 else 1.01)
