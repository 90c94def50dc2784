"""Whatever tasks are worth: no slot holds tasks that weigh more than 1, and they weigh as much as they can."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.planner.model.choices import NO_COPY
from orchestrator.planner.solver.slots.slot_weights import weigh_tasks
from tests.fixtures.examples import examples
from tests.planner.solver.problems import make_problem

if TYPE_CHECKING:
    from orchestrator.planner.model.problem import Problem

LENGTHS = st.lists(st.sampled_from([1.5, 1.9, 2.2, 2.5, 3.1, 4.0, 5.2, 7.3]), min_size=1, max_size=4, unique=True)


def one_lane(lengths: list[float], wait: float) -> Problem:
    """Return a problem of one lane of two slots, with a cohort of each of these lengths. The first one waits."""
    rows = [(k, 0, NO_COPY, hours, wait if k == 0 else 0.0, hours) for k, hours in enumerate(lengths)]
    return make_problem([3] * len(lengths), [2.0], rows)


@settings(max_examples=examples(100))
@given(lengths=LENGTHS, wait=st.sampled_from([0.0, 0.5]), seed=st.integers(0, 99))
def test_no_filling_of_a_slot_weighs_more_than_1_and_each_task_is_in_one_that_weighs_1(
    lengths: list[float], wait: float, seed: int
) -> None:
    problem = one_lane(lengths, wait)
    worth = np.random.default_rng(seed).uniform(-1, 3, len(lengths))
    weighed = weigh_tasks(problem, worth)
    if worth.max() <= 0:
        assert not weighed.is_weighed
        return
    hours, parts = weighed.choices.hours, weighed.slot_parts
    room = problem.horizon - problem.choices.wait.min()
    ways = [np.array(way) for way in product(range(7), repeat=len(hours)) if np.dot(way, hours) <= room + 1e-9]
    weights = [float(way @ parts) for way in ways]
    assert max(weights) <= 1
    for kind in range(len(hours)):
        assert max(weight for weight, way in zip(weights, ways, strict=True) if way[kind]) > 1 - 1e-9


def test_a_filling_that_is_worth_what_its_slot_costs_weighs_1() -> None:
    problem = one_lane([5.2, 4.0], 0.0)  # of the 10 hours of a slot, 9.2 can be busy
    parts = weigh_tasks(problem, np.array([6.0, 4.0])).slot_parts
    np.testing.assert_allclose(parts, [0.6, 0.4])
    np.testing.assert_allclose(problem.slot_parts, [5.2 / 9.2, 4.0 / 9.2], rtol=1e-4)
