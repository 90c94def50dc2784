"""A plan makes fillings of slots that hold its tasks, and what is known of slots goes from one problem to another."""

from __future__ import annotations

import numpy as np
import pytest

from orchestrator.planner.model.choices import NO_COPY
from orchestrator.planner.solver.slots.best_fillings import Filling
from orchestrator.planner.solver.slots.known_slots import KnownSlots, fillings_of
from tests.planner.solver.problems import make_problem

LENGTHS = [4.1, 3.0, 2.2, 0.7]


@pytest.mark.parametrize("seed", range(5))
def test_the_fillings_of_a_plan_fit_into_slots_and_hold_all_of_its_kinds_of_tasks(seed: int) -> None:
    rows = [(cohort, 0, NO_COPY, hours, 0.0, hours) for cohort, hours in enumerate(LENGTHS)]
    problem = make_problem([50] * 4, [60.0], rows)
    tasks = np.random.default_rng(seed).integers(0, 50, 4)
    found = fillings_of(problem, tasks)
    hours = problem.choices.hours
    assert found
    assert all(hours[each.rows] @ each.counts <= problem.horizon * (1 + 1e-9) for each in found)
    assert {row for each in found for row in each.rows.tolist()} == set(np.flatnonzero(tasks).tolist())
    # Slots are filled as far as what is left allows: the first one has no room for any other task that there is.
    first = found[0]
    left = tasks.copy()
    left[first.rows] -= first.counts
    free = problem.horizon - hours[first.rows] @ first.counts
    assert (hours[left > 0] > free - 1e-9).all()


def test_what_is_known_of_some_choices_is_known_of_all_and_again_of_others() -> None:
    known = KnownSlots(np.array([5.0, 7.0]), [Filling(0, np.array([0, 1]), np.array([2, 1]))])
    whole = known.of_whole(np.array([1, 3]), 5)
    assert whole.worth.tolist() == [-np.inf, 5.0, -np.inf, 7.0, -np.inf]
    assert whole.fillings[0].rows.tolist() == [1, 3]
    there = whole.within(np.array([1, 2, 3]))
    assert there.worth.tolist() == [5.0, -np.inf, 7.0]
    assert there.fillings[0].rows.tolist() == [0, 2]
    assert not whole.within(np.array([0, 1])).fillings
