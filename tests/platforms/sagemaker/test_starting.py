"""Who starts a training: AWS's toolkit where it can do what is asked, with the same bytes as ever; else the starter."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import botocore.session
import pytest
from botocore.validate import ParamValidator

from orchestrator.platforms.registry import make_planning
from orchestrator.platforms.sagemaker.request import make_request
from orchestrator.platforms.source import STARTER
from orchestrator.wire.result import TaskState
from tests.platforms.sagemaker.trainings import Desk
from tests.platforms.sweeps import ON_DEMAND, SPOT, TASK, sweep, template

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.platforms.base import Request
    from orchestrator.wire.task import Place, Task

SOURCE = "s3://team-eu-west-1/sources/abc/sourcedir.tar.gz"


def request(train: dict[str, Any], place: Place = SPOT, task: Task = TASK) -> Request:
    return make_request(template(sweep(train)), task, place, 1, 3000)


@pytest.mark.parametrize(
    ("train", "why"),
    [
        ({"arguments": {"joined": True}}, "train.arguments.joined"),
        ({"arguments": {"on_off": "flag", "style": "dashes"}}, "train.arguments.on_off"),
        ({"arguments": {"lists": "words"}}, "train.arguments.lists"),
        ({"arguments": {"positional": ["{data}"]}}, "train.arguments.positional"),
        ({"parallel": "torchrun", "entry_point": "run.sh"}, "torchrun with a .sh as train.entry_point"),
        ({"entry_point": None, "source": None, "command": "python -m pkg {data} {arguments}"}, "train.command"),
    ],
)
def test_the_starter_starts_what_the_toolkit_cannot(train: dict[str, Any], why: str) -> None:
    made = request(train)
    assert made.started_by.startswith(f"the starter, for {why}: ")
    algorithm = made.body["AlgorithmSpecification"]
    assert algorithm["ContainerEntrypoint"][:3] == ["python3", "-I", "-c"]
    assert algorithm["ContainerArguments"] == ["/opt/ml/input/data/code/sourcedir.tar.gz", "/opt/ml"]
    assert {channel["ChannelName"]: channel["DataSource"] for channel in made.body["InputDataConfig"]}["code"] == {
        "S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": SOURCE, "S3DataDistributionType": "FullyReplicated"}
    }
    assert [name for name in made.body["HyperParameters"] if name.startswith("sagemaker_")] == []


@pytest.mark.parametrize(
    "train",
    [
        {},
        {"arguments": {}},
        {"arguments": {"style": "underscores"}},
        {"parallel": "torchrun"},
        {"parallel": "mpi", "entry_point": "run.sh"},
        {"entry_point": "run.sh"},
    ],
)
def test_the_toolkit_starts_all_else_and_nothing_of_ours_is_in_the_request(train: dict[str, Any]) -> None:
    made = request(train)
    assert made.started_by == "AWS's toolkit in the image"
    assert set(made.body["AlgorithmSpecification"]) == {"TrainingImage", "TrainingInputMode"}
    assert [channel["ChannelName"] for channel in made.body["InputDataConfig"]] == ["training"]
    assert "sweep_start" not in made.body["HyperParameters"]


def test_other_names_are_the_names_of_the_hyperparameters_for_the_toolkit() -> None:
    """Its options are the hyperparameters' names: an Estimator of the SDK is told these."""
    train = {"arguments": {"style": "dashes"}, "hyperparameters": {"weight_decay": 0.1}}
    named = request(train).body["HyperParameters"]
    assert {"weight-decay": "0.1", "batch-size": "64"}.items() <= named.items()
    assert {"weight_decay", "batch_size"} & named.keys() == set()
    plain = request({"hyperparameters": {"weight_decay": 0.1}}).body["HyperParameters"]
    ours = {"weight_decay", "batch_size"}
    assert {name: value for name, value in plain.items() if name not in ours} == {
        name: value for name, value in named.items() if name.replace("-", "_") not in ours
    }


def test_the_dry_run_shows_the_command_that_the_starter_will_run() -> None:
    train = {
        "arguments": {"style": "dashes", "joined": True, "on_off": "flag", "positional": ["{lr}", "{data}"]},
        "hyperparameters": {"name": "a b"},
    }
    assert request(train).started_by == (
        "the starter, for train.arguments.joined: train.py 0.1 /opt/ml/input/data/training "
        "--augment --batch-size=64 '--name=a b' --optimizer=adam"
    )


