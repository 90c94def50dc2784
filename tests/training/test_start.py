"""The starter, as a container runs it: real processes, with a folder in the place of /opt/ml."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from orchestrator.training.starter.machine import decode, encode
from tests.training.containers import Container

if TYPE_CHECKING:
    from pathlib import Path

SHOW = """
import json, os, sys
print(json.dumps({"words": sys.argv[1:], "folder": os.getcwd(), "variables": dict(os.environ)}))
"""
HOSTS = ("algo-1", "algo-2")


@pytest.fixture
def here(tmp_path: Path) -> Container:
    return Container(tmp_path / "ml")


def test_a_script_gets_its_options_its_folder_and_the_variables_that_scripts_read(here: Container) -> None:
    here.order(["train.py", "{data}", "{arguments}"], {"lr": 0.1, "out": "/opt/ml/model/x"}, arguments={"joined": True})
    code, out, _ = here.run(SHOW, COLOUR="blue", CHECKPOINTS="/opt/ml/checkpoints", SM_MODEL_DIR="/mine")
    seen = json.loads(out.splitlines()[-1])
    base = str(here.base)
    assert (code, seen["folder"]) == (0, f"{base}/code")
    assert seen["words"] == [f"{base}/input/data/training", "--lr=0.1", f"--out={base}/model/x"]
    told = ("SM_HP_LR", "SM_HPS", "SM_CHANNELS", "SM_HOSTS", "SM_CURRENT_HOST", "SM_NUM_GPUS", "SM_OUTPUT_DATA_DIR")
    assert [seen["variables"][name] for name in told] == [
        "0.1",
        json.dumps({"lr": 0.1, "out": f"{base}/model/x"}, separators=(",", ":")),
        '["training"]',
        '["algo-1"]',
        "algo-1",
        "0",
        f"{base}/output/data",
    ]
    assert seen["variables"]["SM_CHANNEL_TRAINING"] == f"{base}/input/data/training"
    assert seen["variables"]["PYTHONPATH"].split(":")[0] == f"{base}/code"
    assert (seen["variables"]["COLOUR"], seen["variables"]["SM_MODEL_DIR"]) == ("blue", "/mine")
    assert seen["variables"]["CHECKPOINTS"] == f"{base}/checkpoints"
    assert here.failure == ""


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False), st.lists))
@example("3")
@example("1e-3")
@example("true")
@example('"quoted"')
def test_a_hyperparameter_means_what_was_put_into_it(value: Any) -> None:
    told = decode(encode(value))
    assert (told, type(told)) == (value, type(value))


@pytest.mark.parametrize(("value", "text"), [("adam", "adam"), ("h", "h"), (0.1, "0.1"), (True, "true"), ("3", '"3"')])
def test_a_hyperparameter_is_written_as_plainly_as_it_can_be(value: Any, text: str) -> None:
    """Scripts that read hyperparameters.json by themselves expect text without quotes."""
    assert encode(value) == text


def test_an_error_is_the_reason_and_its_exit_code_the_containers(here: Container) -> None:
    script = "import warnings, sys\nwarnings.warn('old')\nprint('begun')\nraise ValueError('loss is nan at step 3')"
    code, out, err = here.run(script)
    assert (code, "begun" in out, "Traceback" in err) == (1, True, True)
    assert here.failure.splitlines()[:3] == [
        "ExecuteUserScriptError:",
        "ExitCode 1",
        'ErrorMessage "ValueError: loss is nan at step 3"',
    ]
    assert here.failure.endswith('train.py"')


@pytest.mark.parametrize(
    ("script", "code", "error"),
    [
        ("import sys; sys.exit(3)", 3, ""),
        ("import sys; sys.exit('no data left')", 1, "no data left"),
        ("import os; os.kill(os.getpid(), 9)", 137, "killed by SIGKILL, as a process is that takes too much memory"),
        ("import os; os.abort()", 134, ""),
    ],
)
def test_it_ends_as_the_script_does(here: Container, script: str, code: int, error: str) -> None:
    assert here.run(script)[0] == code
    assert f'ExitCode {code}\nErrorMessage "{error}"' in here.failure


LOST = "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [::1]:7."
CLOSED = "torch.distributed.elastic.rendezvous.api.RendezvousClosedError"


@pytest.mark.parametrize(
    ("said", "error"),
    [
        (f"[rank1]: KeyError: 7\n[rank0]: {LOST}\n{CLOSED}", "KeyError: 7"),
        (f"[rank0]: {LOST}\n{CLOSED}", LOST),
        ("torch.distributed.DistNetworkError: no route", "torch.distributed.DistNetworkError: no route"),
    ],
)
def test_what_follows_from_a_lost_rank_is_the_reason_only_where_nothing_else_is(
    here: Container, said: str, error: str
) -> None:
    here.run(f"import sys; sys.exit({said!r})")
    assert f'ErrorMessage "{error}"' in here.failure


def test_a_failure_file_of_the_scripts_own_stays(here: Container) -> None:
    script = "import os, sys; open(os.environ['SM_OUTPUT_DIR'] + '/failure', 'w').write('no data'); sys.exit(4)"
    assert here.run(script)[0] == 4
    assert here.failure == "no data"


def test_sigterm_reaches_the_script_which_may_save_and_end_well(here: Container) -> None:
    process = here.begin(
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: (print('saved'), sys.exit(0)))\n"
        "print('ready')\ntime.sleep(60)"
    )
    code, out, _ = here.stop(process, "ready")
    assert (code, out.splitlines()[-1], here.failure) == (0, "saved", "")


def test_a_shell_script_of_the_code_and_a_program_of_the_image_run_too(here: Container) -> None:
    here.write("code/run.sh", '#!/bin/sh\necho "got $@ in $PWD"\n')
    here.order(["run.sh", "{arguments}"], {"name": "a b"})
    assert f"got --name a b in {here.base}/code" in here.run()[1]
    here.order(["sh", "-c", "echo seven is {n}; exit 7"], {"n": 7})
    code, out, _ = here.run()
    assert (code, out.splitlines()[-1]) == (7, "seven is 7")


@pytest.mark.parametrize(
    ("command", "code", "reason"),
    [
        (["no-such-program"], 127, "no-such-program cannot be run: No such file or directory"),
        (["/etc"], 126, "/etc cannot be run: Permission denied"),
        (["{lrr}"], 125, "CannotStart: KeyError: 'lrr'"),
    ],
)
def test_what_cannot_be_run_says_so(here: Container, command: list[str], code: int, reason: str) -> None:
    here.order(command)
    assert here.run()[0] == code
    assert reason in here.failure


def test_a_script_that_reads_every_channel_finds_data_only(here: Container) -> None:
    here.run("print('trained')")
    assert json.loads((here.base / "input/config/inputdataconfig.json").read_text()) == {"training": {}}


def test_an_order_that_is_not_there_is_one_clear_line(here: Container) -> None:
    here.write("input/config/hyperparameters.json", '{"lr": "0.1"}')
    code, out, _ = here.run()
    assert (code, out) == (125, f"sweep: cannot start: {here.failure.partition(': ')[2]}\n")
    assert here.failure == "CannotStart: there is no hyperparameter sweep_start that says what to start"


def test_requirements_are_installed_first_and_their_failure_is_the_reason(here: Container) -> None:
    here.write("code/requirements.txt", "./no-such-folder\n")
    code, _, _ = here.run("print('trained')")
    assert (code, "no-such-folder" in here.failure, "pip install" in here.failure) == (1, True, True)


RANK = """
import os, sys
from mpi4py import MPI
modes = MPI.COMM_WORLD.gather((os.environ["MODE"], sys.argv[1]))
if modes: print("gathered", modes)
"""


def test_mpirun_starts_as_many_ranks_as_the_order_says(here: Container) -> None:
    here.order(["train.py", "{lr}"], {"lr": 0.1}, parallel="mpi", processes=2)
    code, out, err = here.run(RANK, MODE="fast")
    assert code == 0, err
    assert "[1,0]<stdout>:gathered [('fast', '0.1'), ('fast', '0.1')]" in out.splitlines()


def test_an_error_of_one_rank_ends_all_and_is_the_reason(here: Container) -> None:
    here.order(["train.py"], parallel="mpi", processes=2)
    script = "from mpi4py import MPI\nif MPI.COMM_WORLD.rank: raise ValueError('nan')\nMPI.COMM_WORLD.barrier()"
    assert here.run(script)[0] != 0
    assert 'ErrorMessage "ValueError: nan"' in here.failure


def test_ranks_have_time_to_save_after_sigterm(here: Container) -> None:
    here.order(["train.py"], parallel="mpi", processes=2)
    process = here.begin(
        "import os, pathlib, signal, sys, time\n"
        "saved = pathlib.Path('saved-' + os.environ['OMPI_COMM_WORLD_RANK'])\n"
        "signal.signal(signal.SIGTERM, lambda *_: (time.sleep(2), saved.touch(), sys.exit(0)))\n"
        "print('ready')\ntime.sleep(60)",
    )
    here.stop(process, "ready", processes=2)
    assert sorted(file.name for file in (here.base / "code").glob("saved-*")) == ["saved-0", "saved-1"]


LOCALLY = """#!/bin/sh
# Takes the place of ssh: each machine is this one, with a folder of its own.
export TMPDIR="${0%/*}/$1" OMPI_MCA_btl_vader_backing_directory="${0%/*}/$1"
shift
exec /bin/sh -c "$*"
"""


def test_machines_wait_for_each_other_and_end_together(tmp_path: Path) -> None:
    agent = tmp_path / "agent"
    agent.write_text(LOCALLY)
    agent.chmod(0o755)
    machines = [Container(tmp_path / host, hosts=HOSTS, host=host) for host in HOSTS]
    variables = {
        "MODE": "fast",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": "7791",
        "OMPI_MCA_plm_rsh_agent": str(agent),
        "OPAL_PREFIX": sys.prefix,
    }
    for machine in machines:
        machine.order(["train.py", "{lr}"], {"lr": 0.1}, parallel="mpi", processes=2)
    running = [machine.begin(RANK, **variables) for machine in reversed(machines)]
    (_, worker_errors), (out, errors) = (process.communicate(timeout=120) for process in running)
    assert [process.returncode for process in running] == [0, 0], errors + worker_errors
    assert "[1,0]<stdout>:gathered " + str([("fast", "0.1")] * 4) in out.splitlines()


@pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed: `make torch`")
@pytest.mark.long
def test_torchrun_starts_any_command_on_every_machine(tmp_path: Path) -> None:
    machines = [Container(tmp_path / host, hosts=HOSTS, host=host) for host in HOSTS]
    for machine in machines:
        machine.order(
            ["sh", "-c", "echo rank $RANK of $WORLD_SIZE {lr}"], {"lr": 0.1}, parallel="torchrun", processes=1
        )
    variables = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "7792", "OMP_NUM_THREADS": "1"}
    running = [machine.begin(**variables) for machine in machines]
    out = "".join(process.communicate(timeout=120)[0] for process in running)
    assert [process.returncode for process in running] == [0, 0]
    assert {"rank 0 of 2 0.1", "rank 1 of 2 0.1"} <= set(out.splitlines())
