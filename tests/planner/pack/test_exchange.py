"""Tasks move to cheaper places where that can be played, and to no others."""

from __future__ import annotations

import numpy as np
import pytest

from orchestrator.planner.model.solution import Solution
from orchestrator.planner.pack.exchange import exchange_tasks
from orchestrator.planner.pack.schedule import overfull_lanes
from orchestrator.planner.solver import rounding
from tests.planner.solver.problems import make_problem, random_problem


def test_a_task_moves_to_a_cheaper_place_that_has_room() -> None:
    problem = make_problem([2], [1, 2], [(0, 0, -1, 5.0, 0.0, 1.0), (0, 1, -1, 5.0, 0.0, 3.0)])
    found = exchange_tasks(Solution(problem, np.array([0, 2]), 2.0))
    assert found.tasks.tolist() == [2, 0]


def test_a_task_takes_the_room_of_another_that_loses_less_elsewhere() -> None:
    """The cheap slot is full of a task that costs $1 more elsewhere; the one that wants it costs $5 more elsewhere."""
    rows = [(0, 0, -1, 9.0, 0.0, 1.0), (0, 1, -1, 9.0, 0.0, 2.0), (1, 0, -1, 9.0, 0.0, 1.0), (1, 1, -1, 9.0, 0.0, 6.0)]
    problem = make_problem([1, 1], [1, 2], rows)
    found = exchange_tasks(Solution(problem, np.array([1, 0, 0, 1]), 3.0))
    assert found.tasks.tolist() == [0, 1, 1, 0]


def test_a_copy_that_is_not_made_is_not_made_for_an_exchange() -> None:
    rows = [(0, 0, -1, 5.0, 0.0, 3.0), (0, 1, 0, 5.0, 0.0, 1.0)]
    problem = make_problem([1], [1, 1], rows, charges=[1.0])
    tasks = (problem.choices.lane == 0).astype(np.int64)
    assert exchange_tasks(Solution(problem, tasks, 1.0)).tasks.tolist() == tasks.tolist()


@pytest.mark.parametrize("seed", range(4))
def test_exchanges_save_and_keep_every_limit(seed: int) -> None:
    problem = random_problem(seed)
    before = rounding.solve(problem)
    worse = before.tasks.copy()
    for cohort in range(len(problem.counts)):  # all of a cohort to where most of its tasks are
        its = slice(problem.first_choice[cohort], problem.first_choice[cohort + 1])
        one = int(worse[its].argmax()) + its.start
        other = int((worse[its] > 0).nonzero()[0][-1]) + its.start
        if one != other:
            worse[one] += 1
            worse[other] -= 1
    start = before if overfull_lanes(problem, worse) else Solution(problem, worse, before.bound)
    found = exchange_tasks(start)
    assert not overfull_lanes(problem, found.tasks)
    assert np.bincount(problem.choices.cohort, weights=found.tasks).tolist() == problem.counts.tolist()
    assert found.usd <= start.usd
