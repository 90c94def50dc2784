"""Points and numbers are one to one, and a cohort's numbers are neighbours."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from orchestrator.spec.space.axes import Axis, columns
from orchestrator.spec.space.space import Space
from tests.fixtures.sweeps import make_sweep

if TYPE_CHECKING:
    from random import Random

AXIS: TypeAdapter[Any] = TypeAdapter(Axis)


def axis(form: Any) -> list[Any]:
    """The values of one parameter's axis."""
    (values,) = columns("x", AXIS.validate_python(form)).values()
    return [values.at(index) for index in range(values.count)]


def spelt(value: Any) -> str:
    """1, 1.0 and true are three values."""
    return json.dumps(value, sort_keys=True)


@pytest.mark.parametrize(
    ("form", "values"),
    [
        ([1, 1.0, True, "1"], [1, 1.0, True, "1"]),
        ("bool", [False, True]),
        ({"range": [1, 5]}, [1, 2, 3, 4, 5]),
        ({"range": [1, 6], "step": 2}, [1, 3, 5]),
        ({"range": [3, 1], "step": -1}, [3, 2, 1]),
        ({"range": [0.1, 0.5], "step": 0.1}, [0.1, 0.2, 0.3, 0.4, 0.5]),
        ({"range": [0, 1], "step": 0.5}, [0.0, 0.5, 1.0]),
        ({"linear": [0, 1], "num": 5}, [0.0, 0.25, 0.5, 0.75, 1.0]),
        ({"linear": [10, 50], "num": 5}, [10, 20, 30, 40, 50]),
        ({"linear": [0.1, 0.3], "num": 3}, [0.1, 0.2, 0.3]),
        ({"log": [1e-4, 1e-1], "num": 4}, [0.0001, 0.001, 0.01, 0.1]),
        ({"log": [1, 1e-3], "num": 4}, [1.0, 0.1, 0.01, 0.001]),
        ({"log": [16, 256], "num": 5}, [16, 32, 64, 128, 256]),
        ({"log": [10, 20], "num": 3}, [10.0, 14.1421356237, 20.0]),
    ],
)
def test_an_axis_has_the_values_a_reader_expects(form: Any, values: list[Any]) -> None:
    assert list(map(spelt, axis(form))) == list(map(spelt, values))


@pytest.mark.parametrize(
    "form",
    [
        [],
        [1, 1],
        ["a", None],
        [float("nan")],
        ["\ud800"],
        ["a\0"],
        [2**64],
        "boolean",
        {"range": [1, 2, 3]},
        {"range": [1, 2], "step": 0},
        {"range": [2, 1]},
        {"range": [5, 4.5]},
        {"range": [True, 5]},
        {"linear": [1, 2], "num": 1},
        {"linear": [1, 1], "num": 3},
        {"linear": [1, 2]},
        {"log": [0, 1], "num": 3},
        {"log": [1, 1.0000000001], "num": 1000},
        {"zip": {}},
        {"zip": {"a": [1, 2], "b": [1]}},
        {"zip": {"a": {"zip": {"b": [1]}}}},
        None,
        3,
    ],
)
def test_an_axis_that_makes_no_sense_is_refused(form: Any) -> None:
    with pytest.raises(ValidationError):
        AXIS.validate_python(form)


def _lists() -> st.SearchStrategy[list[Any]]:
    values = st.one_of(st.integers(-9, 9), st.booleans(), st.text("abc", max_size=2), st.sampled_from([0.5, 1e-3]))
    return st.lists(values, min_size=1, max_size=4, unique_by=spelt)


