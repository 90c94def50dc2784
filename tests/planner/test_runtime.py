"""How long tasks take, as the sweep file says."""

from __future__ import annotations

import pytest

from orchestrator.errors import InfeasibleError
from orchestrator.planner.runtime import MAX_SIZES, basis, hours
from tests.fixtures.sweeps import make_sweep


def test_a_number_is_the_same_for_all() -> None:
    assert hours(make_sweep(runtime=2)).tolist() == [2.0]


def test_an_expression_is_worked_out_for_each_size() -> None:
    assert hours(make_sweep(runtime="0.5 * epochs")).tolist() == [0.5, 1.0]


def test_fixed_hyperparameters_may_be_in_it() -> None:
    sweep = make_sweep(runtime="epochs / speed", train__hyperparameters={"speed": 4, "note": "text"})
    assert hours(sweep).tolist() == [0.25, 0.5]


def test_zipped_sizes_are_taken_together() -> None:
    sweep = make_sweep(space={"z": {"zip": {"a": [1, 2], "b": [10, 20]}}, "c": [1, 3]}, runtime="a * b * c")
    assert hours(sweep).tolist() == [10, 40, 30, 120]


def test_hours_are_those_of_the_sizes_in_their_order() -> None:
    space = {"a": [1, 2], "lr": [0.1, 0.2], "z": {"zip": {"b": [3, 5, 7], "c": ["x", "y", "w"]}}, "d": "bool"}
    sweep = make_sweep(space=space, runtime="100 * a + 10 * b + d")
    sizes = [sweep.points.size(number) for number in range(sweep.points.sizes)]
    assert hours(sweep).tolist() == [100 * size["a"] + 10 * size["b"] + size["d"] for size in sizes]  # type: ignore[operator]


def test_instances_help_but_not_in_full() -> None:
    four = hours(make_sweep(runtime=4, train__instances=4))[0]
    assert 1 < four < 1.2
    assert "4 instances taken to be 3.5 times as fast" in basis(make_sweep(runtime=4, train__instances=4))


@pytest.mark.parametrize(
    ("runtime", "said"),
    [
        ("epochs - 1", r"the runtime `epochs - 1` is 0 hours for epochs=1"),
        ("1 / (epochs - 2)", r"is -1 hours for epochs=1"),
        ("1 / (2 - epochs)", r"is inf hours for epochs=2"),
        ("log(1 - epochs)", r"is -inf hours for epochs=1"),
        ("9 ** 9 ** 9", r"is inf hours \(it must be above 0"),
    ],
)
def test_a_runtime_that_is_none_is_refused_with_its_point(runtime: str, said: str) -> None:
    with pytest.raises(InfeasibleError, match=said):
        hours(make_sweep(runtime=runtime))


def test_too_many_sizes_are_refused_before_they_are_counted_out() -> None:
    sweep = make_sweep(space={"a": {"range": [1, MAX_SIZES + 1]}}, runtime="a")
    with pytest.raises(InfeasibleError, match=r"1,000,001 combinations of a \(at most 1,000,000"):
        hours(sweep)
