"""What a training finds in its container and leaves there, whoever starts it.

The local cloud starts a training as AWS's toolkit would, or has the toolkit itself do it (`sweep local up --toolkit`).
What holds for the real toolkit holds for the imitated one, or that has drifted.
"""

from __future__ import annotations

import errno
import json
import re
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from tests.fixtures.cloud import client_of
from tests.localcloud import account
from tests.localcloud.conftest import TrainingDesk, eventually, wheel

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.localcloud import LocalCloud

pytestmark = pytest.mark.skipif(account.IS_REAL, reason="it compares two local clouds")

BOTH = ("imitated", "toolkit")
HYPERPARAMETERS = {
    "lr": "0.1",
    "n": "3",
    "on": "true",
    "off": "false",
    "none": "null",
    "plain": "adam",
    "words": json.dumps('it\'s "so", $HOME & Größe'),
    "empty": '""',
    "list": "[1, 2]",
    "nested": '{"b": 1, "a": [2]}',
}
TWO_HOSTS = {"InstanceType": "ml.c5.xlarge", "InstanceCount": 2, "VolumeSizeInGB": 10}
LOOK = """
import json, os, socket, sys
root = os.path.dirname(os.environ["SM_MODEL_DIR"])
def text(*parts):
    return open(os.path.join(root, *parts)).read()
print(json.dumps({
    "root": root,
    "folder": os.getcwd(),
    "arguments": sys.argv[1:],
    "variables": dict(os.environ),
    "config": {name: json.loads(text("input", "config", name)) for name in os.listdir(root + "/input/config")},
    "data": text("input", "data", "training", "part", "x.txt"),
    "folders": sorted(name for name in os.listdir(root) if os.path.isdir(os.path.join(root, name))),
}))
"""