@st.composite
def spaces(draw: st.DrawFn) -> tuple[dict[str, Any], set[str]]:
    """Axes of every form, and which of the parameters the runtime uses."""
    axes: dict[str, Any] = {}
    for name in draw(st.permutations(["a", "b", "c", "d"]))[: draw(st.integers(0, 4))]:
        axes[name] = draw(
            st.one_of(
                _lists(),
                st.just("bool"),
                st.integers(1, 4).map(lambda n: {"range": [0, n]}),
                st.integers(2, 4).map(lambda n: {"log": [1, 10], "num": n}),
                st.integers(1, 3).map(lambda n: {"zip": {"z1": list(range(n)), "z2": [str(k) for k in range(n)]}})
                if not any(isinstance(other, dict) and "zip" in other for other in axes.values())
                else st.just("bool"),
            )
        )
    names = {
        name
        for key, form in axes.items()
        for name in (form["zip"] if isinstance(form, dict) and "zip" in form else [key])
    }
    sizes = draw(st.sets(st.sampled_from(sorted(names)))) if names else set()
    return axes, sizes


@given(spaces())
def test_numbers_and_points_are_one_to_one(drawn: tuple[dict[str, Any], set[str]]) -> None:
    axes, sizes = drawn
    space = Space({name: AXIS.validate_python(form) for name, form in axes.items()}, sizes)
    points = [space.point(number) for number in range(len(space))]
    assert len({spelt(point) for point in points}) == len(points)
    lengths = [next(iter(columns(n, AXIS.validate_python(f)).values())).count for n, f in axes.items()]
    assert len(points) == len(list(itertools.product(*map(range, lengths))))
    assert all(tuple(point) == space.parameters for point in points)


@given(spaces())
def test_points_of_one_size_have_neighbouring_numbers(drawn: tuple[dict[str, Any], set[str]]) -> None:
    axes, sizes = drawn
    space = Space({name: AXIS.validate_python(form) for name, form in axes.items()}, sizes)
    for number in range(len(space)):
        point, size = space.point(number), space.size(number // space.points_per_size)
        assert spelt({name: point[name] for name in space.size_parameters}) == spelt(size)


def test_size_parameters_turn_slowest_whatever_their_order_in_the_file() -> None:
    sweep = make_sweep(space={"lr": [0.1, 0.2], "epochs": [1, 2], "depth": [5, 6]}, runtime="epochs * depth")
    assert sweep.points.size_parameters == ("epochs", "depth")
    assert sweep.points.point(1) == {"lr": 0.2, "epochs": 1, "depth": 5}
    assert sweep.points.point(2) == {"lr": 0.1, "epochs": 2, "depth": 5}


def test_without_a_runtime_the_sizes_turn_slowest() -> None:
    given: dict[str, Any] = {"space": {"lr": [0.1, 0.2], "epochs": [1, 2], "depth": [5, 6]}, "runtime": None}
    assert make_sweep(**given, sizes=["depth"]).points.size_parameters == ("depth",)
    assert make_sweep(**given, sizes=["depth"]).points.point(2) == {"lr": 0.1, "epochs": 2, "depth": 5}
    assert make_sweep(**given).points.size_parameters == ()
    assert make_sweep(**given).runtimes == {}


@given(spaces(), st.randoms())
def test_a_number_means_the_same_whatever_the_order_in_the_file(
    drawn: tuple[dict[str, Any], set[str]], random: Random
) -> None:
    axes, sizes = drawn
    shuffled = random.sample(sorted(axes.items()), len(axes))
    one = Space({name: AXIS.validate_python(form) for name, form in axes.items()}, sizes)
    other = Space({name: AXIS.validate_python(form) for name, form in shuffled}, sizes)
    assert all(spelt(one.point(number)) == spelt(other.point(number)) for number in range(len(one)))


def test_a_space_without_axes_is_one_point() -> None:
    space = Space({})
    assert (len(space), space.point(0)) == (1, {})


def test_a_billion_points_are_decoded_one_by_one() -> None:
    space = Space({name: AXIS.validate_python({"range": [0, 999]}) for name in "abc"})
    assert len(space) == 10**9
    assert space.point(123_456_789) == {"a": 123, "b": 456, "c": 789}


def test_there_is_no_point_beyond_the_last() -> None:
    space = Space({"a": AXIS.validate_python([1, 2])})
    with pytest.raises(IndexError, match="point 2 of 2"):
        space.point(2)
    with pytest.raises(IndexError):
        space.point(-1)
