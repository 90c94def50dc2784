"""Tasks take as long as the sweep file says, or as finished tasks did, or else a guess."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from orchestrator.catalog.market import HISTORY, table
from orchestrator.errors import InfeasibleError
from orchestrator.planner.hours.runtimes import HONEST_FACTOR, HONEST_FACTOR_OF_A_GUESS, MAX_SIZES, expected_runtimes
from tests.fixtures.sweeps import make_sweep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.planner.hours.runtimes import Runtimes
    from orchestrator.planner.model.arrays import Floats
    from orchestrator.spec.sweep import Sweep


TRAIN = {"entry_point": "train.py", "source": "training", "image": "x"}


def runtimes(sweep: Sweep, *datasets: int, past: Sequence[tuple[Any, ...]] = ()) -> Runtimes:
    """`datasets` are their bytes, `past` is rows of HISTORY."""
    return expected_runtimes(sweep, datasets or [10**9], table(past, HISTORY))


def hours(sweep: Sweep) -> Floats:
    """Return the hours of each size by the first runtime that the file gives."""
    first: Floats = runtimes(sweep).hours[0]
    return first


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
    assert "4 instances taken to be 3.5 times as fast" in runtimes(make_sweep(runtime=4, train__instances=4)).notes[0]


def test_efficiency_says_how_much_instances_help() -> None:
    assert hours(make_sweep(runtime=4, train={**TRAIN, "instances": 4, "efficiency": 1.0}))[0] == 1
    assert hours(make_sweep(runtime=4, train={**TRAIN, "instances": 4, "efficiency": 0.75}))[0] == 4 / 1.5**2


def test_a_type_without_a_runtime_of_its_own_is_as_fast_as_its_gpus() -> None:
    types = ["ml.p3.2xlarge", "ml.p4d.24xlarge", "ml.m5.large"]
    found = runtimes(make_sweep(runtime={"ml.p3.2xlarge": "2 * epochs"}, where__instance_types=types))
    assert found.hours.tolist() == [[2.0, 4.0]]
    row, factor = found.pace["ml.p4d.24xlarge", 1]
    assert (row, round(1 / factor, 2)) == (0, round(2 * 8**0.9, 2))
    assert ("ml.m5.large", 1) not in found.pace
    assert "runtime of ml.p4d.24xlarge: 0.077 times that of ml.p3.2xlarge, by the speed of its GPUs" in found.notes
    assert "left out: no runtime for ml.m5.large, and no prior for its speed" in found.notes


def test_types_may_have_runtimes_of_their_own() -> None:
    types = ["ml.g5.xlarge", "ml.m5.large"]
    found = runtimes(make_sweep(runtime={"ml.g5.xlarge": 1, "ml.m5.large": "9 * epochs"}, where__instance_types=types))
    assert found.hours.tolist() == [[1, 1], [9, 18]]
    assert found.pace == {("ml.g5.xlarge", 1): (0, 1.0), ("ml.m5.large", 1): (1, 1.0)}


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


G5, P3 = "ml.g5.xlarge", "ml.p3.2xlarge"


def finished(instance_type: str, *hours: float, size: int = 10**9, epochs: int = 1) -> list[tuple[Any, ...]]:
    """Rows of HISTORY, on one instance."""
    sizes = json.dumps({"epochs": epochs})
    return [("sagemaker", "us-east-1", instance_type, "on_demand", 1, size, sizes, each) for each in hours]


def test_without_a_runtime_it_is_learned_and_the_plan_says_from_how_many_tasks() -> None:
    sweep = make_sweep(runtime=None, sizes=["epochs"])
    past = finished(G5, 0.9, 1.0, 1.1, 1.0) + finished(G5, 1.9, 2.0, 2.1, epochs=2)
    found = runtimes(sweep, 10**9, 3 * 10**9, past=past)
    row, pace = found.pace[G5, 1]
    assert (found.hours[row] * pace).round(1).tolist() == [1.0, 2.0]
    assert found.data_factor[row] == pytest.approx([1.0, 3.0])
    assert found.notes[0].startswith("runtime of ml.g5.xlarge: learned from 7 finished tasks of grid; 8 in 10 took 0.9")
    assert found.notes[1].startswith("as learned, hours grow with epochs^1.0")


def test_a_type_that_the_file_names_is_not_learned_and_any_other_is() -> None:
    sweep = make_sweep(runtime={G5: "7 * epochs"}, where__instance_types=[G5, P3])
    found = runtimes(sweep, past=finished(G5, *[1.0] * 9) + finished(P3, *[3.0] * 9))
    assert found.hours[0].tolist() == [7, 14]
    assert found.pace[G5, 1] == (0, 1.0)
    row, pace = found.pace[P3, 1]
    assert found.hours[row] * pace == pytest.approx([3.0, 6.0], rel=1e-3)
    assert any(note.startswith("runtime of ml.p3.2xlarge: learned from 9 finished tasks") for note in found.notes)
    assert not any("ml.g5.xlarge: learned" in note for note in found.notes)


def test_a_type_not_seen_yet_is_as_fast_as_its_gpus_beside_those_that_were() -> None:
    sweep = make_sweep(runtime=None, where__instance_types=[G5, P3, "ml.m5.large"])
    found = runtimes(sweep, past=finished(G5, *[2.0] * 9))
    row, pace = found.pace[P3, 1]
    assert (found.hours[row] * pace).tolist() == pytest.approx([1.6])
    assert "runtime of ml.p3.2xlarge: 0.8 times that of ml.g5.xlarge, by the speed of its GPUs" in found.notes
    assert "left out: no runtime for ml.m5.large, and no prior for its speed" in found.notes


def test_before_any_run_hours_are_a_guess_that_is_loud() -> None:
    sweep = make_sweep(runtime=None, sizes=["epochs"], where__instance_types=[G5, P3])
    found = runtimes(sweep, 80 * 10**9, 10**9)
    row, pace = found.pace[P3, 1]
    hours = pace * np.outer(found.data_factor[row], found.hours[row])
    assert hours[0].prod() == pytest.approx(2.0**2), "80 GB at 40 GB an hour, about the middle of the epochs"
    assert hours[0, 1] == pytest.approx(2 * hours[0, 0])
    assert hours[1].prod() == pytest.approx(0.1**2), "never less than six minutes"
    assert found.pace[G5, 1][1] == pytest.approx(1 / 0.8)
    assert found.notes == (
        "runtime of ml.g5.xlarge, ml.p3.2xlarge: A GUESS, as nobody has said or seen it: by the speed of its GPUs and "
        "the bytes of its data, 40 GB an hour on one V100; set `runtime`, or plan again after a first run",
    )


def test_an_honest_task_may_take_as_long_as_nine_in_ten_took() -> None:
    sweep = make_sweep(runtime=None, where__instance_types=[G5, P3], plan={"budget": 100})
    wide = runtimes(sweep, past=finished(G5, *np.geomspace(0.25, 4, 60)) + finished(P3, *np.linspace(0.99, 1.01, 60)))
    assert wide.honest_factor[P3] == HONEST_FACTOR
    assert wide.honest_factor[G5] > 1.5
    assert f"envelopes hold more than 1.25 times the expected hours: {wide.honest_factor[G5]:.2f} on {G5}" in wide.notes
    assert runtimes(make_sweep(runtime=1)).honest_factor == {G5: HONEST_FACTOR}
    assert runtimes(make_sweep(runtime=None)).honest_factor == {G5: HONEST_FACTOR_OF_A_GUESS}


def test_hours_that_vary_wonder_at_the_parameters_that_are_no_sizes() -> None:
    found = runtimes(make_sweep(runtime=None, sizes=["lr"]), past=[])
    assert not any("vary" in note for note in found.notes)
    found = runtimes(make_sweep(runtime=None), past=finished(G5, *[1.0, 4.0] * 20))
    assert "hours on ml.g5.xlarge vary: if they depend on lr or epochs, name it under `sizes`" in found.notes


def test_sizes_beyond_those_seen_are_told() -> None:
    found = runtimes(make_sweep(runtime=None, sizes=["epochs"]), past=finished(G5, *[1.0] * 9))
    assert "epochs is 1 to 2 here, and was only 1 so far: what lies beyond is an estimate" in found.notes


def test_several_instances_are_as_fast_as_they_were_unless_the_file_says() -> None:
    past = finished(G5, *[3.0] * 9)
    past += [(*row[:4], 2, *row[5:7], 2.0) for row in past]
    two = {**TRAIN, "instances": 2}
    assert runtimes(make_sweep(runtime=3, train=two), past=past).hours[0, 0] == pytest.approx(2.0, rel=0.02)
    assert runtimes(make_sweep(runtime=3, train={**two, "efficiency": 1.0}), past=past).hours[0, 0] == 1.5
    assert runtimes(make_sweep(runtime=3, train=two)).hours[0, 0] == pytest.approx(3 / 2**0.9)
    notes = runtimes(make_sweep(runtime=None, train=two), past=past).notes
    assert any(note.startswith("as learned, twice the instances are 1.5") for note in notes)


def paced(found: Runtimes, instance_type: str, count: int) -> list[float]:
    """Return the hours of each size on a type with so many instances."""
    row, factor = found.pace[instance_type, count]
    hours: list[float] = (found.hours[row] * factor).tolist()
    return hours


def test_of_a_choice_each_number_of_instances_takes_as_long_as_it_would_alone() -> None:
    train = {**TRAIN, "efficiency": 0.8}
    found = runtimes(make_sweep(runtime="2 * epochs", train={**train, "instances": [4, 1, 3]}))
    for count in (1, 3, 4):
        alone = runtimes(make_sweep(runtime="2 * epochs", train={**train, "instances": count}))
        assert paced(found, G5, count) == pytest.approx(paced(alone, G5, count))
    assert len(found.hours) == 1, "all are rows of one source, so that cohorts stay as few as they are"
    assert found.notes == (
        "runtime: 2 * epochs hours on one instance, as the sweep file says, whatever its type; 3 instances taken to be "
        "2.1 and 4 to be 2.6 times as fast, as train.efficiency says",
    )


def test_a_runtime_may_count_instances_itself_size_by_size() -> None:
    sweep = make_sweep(runtime="epochs / instances + 0.5", train__instances=[1, 2])
    found = runtimes(sweep)
    assert [paced(found, G5, count) for count in (1, 2)] == [[1.5, 2.5], [1.0, 1.5]]
    assert found.notes == ("runtime: epochs / instances + 0.5 hours, as the sweep file says, whatever its type",)
    assert hours(make_sweep(runtime="epochs / instances + 0.5", train__instances=2)).tolist() == [1.0, 1.5]


def test_a_type_that_nobody_knows_scales_like_the_one_that_it_is_measured_by() -> None:
    sweep = make_sweep(runtime={P3: "4 / instances"}, train__instances=[1, 2], where__instance_types=[P3, G5])
    found = runtimes(sweep)
    assert paced(found, G5, 1) == pytest.approx([5.0])
    assert paced(found, G5, 2) == pytest.approx([2.5])
    assert len(found.notes) == 2, "the type is told of once"


def test_what_nobody_knows_to_be_faster_is_not_looked_at_and_the_plan_says_why() -> None:
    found = runtimes(make_sweep(runtime=4, train__instances=[2, 4]))
    assert paced(found, G5, 2) == hours(make_sweep(runtime=4, train__instances=2)).tolist()
    assert list(found.pace) == [(G5, 2)]
    assert found.notes[-1] == (
        "runtime on 4 instances of ml.g5.xlarge: taken to be no shorter than on fewer, as nobody has said or seen what "
        "they are worth: set `train.efficiency`, or write `instances` into `runtime`"
    )
    guessed = runtimes(make_sweep(runtime=None, train__instances=[1, 2]))
    assert list(guessed.pace) == [(G5, 1)]
    assert "as nobody has said or seen what they are worth" in guessed.notes[-1]


@pytest.mark.parametrize(("runtime", "kept"), [("1 + instances", [1]), ("max(4 / instances, 2)", [1, 2])])
def test_what_the_file_says_is_no_faster_is_not_looked_at_either(runtime: str, kept: list[int]) -> None:
    found = runtimes(make_sweep(runtime=runtime, train__instances=[1, 2, 4]))
    assert [count for _, count in found.pace] == kept
    assert found.notes[-1].endswith("taken to be no shorter than on fewer, as the sweep file says")


def seen_on(count: int, *hours: float) -> list[tuple[Any, ...]]:
    """Rows of HISTORY, on so many instances."""
    return [(*row[:4], count, *row[5:]) for row in finished(G5, *hours)]


def test_finished_tasks_say_what_instances_are_worth_as_far_as_they_had_so_many() -> None:
    sweep = make_sweep(runtime=None, train__instances=[1, 2, 4])
    found = runtimes(sweep, past=seen_on(1, *[3.0] * 9) + seen_on(2, *[2.0] * 9))
    assert paced(found, G5, 1)[0] == pytest.approx(3.0, rel=0.02)
    assert paced(found, G5, 2)[0] == pytest.approx(2.0, rel=0.02)
    assert (G5, 4) not in found.pace
    assert found.notes[-1] == (
        "runtime on 4 instances of ml.g5.xlarge: taken to be no shorter than on fewer, as finished tasks do not say "
        "so: they had 2 at most"
    )
    said = runtimes(
        make_sweep(runtime=3, train__instances=[1, 2, 4]), past=seen_on(1, *[3.0] * 9) + seen_on(2, *[2.0] * 9)
    )
    assert paced(said, G5, 2)[0] == pytest.approx(2.0, rel=0.02)
    assert "2 instances taken to be 1.5 times as fast, as finished tasks say" in said.notes[0]
    assert (G5, 4) not in said.pace


def test_tasks_that_all_had_two_instances_say_what_two_take_and_nothing_of_four() -> None:
    found = runtimes(make_sweep(runtime=None, train__instances=[1, 2, 4]), past=seen_on(2, *[2.0] * 9))
    assert paced(found, G5, 2)[0] == pytest.approx(2.0)
    assert paced(found, G5, 1)[0] == pytest.approx(2.0 * 2**0.9), "fewer are estimated: that promises nothing"
    assert (G5, 4) not in found.pace


def test_finished_tasks_that_were_slower_on_more_instances_are_believed() -> None:
    past = seen_on(1, *[2.0] * 99) + seen_on(2, *[4.0] * 99)
    assert list(runtimes(make_sweep(runtime=None, train__instances=[1, 2]), past=past).pace) == [(G5, 1)]


def test_the_file_s_efficiency_goes_beyond_what_finished_tasks_had() -> None:
    train = {**TRAIN, "instances": [1, 2, 4], "efficiency": 1.0}
    found = runtimes(make_sweep(runtime=None, train=train), past=seen_on(1, *[4.0] * 9))
    assert paced(found, G5, 4)[0] == pytest.approx(1.0)
