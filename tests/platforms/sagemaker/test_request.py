"""Request bodies, literally: what CreateTrainingJob gets is what is written here."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import botocore.session
import pytest
from botocore.validate import ParamValidator
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.errors import InvalidRequest
from orchestrator.platforms.sagemaker.request import HASH_TAG, make_request
from orchestrator.wire.names import canonical
from orchestrator.wire.task import Limits, Place, Purchase
from tests.platforms.sweeps import ON_DEMAND, ROLE, SPOT, TASK, sweep, template

DIGEST = "0123abcd"
SOURCE = f'"s3://team-eu-west-1/sources/{DIGEST}/sourcedir.tar.gz"'
COMMON = {
    "sagemaker_program": '"train.py"',
    "sagemaker_submit_directory": SOURCE,
    "sagemaker_container_log_level": "20",
    "sagemaker_region": '"eu-west-1"',
    "sagemaker_job_name": '"nightly-912-3"',
    "lr": "0.1",
    "batch_size": "64",
    "augment": "true",
    "optimizer": '"adam"',
}


def body(train: dict[str, Any] | None = None, place: Any = SPOT, **changes: Any) -> dict[str, Any]:
    where = {"instance_types": [place.lane.instance_type]} if (train or {}).get("parallel") == "smddp" else {}
    shared = template(sweep(train, where), digest=DIGEST)
    return make_request(shared, replace(TASK, **changes), place, 3, 3000).body


def test_a_spot_training_as_it_is_sent() -> None:
    made = make_request(template(sweep(), digest=DIGEST), TASK, SPOT, 3, 3000)
    assert (made.training, made.lane) == ("nightly-912-3", SPOT.lane)
    assert made.body == {
        "TrainingJobName": "nightly-912-3",
        "RoleArn": ROLE,
        "AlgorithmSpecification": {"TrainingImage": "me/train:1", "TrainingInputMode": "File"},
        "HyperParameters": COMMON,
        "InputDataConfig": [
            {
                "ChannelName": "training",
                "DataSource": {
                    "S3DataSource": {
                        "S3DataType": "S3Prefix",
                        "S3Uri": "s3://team-eu-west-1/paris/v1/",
                        "S3DataDistributionType": "FullyReplicated",
                    }
                },
            }
        ],
        "OutputDataConfig": {"S3OutputPath": "s3://team-eu-west-1/runs/nightly/trainings"},
        "ResourceConfig": {"VolumeSizeInGB": 30, "InstanceType": "ml.g5.xlarge", "InstanceCount": 1},
        "StoppingCondition": {"MaxRuntimeInSeconds": 3000, "MaxWaitTimeInSeconds": 7200},
        "EnableManagedSpotTraining": True,
        "Tags": [
            {"Key": "sweep:run", "Value": "nightly"},
            {"Key": "sweep:task", "Value": "912"},
            {"Key": "sweep:attempt", "Value": "3"},
            {"Key": "sweep:owner", "Value": "ada"},
            {"Key": "sweep:request-hash", "Value": made.hash},
        ],
    }


@pytest.mark.parametrize(
    ("train", "adds"),
    [
        ({}, {}),
        (
            {"parallel": "mpi", "processes_per_instance": 4, "mpi_options": "-x NCCL_DEBUG=INFO"},
            {
                "sagemaker_mpi_enabled": "true",
                "sagemaker_mpi_num_of_processes_per_host": "4",
                "sagemaker_mpi_custom_mpi_options": '"-x NCCL_DEBUG=INFO"',
            },
        ),
        (
            {"parallel": "horovod"},
            {
                "sagemaker_mpi_enabled": "true",
                "sagemaker_mpi_custom_mpi_options": '""',
            },
        ),
        (
            {"parallel": "ddp", "processes_per_instance": 8},
            {
                "sagemaker_torch_distributed_enabled": "true",
                "sagemaker_mpi_num_of_processes_per_host": "8",
                "sagemaker_instance_type": '"ml.g5.xlarge"',
            },
        ),
        (
            {"parallel": "torchrun"},
            {"sagemaker_torch_distributed_enabled": "true", "sagemaker_instance_type": '"ml.g5.xlarge"'},
        ),
        (
            {"parallel": "smddp"},
            {
                "sagemaker_distributed_dataparallel_enabled": "true",
                "sagemaker_distributed_dataparallel_custom_mpi_options": '""',
                "sagemaker_instance_type": '"ml.p4d.24xlarge"',
            },
        ),
    ],
)
def test_each_way_of_starting_processes_adds_what_the_sdks_estimators_send(
    train: dict[str, Any], adds: dict[str, str]
) -> None:
    place = at("ml.p4d.24xlarge") if train.get("parallel") == "smddp" else SPOT
    assert body(train, place)["HyperParameters"] == COMMON | adds


@pytest.mark.parametrize("parallel", ["mpi", "torchrun"])
def test_one_process_an_instance_is_asked_for_only_when_the_sweep_says_so(parallel: str) -> None:
    name = "sagemaker_mpi_num_of_processes_per_host"
    assert name not in body({"parallel": parallel})["HyperParameters"]
    assert body({"parallel": parallel, "processes_per_instance": 1})["HyperParameters"][name] == "1"


PROCESSES = "sagemaker_mpi_num_of_processes_per_host"


def at(instance_type: str, instances: int = 1) -> Place:
    return replace(ON_DEMAND, lane=replace(ON_DEMAND.lane, instance_type=instance_type), instances=instances)


@pytest.mark.parametrize(
    ("instance_type", "processes"), [("ml.g5.xlarge", "1"), ("ml.p4d.24xlarge", "8"), ("ml.c5.4xlarge", "1")]
)
@pytest.mark.parametrize("parallel", ["mpi", "torchrun"])
def test_auto_is_the_gpus_of_the_place(parallel: str, instance_type: str, processes: str) -> None:
    made = body({"parallel": parallel, "processes_per_instance": "auto"}, at(instance_type))
    assert made["HyperParameters"][PROCESSES] == processes


@pytest.mark.parametrize("instance_type", ["ml.new.large", "ml.trn1.32xlarge"])
def test_auto_is_never_guessed(instance_type: str) -> None:
    with pytest.raises(InvalidRequest, match=f"`auto` is on {instance_type} is not known here"):
        body({"parallel": "torchrun", "processes_per_instance": "auto"}, at(instance_type))


@pytest.mark.parametrize(
    ("instance_type", "adds"),
    [
        ("ml.g5.xlarge", {}),
        ("ml.new.large", {}),
        ("ml.g5.48xlarge", {"FI_PROVIDER": "efa", "FI_EFA_USE_HUGE_PAGE": "0", "FI_EFA_FORK_SAFE": "1"}),
        (
            "ml.p4d.24xlarge",
            {
                "FI_PROVIDER": "efa",
                "FI_EFA_USE_HUGE_PAGE": "0",
                "FI_EFA_FORK_SAFE": "1",
                "FI_EFA_USE_DEVICE_RDMA": "1",
            },
        ),
    ],
)
def test_the_fast_network_is_set_up_where_there_is_one_between_instances(
    instance_type: str, adds: dict[str, str]
) -> None:
    assert body(place=at(instance_type, 2)).get("Environment", {}) == adds
    assert "Environment" not in body(place=at(instance_type))


def test_the_user_s_environment_goes_before_ours() -> None:
    asked = {"environment": {"FI_PROVIDER": "tcp", "MODE": "fast"}}
    made = body(asked, at("ml.p4d.24xlarge", 2))["Environment"]
    assert (made["FI_PROVIDER"], made["MODE"], made["FI_EFA_FORK_SAFE"]) == ("tcp", "fast", "1")


def test_everything_a_sweep_may_ask_for_has_its_field() -> None:
    asked = {
        "environment": {"MODE": "fast"},
        "metrics": {"loss": "loss=([0-9.]+)"},
        "checkpoints": {"every": "5m"},
        "volume_gb": 100,
        "hyperparameters": {"epochs": 3},
    }
    made = body(asked, replace(SPOT, instances=2))
    assert made["Environment"] == {"SWEEP_CHECKPOINT_EVERY_S": "300", "MODE": "fast"}
    assert made["AlgorithmSpecification"]["MetricDefinitions"] == [{"Name": "loss", "Regex": "loss=([0-9.]+)"}]
    assert "EnableSageMakerMetricsTimeSeries" not in made["AlgorithmSpecification"]
    assert made["CheckpointConfig"] == {"S3Uri": "s3://team-eu-west-1/runs/nightly/checkpoints/912"}
    assert made["ResourceConfig"] == {"VolumeSizeInGB": 100, "InstanceType": "ml.g5.xlarge", "InstanceCount": 2}
    assert made["HyperParameters"]["epochs"] == "3"


def test_on_demand_says_how_long_to_wait_for_a_machine_within_sagemakers_bounds() -> None:
    made = body(place=ON_DEMAND)
    assert "EnableManagedSpotTraining" not in made
    assert made["StoppingCondition"] == {"MaxRuntimeInSeconds": 3000, "MaxPendingTimeInSeconds": 1800}
    cpu = replace(ON_DEMAND, lane=replace(ON_DEMAND.lane, instance_type="ml.c5.xlarge"))
    assert body(place=cpu)["StoppingCondition"] == {"MaxRuntimeInSeconds": 3000}


PLAN = "arn:aws:sagemaker:eu-west-1:123456789012:training-plan/nightly"
COMMITTED = replace(ON_DEMAND, lane=replace(ON_DEMAND.lane, purchase=Purchase.COMMITTED), site=PLAN)


def test_a_training_plan_is_drawn_on_by_its_arn_and_never_as_spot() -> None:
    made = body(place=COMMITTED)
    assert made["ResourceConfig"]["TrainingPlanArn"] == PLAN
    assert "EnableManagedSpotTraining" not in made
    assert "TrainingPlanArn" not in body()["ResourceConfig"]


@pytest.mark.parametrize("place", [replace(COMMITTED, site=""), replace(ON_DEMAND, site=PLAN)])
def test_what_is_bought_and_the_training_plan_must_agree(place: Place) -> None:
    with pytest.raises(InvalidRequest, match="training plan"):
        body(place=place)


def test_spot_waits_at_least_as_long_as_it_may_run() -> None:
    assert body(limits=Limits(3600, max_wait_s=0))["StoppingCondition"]["MaxWaitTimeInSeconds"] == 3000


def test_checkpoints_belong_to_the_task_so_that_the_next_attempt_goes_on() -> None:
    shared = template(sweep({"checkpoints": {}}), digest=DIGEST)
    first, second = (make_request(shared, TASK, SPOT, attempt, 3000).body for attempt in (1, 2))
    assert first["CheckpointConfig"] == second["CheckpointConfig"]
    assert first["TrainingJobName"] != second["TrainingJobName"]


points = st.dictionaries(
    st.from_regex(r"[a-z_][a-z0-9_]{0,20}", fullmatch=True),
    st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.booleans() | st.text(max_size=40),
    max_size=8,
)


@given(points, st.integers(0, 10**6), st.integers(1, 99))
def test_the_same_arguments_make_the_same_bytes_and_the_hash_covers_them(
    point: dict[str, Any], number: int, attempt: int
) -> None:
    shared = template(sweep(), digest=DIGEST)
    task = replace(TASK, point=point, number=number)
    one, two = (make_request(shared, task, SPOT, attempt, 3000) for _ in range(2))
    assert canonical(one.body) == canonical(two.body)
    assert one.hash == two.hash == {tag["Key"]: tag["Value"] for tag in one.body["Tags"]}[HASH_TAG]
    others = [
        make_request(shared, task, SPOT, attempt + 1, 3000),
        make_request(shared, task, SPOT, attempt, 2999),
        make_request(shared, task, ON_DEMAND, attempt, 3000),
        make_request(shared, replace(task, point=point | {"new": 1}), SPOT, attempt, 3000),
    ]
    assert one.hash not in {other.hash for other in others}


@pytest.mark.parametrize("place", [SPOT, ON_DEMAND, COMMITTED])
def test_botocores_own_description_of_the_api_accepts_the_request(place: Any) -> None:
    asked = {"metrics": {"loss": "loss=([0-9.]+)"}, "checkpoints": {}, "environment": {"A": "b"}, "parallel": "ddp"}
    shape = botocore.session.Session().get_service_model("sagemaker").operation_model("CreateTrainingJob").input_shape
    report = ParamValidator().validate(body(asked, place), shape)
    assert not report.has_errors(), report.generate_report()
