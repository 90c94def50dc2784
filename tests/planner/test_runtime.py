"""How long tasks take, as the sweep file says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from orchestrator.catalog.market import HISTORY, table
from orchestrator.errors import InfeasibleError
from orchestrator.planner import runtime
from orchestrator.planner.runtime import MAX_SIZES
from tests.fixtures.sweeps import make_sweep

if TYPE_CHECKING:
    from orchestrator.planner.runtime import Hours, Runtimes
    from orchestrator.spec.sweep import Sweep


TRAIN = {"entry_point": "train.py", "source": "training", "image": "x"}


def runtimes(sweep: Sweep, *datasets: int) -> Runtimes:
    """With no past. `datasets` are their bytes."""
    return runtime.runtimes(sweep, datasets or [10**9], table([], HISTORY))


def hours(sweep: Sweep) -> Hours:
    """By the first runtime that the file gives."""
    return runtimes(sweep).hours[0]


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
    assert "4 instances taken to be 3.5 times as fast" in runtimes(make_sweep(runtime=4, train__instances=4)).basis[0]


def test_efficiency_says_how_much_instances_help() -> None:
    assert hours(make_sweep(runtime=4, train={**TRAIN, "instances": 4, "efficiency": 1.0}))[0] == 1
    assert hours(make_sweep(runtime=4, train={**TRAIN, "instances": 4, "efficiency": 0.75}))[0] == 4 / 1.5**2


def test_a_type_without_a_runtime_of_its_own_is_as_fast_as_its_gpus() -> None:
    types = ["ml.p3.2xlarge", "ml.p4d.24xlarge", "ml.m5.large"]
    found = runtimes(make_sweep(runtime={"ml.p3.2xlarge": "2 * epochs"}, where__instance_types=types))
    assert found.hours.tolist() == [[2.0, 4.0]]
    row, factor = found.pace["ml.p4d.24xlarge"]
    assert (row, round(1 / factor, 2)) == (0, round(2 * 8**0.9, 2))
    assert "ml.m5.large" not in found.pace
    assert "runtime of ml.p4d.24xlarge: 0.077 times that of ml.p3.2xlarge, by the speed of its GPUs" in found.basis
    assert "left out: no runtime for ml.m5.large, and no prior for its speed" in found.basis


def test_types_may_have_runtimes_of_their_own() -> None:
    types = ["ml.g5.xlarge", "ml.m5.large"]
    found = runtimes(make_sweep(runtime={"ml.g5.xlarge": 1, "ml.m5.large": "9 * epochs"}, where__instance_types=types))
    assert found.hours.tolist() == [[1, 1], [9, 18]]
    assert found.pace == {"ml.g5.xlarge": (0, 1.0), "ml.m5.large": (1, 1.0)}


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
