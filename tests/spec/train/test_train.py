"""How one training may run: its image, and how many processes it starts."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from tests.fixtures.sweeps import make_sweep


def refusal(**train: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        make_sweep(**{f"train__{key}": value for key, value in train.items()})
    return str(caught.value)


def test_processes_are_a_number_auto_or_left_out() -> None:
    for processes in (None, 1, 8, "auto"):
        sweep = make_sweep(train__parallel="torchrun", train__processes_per_instance=processes)
        assert sweep.train.processes_per_instance == processes
    for wrong in (0, -1, True, 1.5, "8", "all", [8]):
        said = refusal(parallel="torchrun", processes_per_instance=wrong)
        assert "expected a number of processes or auto, got" in said


def test_single_and_smddp_count_their_processes_themselves() -> None:
    assert "single is one process an instance" in refusal(processes_per_instance="auto")
    smddp = make_sweep(train__parallel="smddp", train__processes_per_instance="auto")
    assert smddp.train.processes_per_instance == "auto"
    assert "smddp is always one process a GPU" in refusal(parallel="smddp", processes_per_instance=8)


def test_options_of_mpirun_are_for_those_that_use_it() -> None:
    for parallel in ("mpi", "smddp"):
        assert make_sweep(train__parallel=parallel, train__mpi_options="-verbose").train.mpi_options == "-verbose"
    assert "torchrun does not use mpirun" in refusal(parallel="torchrun", mpi_options="-verbose")


def test_a_hyperparameter_may_be_a_list_or_a_mapping() -> None:
    given = {"layers": [64, [1, 2]], "schedule": {"steps": [10, 20], "on": True}, "empty": []}
    assert make_sweep(train__hyperparameters=given).train.hyperparameters == given


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([1, None], "expected a number, text or true/false, got nothing"),
        ({"a": [float("inf")]}, "inf is not a finite number"),
        ({1: "a"}, "expected text as a key, got 1"),
        ({"a": "\0"}, "a NUL character"),
    ],
)
def test_what_is_in_it_are_plain_values(value: object, said: str) -> None:
    assert said in refusal(hyperparameters={"h": value})


def test_a_runtime_cannot_depend_on_a_list() -> None:
    with pytest.raises(ValidationError, match="layers is a list, not a number"):
        make_sweep(train__hyperparameters={"layers": [1]}, runtime="0.1 * layers")


@pytest.mark.parametrize("folder", ["saved", "/", "", "/a//b", "/a\0"])
def test_checkpoints_lie_in_a_whole_path(folder: str) -> None:
    assert "checkpoints.folder" in refusal(checkpoints={"folder": folder})
    assert make_sweep(train__checkpoints={"folder": "/var/saved"}).train.checkpoints


def test_what_ends_a_training_on_nan_is_one_of_its_metrics() -> None:
    assert make_sweep(train__metrics=["loss"], train__end_on_nan="loss", train__stall="5m").train.stall == "5m"
    assert "'los' is not a metric of train.metrics" in refusal(metrics=["loss"], end_on_nan="los")
    assert "stall" in refusal(stall="1m")
