"""The hours from which on a budget may do are those by which enough tasks have run where little is promised."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

import numpy as np
import pytest

from orchestrator.planner.explain.hours_for_budget import find_hours_for_budget
from tests.planner.solver.problems import make_problem

if TYPE_CHECKING:
    from orchestrator.planner.model.problem import Problem

SAFE, DEAR = 0, 1


def tasks(budget: float, slots: float = 10.0) -> Problem:
    """Return 1,000 tasks of an hour: a promise of $1 on some slots, and of $3 on as many as are wanted."""
    rows = [(0, SAFE, -1, 1.0, 0.0, 2.0), (0, DEAR, -1, 1.0, 0.0, 1.0)]
    problem = make_problem([1_000], [slots, inf], rows, horizon=1_000.0)
    promise = np.where(problem.choices.lane == SAFE, 1.0, 3.0)
    return replace(problem, budget=budget, choices=replace(problem.choices, promise=promise))


@pytest.mark.parametrize(("budget", "safe"), [(2_500, 250), (2_000, 500), (1_200, 900)])
def test_as_many_hours_as_the_tasks_need_that_must_run_where_little_is_promised(budget: float, safe: int) -> None:
    assert find_hours_for_budget(tasks(budget), 10.0) == pytest.approx(safe / 10, rel=0.02)


def test_a_budget_that_no_time_is_enough_for() -> None:
    assert find_hours_for_budget(tasks(999.0), 10.0) == inf


def test_a_budget_that_is_enough_needs_no_more_time() -> None:
    assert find_hours_for_budget(tasks(3_000.0), 10.0) == 10.0