@pytest.fixture(scope="module", params=BOTH)
def runner(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def here(runner: str, request: pytest.FixtureRequest) -> LocalCloud:
    """Return the cloud that starts trainings this way."""
    cloud: LocalCloud = request.getfixturevalue("toolkit_cloud" if runner == "toolkit" else "cloud")
    return cloud


@pytest.fixture(scope="module")
def make(here: LocalCloud) -> Callable[..., Any]:
    return client_of(here)


@pytest.fixture
def several(runner: str, request: pytest.FixtureRequest) -> None:
    """Skip under the toolkit where hosts cannot be containers, as several hosts must be."""
    if runner == "toolkit":
        request.getfixturevalue("containers")


@pytest.fixture
def desk(make: Callable[..., Any], name: str) -> TrainingDesk:
    return TrainingDesk(make, name)


@pytest.fixture(scope="module")
def seen(make: Callable[..., Any]) -> dict[str, Any]:
    """Return what a training of one host sees in its container."""
    return look(TrainingDesk(make, "look"))


def look(desk: TrainingDesk) -> dict[str, Any]:
    """Run a training that prints what it sees, and return that, with /opt/ml wherever its folder is."""
    training = desk.run(LOOK, hyperparameters=HYPERPARAMETERS, Environment={"COLOUR": "bl\u00fce 'n' \"red\""})
    assert training["TrainingJobStatus"] == "Completed", training.get("FailureReason")
    printed = next(line for line in desk.log() if line.startswith('{"root": '))
    found: dict[str, Any] = json.loads(printed.replace(json.loads(printed)["root"], "/opt/ml"))
    return found


# Before


def test_hyperparameters_are_arguments_sorted_by_name(seen: dict[str, Any]) -> None:
    assert seen["arguments"] == [
        *("--empty", ""),
        *("--list", "[1, 2]"),
        *("--lr", "0.1"),
        *("-n", "3"),
        *("--nested", "a=[2],b=1"),
        *("--none", ""),
        *("--off", "False"),
        *("--on", "True"),
        *("--plain", "adam"),
        *("--words", 'it\'s "so", $HOME & Größe'),
    ]


def test_hyperparameters_are_variables(seen: dict[str, Any]) -> None:
    """Each is a variable by itself, and all together are one JSON."""
    variables = seen["variables"]
    each = {name: variables[f"SM_HP_{name.upper()}"] for name in HYPERPARAMETERS}
    assert each == {
        "lr": "0.1",
        "n": "3",
        "on": "true",
        "off": "false",
        "none": "",
        "plain": "adam",
        "words": 'it\'s "so", $HOME & Größe',
        "empty": "",
        "list": "[1,2]",
        "nested": '{"a":[2],"b":1}',
    }
    assert json.loads(variables["SM_HPS"])["nested"] == {"a": [2], "b": 1}
    assert json.loads(variables["SM_USER_ARGS"]) == seen["arguments"]


def test_a_training_knows_where_its_folders_are(seen: dict[str, Any]) -> None:
    variables = seen["variables"]
    names = ("MODEL_DIR", "OUTPUT_DATA_DIR", "OUTPUT_DIR", "INPUT_DIR", "INPUT_CONFIG_DIR", "CHANNEL_TRAINING")
    assert [variables[f"SM_{name}"] for name in names] == [
        "/opt/ml/model",
        "/opt/ml/output/data",
        "/opt/ml/output",
        "/opt/ml/input",
        "/opt/ml/input/config",
        "/opt/ml/input/data/training",
    ]
    assert (seen["folder"], variables["SM_CHANNELS"], seen["data"]) == ("/opt/ml/code", '["training"]', "seven")
    assert {"code", "input", "model", "output"} <= set(seen["folders"])


def test_a_training_knows_its_host_and_its_job(seen: dict[str, Any]) -> None:
    variables = seen["variables"]
    names = ("SM_HOSTS", "SM_CURRENT_HOST", "SM_NUM_GPUS", "TRAINING_JOB_NAME")
    assert {name: variables[name] for name in names} == {
        "SM_HOSTS": '["algo-1"]',
        "SM_CURRENT_HOST": "algo-1",
        "SM_NUM_GPUS": "0",
        "TRAINING_JOB_NAME": "look",
    }
    assert (variables["AWS_REGION"], variables["COLOUR"]) == ("us-east-1", "bl\u00fce 'n' \"red\"")
    assert json.loads(variables["SM_TRAINING_ENV"])["job_name"] == "look"


def test_both_give_a_training_the_same_variables(cloud: LocalCloud, toolkit_cloud: LocalCloud) -> None:
    """All variables of the toolkit are the same, except for where /opt/ml is."""
    imitated, real = (look(TrainingDesk(client_of(each), "same")) for each in (cloud, toolkit_cloud))
    assert imitated["config"] == real["config"]
    assert imitated["arguments"] == real["arguments"]
    assert toolkits(imitated["variables"]) == toolkits(real["variables"])


def toolkits(variables: dict[str, str]) -> dict[str, Any]:
    """Return the toolkit's own variables, decoded where they are JSON; without this machine's folder and PyTorch."""
    names = ("CURRENT_HOST", "NCCL_DEBUG", "NCCL_IB_DISABLE", "NCCL_SOCKET_IFNAME")
    own = {name: value for name, value in variables.items() if name.startswith(("SM_", "SAGEMAKER_")) or name in names}
    for name in ("SAGEMAKER_BASE_DIR", "SM_DLC_TORCH_VERSION"):
        own.pop(name, None)
    return {name: json.loads(value) if value.startswith(("{", "[")) else value for name, value in own.items()}


# While and after


def test_what_it_leaves_goes_to_s3(desk: TrainingDesk) -> None:
    training = desk.run(
        """
import os
open(os.environ["SM_MODEL_DIR"] + "/model.txt", "w").write("learned")
open(os.environ["SM_OUTPUT_DATA_DIR"] + "/notes.txt", "w").write("noted")
print("to the log"); os.write(2, "gr\\u00f6\\u00dfer: to the log too\\n".encode())
"""
    )
    assert training["TrainingJobStatus"] == "Completed"
    assert desk.files_in(f"out/{desk.name}/output/model.tar.gz") == {"model.txt": b"learned"}
    assert desk.files_in(f"out/{desk.name}/output/output.tar.gz") == {"notes.txt": b"noted"}
    assert {"to the log", "größer: to the log too"} <= set(desk.log())


def test_a_streamed_channel_is_mounted_for_reading(desk: TrainingDesk) -> None:
    source = {"S3DataType": "S3Prefix", "S3Uri": f"s3://{desk.bucket}/{desk.name}/data/"}
    channel = {"ChannelName": "training", "InputMode": "FastFile", "DataSource": {"S3DataSource": source}}
    training = desk.run(
        """
import os
folder = os.environ["SM_CHANNEL_TRAINING"]
print("mounted", os.path.ismount(folder), open(folder + "/part/x.txt").read())
try:
    open(folder + "/new", "w")
except OSError as error:
    print("refused", error.errno)
""",
        InputDataConfig=[channel],
    )
    assert training["TrainingJobStatus"] == "Completed", training.get("FailureReason")
    log = desk.log()
    if any("The channel training is a copy here" in line for line in log):
        pytest.skip("this machine mounts nothing")
    text = " ".join(log)  # the toolkit tears what is printed in parts
    assert "mounted True seven" in text
    assert f"refused {errno.EROFS}" in text


def test_an_error_is_the_reason_of_its_failure(desk: TrainingDesk) -> None:
    script = "print('begun')\ndef train():\n    raise ValueError('loss is nan at step 3')\ntrain()"
    training = desk.run(script, hyperparameters={"lr": "0.1"})
    assert training["TrainingJobStatus"] == "Failed"
    reason = re.sub(r'Command ".*?python\S*', 'Command "python', whole(training["FailureReason"]))
    assert reason == (
        "AlgorithmError ExecuteUserScriptError ExitCode 1 "
        "ErrorMessage \"raise ValueError('loss is nan at step 3') ValueError loss is nan at step 3\" "
        'Command "python -- train.py --lr 0.1", exit code 1'
    )


def whole(reason: str) -> str:
    """Return a reason on one line: the toolkit reads what a script prints in pieces, and now and then tears lines."""
    return re.sub(r"[\s:]+", " ", reason)


def test_an_exit_code_without_an_error_is_the_reason(desk: TrainingDesk) -> None:
    training = desk.run("import sys; sys.exit(3)")
    reason = training["FailureReason"]
    assert reason.startswith('AlgorithmError: ExecuteUserScriptError:\nExitCode 3\nErrorMessage ""\nCommand')
    assert reason.endswith(", exit code: 1")


def test_a_failure_file_of_its_own_is_the_reason(desk: TrainingDesk) -> None:
    """The toolkit writes none beside it, and ends with 1 whatever the script ended with."""
    training = desk.run(
        "import os, sys\nopen(os.environ['SM_OUTPUT_DIR'] + '/failure', 'w').write('no data left')\nsys.exit(4)"
    )
    assert training["FailureReason"] == "AlgorithmError: no data left, exit code: 1"


def test_a_script_that_is_killed_for_its_memory_ends_with_the_signal(desk: TrainingDesk, here: LocalCloud) -> None:
    desk.start("print('ready', flush=True)\nimport time; time.sleep(600)")
    eventually(lambda: desk.says("ready"))
    here.steering.add("kill", desk.name)
    reason = desk.end()["FailureReason"]
    assert reason.startswith('AlgorithmError: ExecuteUserScriptError:\nExitCode -9\nErrorMessage ""\nCommand')


def test_a_script_that_is_no_python_runs_in_a_shell(desk: TrainingDesk) -> None:
    files = {"train.sh": '#!/bin/sh\necho "$@" > "$SM_MODEL_DIR/arguments"\n'}
    asked = {"sagemaker_program": '"train.sh"', "lr": "0.1"}
    assert desk.run(files, hyperparameters=asked)["TrainingJobStatus"] == "Completed"
    assert desk.files_in(f"out/{desk.name}/output/model.tar.gz") == {"arguments": b"--lr 0.1\n"}


def test_its_own_entrypoint_takes_the_toolkits_place(desk: TrainingDesk) -> None:
    """Its exit code is shown as it is, and nobody writes a failure file."""
    algorithm = {
        "TrainingImage": "image",
        "TrainingInputMode": "File",
        "ContainerEntrypoint": ["/bin/sh", "-c"],
        "ContainerArguments": ["cat /opt/ml/input/data/training/part/x.txt; exit 7"],
    }
    training = desk.run("", AlgorithmSpecification=algorithm)
    assert training["FailureReason"] == "AlgorithmError: , exit code: 7"
    assert desk.log()[-1] == "seven"


def test_its_own_entrypoint_knows_of_no_toolkit_and_installs_for_itself_alone(desk: TrainingDesk) -> None:
    """The container has the variables that SageMaker sets, and those asked for."""
    key = f"{desk.name}/data/tiny_own-1.0-py3-none-any.whl"
    desk.s3.put_object(Bucket=desk.bucket, Key=key, Body=wheel("tiny_own", "WORD = 'installed'"))
    words = (
        "env | grep -c '^SM_' ; python3 -m pip install -q --no-index /opt/ml/input/data/training/*.whl "
        "&& python3 -c 'import boto3, tiny_own; print(tiny_own.WORD)'"
    )
    algorithm = {
        "TrainingImage": "image",
        "TrainingInputMode": "File",
        "ContainerEntrypoint": ["/bin/sh", "-c"],
        "ContainerArguments": [words],
    }
    training = desk.run("", AlgorithmSpecification=algorithm)
    assert training["TrainingJobStatus"] == "Completed", desk.log()
    assert [desk.log()[0], desk.log()[-1]] == ["0", "installed"]
    assert find_spec("tiny_own") is None


def test_a_script_may_ask_whether_it_runs_under_mpi(desk: TrainingDesk) -> None:
    """Lightning does so with every training."""
    assert desk.run("from mpi4py import MPI\nprint('of', MPI.COMM_WORLD.size)")["TrainingJobStatus"] == "Completed"
    assert "of 1" in desk.log()


def test_requirements_are_installed_for_the_training_alone(desk: TrainingDesk, make: Callable[..., Any]) -> None:
    files: dict[str, str | bytes] = {
        "train.py": "import tiny_had\nprint(tiny_had.WORD)",
        "requirements.txt": "./tiny_had-1.0-py3-none-any.whl",
        "tiny_had-1.0-py3-none-any.whl": wheel("tiny_had", "WORD = 'required and had'"),
    }
    assert desk.run(files)["TrainingJobStatus"] == "Completed"
    assert "required and had" in desk.log()
    other = TrainingDesk(make, f"{desk.name}-2")
    assert "No module named 'tiny_had'" in other.run("import tiny_had")["FailureReason"]


def test_sigterm_reaches_the_training_which_may_save(desk: TrainingDesk) -> None:
    desk.start(
        """
import os, signal, sys, time
def stop(*_):
    open(os.environ["SM_MODEL_DIR"] + "/half.txt", "w").write("half")
    sys.exit(0)
signal.signal(signal.SIGTERM, stop)
print("ready", flush=True)
time.sleep(600)
"""
    )
    eventually(lambda: desk.says("ready"))
    desk.client.stop_training_job(TrainingJobName=desk.name)
    assert desk.end()["TrainingJobStatus"] == "Stopped"
    assert desk.files_in(f"out/{desk.name}/output/model.tar.gz") == {"half.txt": b"half"}


def test_checkpoints_come_from_s3_and_go_there(desk: TrainingDesk) -> None:
    desk.s3.put_object(Bucket=desk.bucket, Key=f"{desk.name}/ck/step", Body=b"7")
    training = desk.run(
        """
import os
file = os.environ["CK"] + "/step"
step = int(open(file).read())
open(file, "w").write(str(step + 1))
""",
        Environment={"CK": "/opt/ml/checkpoints"},
        CheckpointConfig={"S3Uri": f"s3://{desk.bucket}/{desk.name}/ck"},
    )
    assert training["TrainingJobStatus"] == "Completed"
    assert desk.stored("ck/step") == b"8"


@pytest.mark.usefixtures("several")
def test_every_host_has_its_own_name_log_and_folders(desk: TrainingDesk) -> None:
    training = desk.run(
        """
import os
host = os.environ["SM_CURRENT_HOST"]
print(f"I am {host} of {os.environ['SM_HOSTS']}")
open(os.environ["SM_MODEL_DIR"] + "/" + host, "w").write(host)
""",
        ResourceConfig=TWO_HOSTS,
    )
    assert training["TrainingJobStatus"] == "Completed", training.get("FailureReason")
    for host in ("algo-1", "algo-2"):
        assert f'I am {host} of ["algo-1","algo-2"]' in desk.log(host)
    assert set(desk.files_in(f"out/{desk.name}/output/model.tar.gz")) == {"algo-1", "algo-2"}


@pytest.mark.usefixtures("several")
def test_one_host_that_fails_ends_all(desk: TrainingDesk) -> None:
    training = desk.run(
        """
import os, time
if os.environ["SM_CURRENT_HOST"] == "algo-2":
    raise KeyError("lost")
time.sleep(600)
""",
        ResourceConfig=TWO_HOSTS,
    )
    assert training["TrainingJobStatus"] == "Failed"
    assert "KeyError 'lost'" in whole(training["FailureReason"])