def test_a_command_is_shown_with_its_values_filled_in() -> None:
    command = {"entry_point": None, "command": "python -m pkg --lr={lr} {data} {arguments}", "parallel": "torchrun"}
    made = request({**command, "arguments": {"on_off": "flag"}, "hyperparameters": {"epochs": 3}})
    assert made.started_by == (
        "the starter, for train.command: python -m pkg --lr=0.1 /opt/ml/input/data/training "
        "--augment --batch_size 64 --epochs 3 --optimizer adam"
    )


def test_what_the_image_starts_gets_plain_values_and_nothing_of_ours() -> None:
    """Algorithms of AWS's read their hyperparameters as text, as an Estimator of the SDK sends them."""
    made = request({"entry_point": "image", "source": None, "hyperparameters": {"num_round": 9, "objective": "reg"}})
    assert made.started_by == "the image's own entry point"
    assert made.body["HyperParameters"] == {
        "num_round": "9",
        "objective": "reg",
        "lr": "0.1",
        "batch_size": "64",
        "augment": "True",
        "optimizer": "adam",
    }
    assert set(made.body["AlgorithmSpecification"]) == {"TrainingImage", "TrainingInputMode"}
    assert [channel["ChannelName"] for channel in made.body["InputDataConfig"]] == ["training"]


@pytest.mark.parametrize("start", [{}, {"entry_point": "image", "source": None}, {"arguments": {"joined": True}}])
def test_parameters_may_be_variables_whoever_starts_the_training(start: dict[str, Any]) -> None:
    variables = {
        "LR": "{lr}",
        "SET": "{optimizer}-{epochs}",
        "ON": "{augment}",
        "DATA": "{data}/x",
        "BRACES": '{{lr}} {"a": 1}',
    }
    made = request({"environment": variables, "hyperparameters": {"epochs": 3}, **start})
    assert made.body["Environment"] == {
        "LR": "0.1",
        "SET": "adam-3",
        "ON": "true",
        "DATA": "/opt/ml/input/data/training/x",
        "BRACES": '{lr} {"a": 1}',
    }


def test_the_order_says_how_processes_start_and_nothing_that_is_usual() -> None:
    def order(train: dict[str, Any]) -> Any:
        return json.loads(request(train).body["HyperParameters"]["sweep_start"])

    joined = {"arguments": {"joined": True}}
    assert order(joined) == {
        "command": ["train.py", "{arguments}"],
        "data": "training",
        "parallel": "single",
        "arguments": {"joined": True},
    }
    mpi = {"parallel": "mpi", "processes_per_instance": 4, "mpi_options": "-x A"}
    assert order(joined | mpi) == order(joined) | {"parallel": "mpi", "processes": 4, "mpi_options": "-x A"}


@pytest.mark.parametrize("place", [SPOT, ON_DEMAND, replace(SPOT, instances=2)])
def test_botocores_own_description_of_the_api_accepts_the_request(place: Place) -> None:
    shape = botocore.session.Session().get_service_model("sagemaker").operation_model("CreateTrainingJob").input_shape
    body = request({"arguments": {"joined": True}, "parallel": "torchrun"}, place).body
    report = ParamValidator().validate(body, shape)
    assert not report.has_errors(), report.generate_report()
    algorithm = body["AlgorithmSpecification"]
    assert max(map(len, algorithm["ContainerEntrypoint"] + algorithm["ContainerArguments"])) <= 256


def test_the_starter_takes_a_channel_and_its_name() -> None:
    def complaints(**train: Any) -> list[str]:
        asked = sweep({"arguments": {"joined": True}, **train})
        return [one.message for one in make_planning("sagemaker", {}).check(asked)]

    many = {f"c{number}": "s3://team-{region}/x" for number in range(19)}
    assert complaints(channels=many) == ["20 channels, and the starter comes in one more"]
    assert complaints(channels={"code": "s3://team-{region}/x"}) == ["the starter comes in a channel 'code'"]
    assert complaints(data_channel="code") == ["the starter comes in a channel 'code'"]
    many.pop("c1")
    assert complaints(channels=many, data_channel="train") == []


def test_a_channel_s_folder_is_a_word_too() -> None:
    positional = {"arguments": {"positional": ["{data}", "{data:val}"]}}
    made = request({**positional, "data_channel": "train", "channels": {"val": "s3://team-{region}/val"}})
    assert ": train.py /opt/ml/input/data/train /opt/ml/input/data/val --" in made.started_by


