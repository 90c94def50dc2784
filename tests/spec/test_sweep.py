"""What a sweep may say, and what it may not."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from orchestrator.spec.sweep import Sweep
from orchestrator.wire.task import Purchase
from tests.fixtures.sweeps import make_sweep


@pytest.mark.parametrize(
    ("written", "meant"), [("horovod", "mpi"), ("ddp", "torchrun"), ("pytorchddp", "torchrun"), ("smddp", "smddp")]
)
def test_each_way_of_starting_processes_has_one_name(written: str, meant: str) -> None:
    assert make_sweep(train__parallel=written).train.parallel == meant


def test_how_many_processes_start_is_left_to_the_instance_unless_the_file_says_it() -> None:
    assert make_sweep(train__parallel="mpi").train.processes_per_instance is None
    assert make_sweep(train__processes_per_instance=1).train.processes_per_instance == 1


def test_a_sweep_is_the_same_after_being_stored() -> None:
    sweep = make_sweep(
        space={"a": {"zip": {"b": "bool", "c": {"linear": [0, 1], "num": 2}}}, "d": {"log": [1, 8], "num": 4}},
        runtime="d",
        data={"recorded_from": "2026-01-01", "tags": ["rain"]},
    )
    assert Sweep.model_validate(sweep.model_dump(mode="json")) == sweep


def test_what_only_one_platform_can_honour_is_kept_as_it_is() -> None:
    body = {"sagemaker": {"warm_pool": "30m", "nested": [{"a": 1}]}, "elsewhere": {}}
    sweep = make_sweep(platforms=body, where__platforms=["sagemaker", "elsewhere"])
    assert sweep.platforms == body
    assert sweep.where.platforms == ["sagemaker", "elsewhere"]
    assert (make_sweep().platforms, make_sweep().where.platforms) == ({}, [])


def test_whoever_wants_horovod_is_remembered_until_the_sweep_is_stored() -> None:
    sweep = make_sweep(train__parallel="horovod")
    assert sweep.train.wants_horovod
    assert not make_sweep(train__parallel="mpi").train.wants_horovod
    assert not Sweep.model_validate(sweep.model_dump(mode="json")).train.wants_horovod


def test_every_parameter_is_known_with_the_place_of_its_values() -> None:
    space = {"a": ["x", "y"], "b": {"zip": {"c": [1, 2], "d": {"range": [1, 2]}}}, "e": "bool"}
    found = make_sweep(space=space, runtime=1, train__hyperparameters={"f": "z"}).parameters
    assert [(one.name, one.values, one.value_at(1)) for one in found] == [
        ("a", ("x", "y"), ("space", "a", 1)),
        ("c", (1, 2), ("space", "b", "zip", "c", 1)),
        ("d", (), ("space", "b", "zip", "d", 1)),
        ("e", (False, True), ("space", "e", 1)),
        ("f", ("z",), ("train", "hyperparameters", "f")),
    ]


def test_instances_are_a_number_or_numbers_to_choose_from_in_any_order() -> None:
    assert make_sweep().train.instance_counts == (1,)
    assert make_sweep(train__instances=4).train.instance_counts == (4,)
    choice = make_sweep(train__instances=[4, 1, 2])
    assert choice.train.instance_counts == (1, 2, 4)
    assert Sweep.model_validate(choice.model_dump(mode="json")) == choice


def test_a_training_may_change_its_instances_unless_a_checkpoint_is_in_the_way() -> None:
    may_change = [
        make_sweep(**changes).train.may_change_instances
        for changes in ({}, {"train__checkpoints": {}}, {"train__checkpoints": {"any_instances": True}})
    ]
    assert may_change == [True, False, True]


def test_a_sweep_that_says_nothing_of_other_instances_is_written_down_as_before() -> None:
    kept = [
        make_sweep(train__checkpoints=body).model_dump(mode="json")["train"] for body in ({}, {"any_instances": True})
    ]
    assert ["any_instances" in body["checkpoints"] for body in kept] == [False, True]


def test_instances_in_a_runtime_are_their_number_unless_a_parameter_is_called_so() -> None:
    sweep = make_sweep(
        runtime={"ml.g5.xlarge": "4 / instances + epochs", "b": 1}, where__instance_types=["ml.g5.xlarge", "b"]
    )
    assert [sweep.counts_instances(runtime) for runtime in sweep.runtimes.values()] == [True, False]
    assert sweep.points.size_parameters == ("epochs",)
    own = make_sweep(runtime="instances", space={"instances": [1, 2]})
    assert not own.counts_instances(own.runtimes[""])
    assert own.points.size_parameters == ("instances",)


def test_spot_and_on_demand_may_be_bought_unless_the_file_says_otherwise() -> None:
    assert make_sweep().where.purchases == [Purchase.SPOT, Purchase.ON_DEMAND]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": "Grid"}, "cannot name a sweep"),
        ({"name": "a--b"}, "cannot name a sweep"),
        ({"name": "x" * 41}, "cannot name a sweep"),
        ({"train__framework": {"name": "pytorch", "version": "2.8.0"}}, "image and framework exclude each other"),
        ({"train__source": "/abs"}, "not a folder relative to the sweep file"),
        ({"train__entry_point": "../train.py"}, "not a path inside the source folder"),
        ({"train__entry_point": "train.exe"}, "neither a .py nor a .sh file"),
        ({"train__arguments": {"style": "dots"}}, "'as_written', 'dashes' or 'underscores'"),
        ({"train__arguments": {"positional": ["{lrr}"]}}, "{lrr} stands for nothing"),
        ({"train__arguments": {"positional": ["{data:lr}"]}}, "{data:lr} stands for nothing"),
        ({"train__arguments": {"positional": ["{arguments}"]}}, "options follow by themselves"),
        ({"train__arguments": {"positional": ["x{arguments}"]}}, "is several words"),
        ({"train__arguments": {"positional": ["a\0"]}}, "a NUL character"),
        (
            {"train__arguments": {"style": "dashes"}, "train__hyperparameters": {"a_b": 1, "a-b": 2}},
            "'a_b' and 'a-b' are both --a-b",
        ),
        (
            {"train__arguments": {"positional": ["{data}"]}, "train__hyperparameters": {"data": 1}},
            "{data} is the data's folder, and also a parameter",
        ),
        (
            {"train__arguments": {"on_off": "pair"}, "train__hyperparameters": {"amp": False, "no-amp": True}},
            "'amp' and 'no-amp' are both --no-amp",
        ),
        (
            {"train__arguments": {"on_off": "pair", "style": "dashes"}, "space": {"no_amp": [1, 2], "amp": [True]}},
            "'no_amp' and 'amp' are both --no-amp",
        ),
        ({"train__processes_per_instance": 10**9}, "1000000000 processes are more than 1,000"),
        ({"train__instances": 2**63}, "9223372036854775808 instances are more than 10,000"),
        ({"train__instances": [1, 10**30]}, "1000000000000000000000000000000 instances are more than 10,000"),
        ({"train__command": ""}, "the command is empty"),
        ({"train__command": []}, "the command is empty"),
        ({"train__parallel": "mpi", "train__mpi_options": '-x "A'}, "cannot be split into words: no closing quotation"),
        (
            {"train__stall": "20m", "timeout": "10m"},
            "a log cannot be silent for 20m: the timeout ends a training after",
        ),
        ({"plan__budget": float("inf")}, "a budget of inf is no amount of dollars"),
        ({"plan__budget": 10**400}, "is no amount of dollars"),
        ({"plan__budget": float("nan")}, "a budget of nan is no amount of dollars"),
        ({"plan__budget": 0}, "a budget of 0 is not above 0"),
        ({"train__processes_per_instance": 0}, "a number of processes or auto"),
        ({"train__processes_per_instance": 2}, "single is one process an instance"),
        ({"train__mpi_options": "-x A"}, "single does not use mpirun"),
        ({"train__environment": {"a-b": "1"}}, "cannot name an environment variable"),
        ({"train__environment": {"A": "\0"}}, "a NUL character"),
        ({"train__environment": {"A": 1}}, "valid string"),
        ({"train__metrics": {"": "(x)"}}, "1 to 255 characters"),
        ({"train__metrics": {"m": "(x)(y)"}}, "the regex has 2 groups, not one"),
        ({"train__hyperparameters": {"sweep_task": "x"}}, "names that begin with sweep_ are not passed to your code"),
        ({"train__hyperparameters": {"a b": "x"}}, "cannot name a parameter"),
        ({"train__hyperparameters": {"a" * 257: "x"}}, "cannot name a parameter"),
        ({"train__hyperparameters": {"a": float("inf")}}, "inf is not a finite number"),
        ({"train__hyperparameters": {"lr": 1}}, "also in train.hyperparameters"),
        ({"train__checkpoints": {"every": "0s"}}, "is not between 1s and 1d"),
        ({"train__volume_gb": 0}, "greater than or equal to 1"),
        ({"train__instances": 0}, "expected a number of instances, or a list of them from 1 on, got 0"),
        ({"train__instances": True}, "expected a number of instances, or a list of them from 1 on, got true"),
        ({"train__instances": "2"}, "expected a number of instances, or a list of them from 1 on, got '2'"),
        ({"train__instances": []}, "expected 1 to 8 numbers of instances to choose from, got 0"),
        ({"train__instances": list(range(1, 10))}, "expected 1 to 8 numbers of instances to choose from, got 9"),
        ({"train__instances": [1, 0]}, "expected a number of instances from 1 on, got 0"),
        ({"train__instances": [1, 2.0]}, "expected a number of instances from 1 on, got 2.0"),
        ({"train__instances": [4, 2, 4]}, "4 is listed twice"),
        ({"train__checkpoints": {"any_instances": "yes"}}, "valid boolean"),
        ({"runtime": "4 / instance"}, "unknown name 'instance' in the runtime"),
        ({"runtime": "4 / instances", "train__efficiency": 0.9}, "says already what several instances are worth"),
        (
            {"runtime": "4 / instances", "train__instances": [1, 2], "train__hyperparameters": {"instances": 3}},
            "`instances` is a parameter here, and not the number that the plan chooses",
        ),
        ({"space": {"a": {"zip": {"lr": [1]}}, "lr": [1]}, "runtime": 1}, "parameter 'lr' is in two axes"),
        ({"space": {"sweep_x": [1]}, "runtime": 1}, "is taken"),
        ({"space": {n: {"range": [1, 10**5]} for n in "abc"}, "runtime": 1}, "1.0e+15 points are too many"),
        ({"runtime": "name * 2", "train__hyperparameters": {"name": "x"}}, "name is text, not a number"),
        ({"runtime": "lr", "space": {"lr": [1, "big"]}}, "lr is text, not a number"),
        ({"runtime": None, "sizes": ["lr", "epoch"]}, "'epoch' is not in the space"),
        ({"runtime": None, "sizes": ["lr", "lr"]}, "'lr' is listed twice"),
        ({"runtime": None, "sizes": ["kind"], "space": {"kind": ["a", 1]}}, "kind is text, not a number"),
        ({"sizes": ["epochs"]}, "the runtime says already what it depends on"),
        ({"runtime": True}, "expected hours or an expression, got true"),
        ({"runtime": float("nan")}, "is not above 0"),
        ({"where": {"instance_types": []}}, "where.instance_types: there is nothing in it"),
        ({"where": {}}, "neither instance_types nor resources"),
        ({"where__platforms": ["sagemaker", "sagemaker"]}, "'sagemaker' is listed twice"),
        ({"platforms": {"sagemaker": None}}, "valid dictionary"),
        ({"where": {"instance_types": ["a", "a"]}}, "'a' is listed twice"),
        ({"where__purchases": ["spot", "spot"]}, "'spot' is listed twice"),
        ({"where__purchases": ["cheap"]}, "'spot', 'on_demand' or 'committed'"),
        ({"objective": {}}, "either minimize or maximize"),
        ({"objective": {"minimize": "loss", "maximize": "loss"}}, "either minimize or maximize"),
        ({"objective": {"minimize": "loss"}}, "is not a metric of train.metrics"),
        ({"data": {"recorded_from": "2026-02-01", "recorded_to": "2026-01-01"}}, "before recorded_from"),
        ({"patience": "2d"}, "is not between 0s and 1d"),
    ],
)
def test_a_sweep_that_cannot_work_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        make_sweep(**changes)
    assert said in str(caught.value)


def test_the_usual_pause_is_not_written_down_so_that_plans_keep_their_names() -> None:
    assert make_sweep().pause_after == 5
    assert make_sweep(pause_after=5).model_dump(mode="json") == make_sweep().model_dump(mode="json")
    assert make_sweep(pause_after=0).model_dump(mode="json")["pause_after"] == 0
    for wrong in (-1, 1001, True, "never"):
        with pytest.raises(ValidationError, match="pause_after"):
            make_sweep(pause_after=wrong)
