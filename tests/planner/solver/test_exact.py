"""The model of small problems keeps tasks whole."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.planner.model.solution import DoesNotFit
from orchestrator.planner.solver.exact import EFFORT, WHOLE_SIZES, solve, whole_sizes
from orchestrator.planner.solver.program import Answer, Effort, Program
from tests.fixtures.examples import examples
from tests.planner.solver.brute_force import keeps_every_limit, least_usd
from tests.planner.solver.problems import random_problem, small_problems

if TYPE_CHECKING:
    from orchestrator.planner.model.problem import Problem
    from orchestrator.planner.model.time_limit import TimeLimit


@pytest.mark.parametrize("seed", range(20))
def test_whole_sizes_that_fit_into_one_still_do_after_a_dual_feasible_function(seed: int) -> None:
    random = np.random.default_rng(seed)
    sizes = random.choice([0.1, 0.2, 0.25, 1 / 3, 0.5, 0.6], 6)
    kept = sizes[: np.searchsorted(np.cumsum(sizes), 1 + 1e-9, side="right")]
    for q in WHOLE_SIZES:
        assert whole_sizes(kept, q).sum() <= 1 + 1e-9


@settings(max_examples=examples(60))
@given(small_problems(every_limit=True), st.sampled_from([1, 30_000, 200_000]))
def test_little_work_proves_less_and_breaks_no_limit(problem: Problem, work: int) -> None:
    least = least_usd(problem)
    try:
        found, bound = solve(problem, work=work)
    except DoesNotFit:
        assert least == inf
        return
    assert bound <= least * (1 + 1e-7) + 1e-4
    if found is not None:
        assert keeps_every_limit(problem, found.tasks)
        assert found.bound == bound


def test_a_search_that_would_go_on_for_long_ends_after_its_work(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    whole = Program.solve

    def count(program: Program, effort: Effort | None = None, time_limit: TimeLimit | None = None) -> Answer:
        asked.append(effort.nodes if effort is not None else 0)
        return whole(program, effort, time_limit)

    monkeypatch.setattr(Program, "solve", count)
    problem = random_problem(5, cohorts=12, lanes=8, tasks=300)
    few, many = (solve(problem, work=work)[1] for work in (1, 2_000_000))
    assert few <= many * (1 + 1e-9)
    assert asked[0] == 1
    assert max(asked) <= EFFORT.nodes
