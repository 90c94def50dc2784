"""Open MPI ends a task in which a parameter is set twice: so a repeat is left out, or refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.platforms.sagemaker.planning import SageMakerPlanning
from orchestrator.platforms.sagemaker.processes.mpi_options import mpi_options_to_send
from orchestrator.platforms.sagemaker.processes.starting import starters_hyperparameters
from tests.fixtures.sweeps import make_sweep
from tests.platforms.sweeps import sweep, template

PLANNING = SageMakerPlanning({})
CLASSIC = "-mca btl_vader_single_copy_mechanism none -x NCCL_DEBUG=INFO --mca pml ob1 --oversubscribe"
"""Options as old recipes have them: the toolkit sets two of them by now."""


def told(options: str, parallel: str = "mpi") -> list[str]:
    asked = make_sweep(train__parallel=parallel, train__mpi_options=options, where__instance_types=["ml.p4d.24xlarge"])
    return [f"{'.'.join(map(str, one.at))}: {one.message}" for one in PLANNING.check(asked)]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("-x A=1 -mca pml cm", "-mca pml cm: AWS's toolkit and our starter set it to ob1, and Open MPI ends a task"),
        ("--mca btl ^openib,vader", "-mca btl ^openib,vader: AWS's toolkit and our starter set it to ^openib"),
        ("-mca btl_tcp_if_include eth1", "set it to the value that fits the machines"),
        ("-mca coll basic -mca coll tuned", "-mca coll tuned: it is set before to basic"),
        ("--oversubscribe -mca pml", "-mca pml: a name and a value must follow -mca"),
        ("--mca", "--mca: a name and a value must follow --mca"),
    ],
)
def test_a_parameter_that_is_set_to_two_values_is_refused(options: str, said: str) -> None:
    [line] = told(options)
    assert line.startswith("train.mpi_options: ")
    assert said in line


@pytest.mark.parametrize("option", ["-np 4", "--np 4", "-n 4", "-c 4", "-npernode 2", "-N 2"])
def test_how_many_processes_run_is_said_elsewhere(option: str) -> None:
    """Open MPI 4.1 takes the last of two numbers, so processes would run that nobody has planned."""
    assert told(f"-x A=1 {option}") == [
        f"train.mpi_options: {option.split()[0]}: AWS's toolkit and our starter say where processes run"
    ]


@pytest.mark.parametrize(
    "option", ["--host a", "-H a:2", "-hostfile /h", "--machinefile /h", "--rankfile /r", "--app f"]
)
def test_where_processes_run_is_not_the_user_s_to_say(option: str) -> None:
    [line] = told(option)
    assert "say where processes run" in line


def test_smddp_has_one_more() -> None:
    assert "plm_rsh_num_concurrent 4: AWS's toolkit" in told("-mca plm_rsh_num_concurrent 4", "smddp")[0]
    assert told("-mca plm_rsh_num_concurrent 4") == []


def test_an_equal_value_is_left_out_with_a_caution() -> None:
    asked = make_sweep(train__parallel="mpi", train__mpi_options=CLASSIC)
    assert list(PLANNING.check(asked)) == []
    assert mpi_options_to_send(asked.train) == "-x NCCL_DEBUG=INFO --oversubscribe"
    assert [line.partition(" is set anyway")[0] for line in PLANNING.cautions(asked)] == [
        "mpi_options: -mca btl_vader_single_copy_mechanism none",
        "mpi_options: -mca pml ob1",
    ]


def test_what_is_left_out_reaches_neither_the_toolkit_nor_the_starter() -> None:
    train = {"parallel": "mpi", "mpi_options": CLASSIC}
    sent = template(sweep(train)).body["hyperparameters"]["sagemaker_mpi_custom_mpi_options"]
    assert sent == '"-x NCCL_DEBUG=INFO --oversubscribe"'
    by_starter = sweep(train | {"entry_point": None, "command": "python train.py {arguments}"})
    assert "-mca" not in starters_hyperparameters(by_starter.train)["sweep_start"]


def test_other_options_are_sent_as_they_are_written() -> None:
    written = "-x  A=1 -mca coll basic --bind-to core -x A=2"
    assert mpi_options_to_send(make_sweep(train__parallel="mpi", train__mpi_options=written).train) == written


@pytest.mark.parametrize("repeat", [["-mca", "pml", "ob1"], ["--mca", "pml", "ob1"]])
def test_open_mpi_itself_refuses_a_repeat_even_of_an_equal_value(repeat: list[str]) -> None:
    mpirun = Path(sys.prefix) / "bin" / "mpirun"
    line = [str(mpirun), "--allow-run-as-root", "-np", "1", "-mca", "pml", "ob1", *repeat, "true"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "MCA param:   pml" in done.stdout + done.stderr
