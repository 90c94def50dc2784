"""What the times of one training on several numbers of instances tell."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.scaling.figures import Timing, compare, fit_efficiency

COUNTS = st.lists(st.integers(1, 64), min_size=2, max_size=6, unique=True)


def timings(*pairs: tuple[int, float]) -> list[Timing]:
    return [Timing(instances, seconds, usd=seconds * instances / 3600) for instances, seconds in pairs]


def test_each_number_is_held_against_the_smallest() -> None:
    rows = compare(timings((4, 300.0), (1, 1000.0), (2, 520.0)))
    assert [row.instances for row in rows] == [1, 2, 4]
    assert [round(row.speedup, 3) for row in rows] == [1, 1.923, 3.333]
    assert [row.ideal for row in rows] == [1, 2, 4]
    assert [round(row.efficiency, 3) for row in rows] == [1, 0.962, 0.833]


def test_the_smallest_number_need_not_be_one() -> None:
    rows = compare(timings((2, 600.0), (8, 200.0)))
    assert [(row.speedup, row.ideal, row.efficiency) for row in rows] == [(1, 1, 1), (3, 4, 0.75)]


@given(COUNTS, st.floats(0.51, 1.0), st.floats(1.0, 1e5))
def test_times_that_follow_the_planners_model_give_its_efficiency(
    counts: list[int], efficiency: float, seconds: float
) -> None:
    """`docs/planner-model.md`: m instances are (2η)^log₂m as fast as one. Here each doubling multiplies by 2η."""
    least = min(counts)
    found = [(count, seconds / (2 * efficiency) ** math.log2(count / least)) for count in counts]
    assert fit_efficiency(compare(timings(*found))) == pytest.approx(efficiency)


def test_more_instances_that_are_slower_are_told_as_not_faster() -> None:
    assert fit_efficiency(compare(timings((1, 100.0), (2, 130.0)))) == 0.5


def test_more_than_twice_as_fast_counts_as_twice() -> None:
    assert fit_efficiency(compare(timings((1, 100.0), (2, 40.0)))) == 1.0


@pytest.mark.parametrize("pairs", [[], [(4, 100.0)]])
def test_one_number_alone_tells_nothing(pairs: list[tuple[int, float]]) -> None:
    assert fit_efficiency(compare(timings(*pairs))) is None
