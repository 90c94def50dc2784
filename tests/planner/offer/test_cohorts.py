"""Cohorts cover every task once, and hold what takes about equally long."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.planner.offer.cohorts import BUCKET, cohorts

ONE = np.ones((1, 1))
"""Dataset, of the one way that the runtime is known."""


@given(st.integers(1, 3), st.lists(st.floats(0.001, 1000), min_size=1, max_size=40), st.integers(1, 5))
def test_cohorts_are_neighbouring_ranges_that_cover_every_task(
    datasets: int, hours: list[float], points_per_size: int
) -> None:
    found = cohorts(np.array([hours]), np.ones((1, datasets)), points_per_size)
    edge = 0
    for cohort in found:
        assert cohort.first == edge
        assert cohort.dataset == edge // (len(hours) * points_per_size)
        edge += cohort.count
    assert edge == datasets * len(hours) * points_per_size


@given(st.lists(st.floats(0.001, 1000), min_size=1, max_size=40))
def test_a_cohort_s_runtimes_differ_by_less_than_a_bucket(hours: list[float]) -> None:
    for cohort in cohorts(np.array([hours]), ONE, 1):
        these = hours[cohort.first : cohort.first + cohort.count]
        assert max(these) <= min(these) * (1 + BUCKET) * (1 + 1e-9)
        assert min(these) <= cohort.hours[0] <= max(these) == cohort.longest[0] == hours[cohort.longest_size]


def test_a_thousand_close_sizes_are_few_cohorts() -> None:
    assert len(cohorts(np.linspace([1.0], [2.0], 1000, axis=1), ONE, 7)) <= 16


def test_sizes_share_a_cohort_only_if_they_take_equally_long_on_every_type() -> None:
    found = cohorts(np.array([[1.0, 1.0, 1.0], [5.0, 5.0, 7.0]]), np.ones((2, 1)), 2)
    assert [(cohort.first, cohort.count, cohort.hours) for cohort in found] == [(0, 4, (1.0, 5.0)), (4, 2, (1.0, 7.0))]


def test_a_dataset_s_tasks_take_as_many_times_as_long_as_it_says() -> None:
    found = cohorts(np.array([[1.0, 3.0], [2.0, 8.0]]), np.array([[1.0, 10.0], [1.0, 0.5]]), 1)
    assert [(cohort.dataset, cohort.first, cohort.hours) for cohort in found] == [
        (0, 0, (1.0, 2.0)),
        (0, 1, (3.0, 8.0)),
        (1, 2, (10.0, 1.0)),
        (1, 3, (30.0, 4.0)),
    ]
    assert found[3].longest == (30.0, 4.0)
