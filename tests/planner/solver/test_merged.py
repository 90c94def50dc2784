"""Merged cohorts have as many tasks, and as many hours and dollars wherever they go, as those that they stand for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from orchestrator.planner.solver.merged import merge_cohorts
from tests.planner.solver.problems import make_problem, random_problem


def test_cohorts_with_the_same_places_are_one_of_their_average() -> None:
    rows = [
        (0, 0, -1, 1.0, 0.0, 1.0), (0, 1, 0, 2.0, 0.5, 6.0),
        (1, 0, -1, 4.0, 0.0, 9.0), (1, 1, 0, 3.0, 0.25, 2.0),
        (2, 0, -1, 1.0, 0.0, 1.0),
    ]  # fmt: skip
    merged = merge_cohorts(make_problem([1, 3, 5], [2.0, 2.0], rows, charges=[1]), most=9)
    assert merged is not None
    assert merged.counts.tolist() == [4, 5]
    choices = merged.choices
    assert list(zip(choices.cohort, choices.lane, choices.usd, choices.hours, choices.wait, strict=True)) == [
        (0, 1, 3.0, 2.75, 0.25),
        (0, 0, 7.0, 3.25, 0.0),
        (1, 0, 1.0, 1.0, 0.0),
    ]


def test_nothing_is_lost_of_a_larger_problem() -> None:
    problem = random_problem(3, tasks=5_000)
    cohorts = problem.choices.take(problem.choices.cohort < 6)
    again = replace(cohorts, cohort=cohorts.cohort + 6, hours=cohorts.hours / 2, usd=cohorts.usd * 3)
    twice = replace(problem, choices=type(cohorts).join([cohorts, again]))
    merged = merge_cohorts(twice, most=len(twice.choices))
    assert merge_cohorts(twice, most=len(cohorts) - 1) is None
    assert merged is not None
    assert len(merged.counts) == 6
    for name in ("hours", "usd", "promise"):
        each = [
            np.bincount(some.choices.lane, weights=getattr(some.choices, name) * some.counts[some.choices.cohort])
            for some in (twice, merged)
        ]
        assert np.allclose(*each)