def test_smddp_is_started_by_awss_toolkit_alone() -> None:
    asked = sweep({"parallel": "smddp", "arguments": {"joined": True}}, {"instance_types": ["ml.p4d.24xlarge"]})
    complaints = list(make_planning("sagemaker", {}).check(asked))
    assert [(one.message, one.at) for one in complaints] == [
        ("smddp is started by AWS's toolkit, which writes `--name value` only", ("train", "arguments", "joined"))
    ]


SECRET = {"environment": {"EPOCHS": "3", "WANDB_API_KEY": {"ssm": "/team/wandb"}}}


def test_a_secret_is_where_it_lies_and_the_starter_fetches_it() -> None:
    made = request(SECRET)
    assert made.body["Environment"] == {"EPOCHS": "3", "SWEEP_SECRET_WANDB_API_KEY": "ssm:eu-west-1:/team/wandb"}
    assert made.started_by.startswith("the starter, for train.environment.WANDB_API_KEY, a secret: ")
    assert {"orchestrator/training/secrets.py", "orchestrator/training/aws_call.py"} <= set(map(str, STARTER))


@pytest.mark.parametrize(
    ("train", "isolated", "said"),
    [
        ({"parallel": "smddp"}, False, "smddp is started by AWS's toolkit, which fetches no secrets"),
        ({}, True, "a training without a network cannot fetch WANDB_API_KEY"),
    ],
)
def test_a_secret_that_nobody_could_fetch_is_refused(train: dict[str, Any], isolated: bool, said: str) -> None:
    table = {"sagemaker": {"network_isolation": isolated}}
    asked = sweep({**SECRET, **train}, {"instance_types": ["ml.p4d.24xlarge"]}, platforms=table)
    complaints = list(make_planning("sagemaker", {}).check(asked))
    assert [(one.message, one.at) for one in complaints] == [(said, ("train", "environment", "WANDB_API_KEY"))]


LOOK = """
import json, os, sys
print("seen " + json.dumps([sys.argv[1:], os.environ["SM_CHANNELS"], open(sys.argv[1] + "/rows.txt").read()]))
print("loss=" + os.environ["SM_HP_LR"])
"""


@pytest.mark.parametrize("train", [{}, {"parallel": "mpi", "processes_per_instance": 1}], ids=["single", "mpi"])
def test_on_the_cloud_the_script_gets_what_was_asked(
    train: dict[str, Any], cloud_environment: dict[str, str], tmp_path: Path, name: str
) -> None:
    """Two machines where ranks can be on both: all of the starter's way is gone then."""
    (tmp_path / "train.py").write_text(LOOK)
    desk = Desk(cloud_environment, name)
    desk.put({"rows.txt": b"1,2,3"})
    arguments = {"style": "dashes", "joined": True, "on_off": "flag", "positional": ["{data}"]}
    metrics = {"loss": "loss=([0-9.]+)"}
    asked = sweep({"arguments": arguments, "metrics": metrics, **train}, {"instance_types": ["ml.c5.xlarge"]})
    machines = 2 if train else 1
    trained = desk.train(asked, TASK.point, source=tmp_path, instances=machines)
    assert trained.outcome.state is TaskState.DONE, trained.log
    told = [json.loads(line) for line in trained.said("seen ")]
    assert len(told) == machines
    words, channels, rows = told[0]
    assert words[0].endswith("/input/data/training")
    assert words[1:] == ["--augment", "--batch-size=64", "--lr=0.1", "--optimizer=adam"]
    assert (channels, rows) == ('["training"]', "1,2,3")
    assert trained.outcome.metrics == {"loss": 0.1}


def test_on_the_cloud_a_command_needs_no_code(cloud_environment: dict[str, str], name: str) -> None:
    desk = Desk(cloud_environment, name)
    desk.put({"rows.txt": b"1,2,3"})
    command = "sh -c 'cat {data}/rows.txt; echo \" lr $LR {optimizer}\" | tee /opt/ml/model/lr.txt'"
    train = {"entry_point": None, "source": None, "command": command, "environment": {"LR": "{lr}"}}
    trained = desk.train(sweep(train, {"instance_types": ["ml.c5.xlarge"]}), TASK.point)
    assert trained.outcome.state is TaskState.DONE, trained.log
    assert trained.said("1,2,3 ") == ["lr 0.1 adam"]
    assert trained.model == {"lr.txt": b" lr 0.1 adam\n"}
