"""SageMaker training jobs, as their API reference and developer guide describe them.

Sources: [A] API reference of the operation; [G] developer guide, chapter named; [T] the sagemaker-training toolkit.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from tests.localcloud.conftest import TrainingDesk, eventually, training_refused

if TYPE_CHECKING:
    from orchestrator.localcloud import LocalCloud

MPI = {"sagemaker_mpi_enabled": "true", "sagemaker_mpi_num_of_processes_per_host": "2"}
STOPPABLE = """
import os, signal, sys, time
def stop(*_):
    open(os.environ["SM_MODEL_DIR"] + "/half.txt", "w").write("half")
    sys.exit(0)
signal.signal(signal.SIGTERM, stop)
print("ready")
time.sleep(600)
"""
STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready")
time.sleep(600)
"""


# What a training finds


def test_a_training_finds_its_data_and_leaves_a_model(sagemaker: TrainingDesk) -> None:
    """[G] How Amazon SageMaker provides training information, and processes training output."""
    training = sagemaker.run(
        """
import os
text = open(os.environ["SM_CHANNEL_TRAINING"] + "/part/x.txt").read()
open(os.environ["SM_MODEL_DIR"] + "/model.txt", "w").write("learned " + text)
open(os.environ["SM_OUTPUT_DATA_DIR"] + "/notes.txt", "w").write("noted")
"""
    )
    assert (training["TrainingJobStatus"], training["SecondaryStatus"]) == ("Completed", "Completed")
    artifact = training["ModelArtifacts"]["S3ModelArtifacts"]
    key = f"out/{sagemaker.name}/output/model.tar.gz"
    assert artifact == f"s3://{sagemaker.bucket}/{sagemaker.name}/{key}"
    assert sagemaker.files_in(key) == {"model.txt": b"learned seven"}
    assert sagemaker.files_in(key.replace("model.tar", "output.tar")) == {"notes.txt": b"noted"}


def test_a_model_may_be_left_as_files(sagemaker: TrainingDesk) -> None:
    """[A] OutputDataConfig, CompressionType."""
    training = sagemaker.run(
        """
import os, pathlib
folder = pathlib.Path(os.environ["SM_MODEL_DIR"], "parts")
folder.mkdir()
(folder / "a.txt").write_text("learned")
""",
        OutputDataConfig={"S3OutputPath": f"s3://{sagemaker.bucket}/{sagemaker.name}/out", "CompressionType": "NONE"},
    )
    artifact = training["ModelArtifacts"]["S3ModelArtifacts"]
    key = f"out/{sagemaker.name}/output/model/"
    assert artifact == f"s3://{sagemaker.bucket}/{sagemaker.name}/{key}"
    assert sagemaker.stored(f"{key}parts/a.txt") == b"learned"


def test_hyperparameters_are_sorted_arguments_and_variables(sagemaker: TrainingDesk) -> None:
    """[T] Values are JSON where they can be; the toolkit's own are not shown."""
    hyperparameters = {"lr": "0.1", "name": '"a b"', "n": "3", "flag": "true", "plain": "adam"}
    sagemaker.run(
        "import json, os, sys\nprint(json.dumps([sys.argv[1:], os.environ['SM_HPS'], os.environ['SM_HP_LR']]))",
        hyperparameters=hyperparameters,
    )
    arguments, values, rate = json.loads(sagemaker.log()[-1])
    assert arguments == ["--flag", "True", "--lr", "0.1", "-n", "3", "--name", "a b", "--plain", "adam"]
    assert json.loads(values) == {"lr": 0.1, "name": "a b", "n": 3, "flag": True, "plain": "adam"}
    assert rate == "0.1"


def test_paths_under_opt_ml_lead_to_the_trainings_own_folder(sagemaker: TrainingDesk) -> None:
    training = sagemaker.run(
        "import os, sys\nassert os.path.isdir(sys.argv[2])\nassert os.path.isdir(os.environ['WHERE'])",
        hyperparameters={"model_dir": '"/opt/ml/model"'},
        Environment={"WHERE": "/opt/ml/checkpoints"},
    )
    assert training["TrainingJobStatus"] == "Completed"
    assert training["Environment"] == {"WHERE": "/opt/ml/checkpoints"}


def test_every_host_of_a_training_is_a_process_of_its_own(sagemaker: TrainingDesk) -> None:
    """[G] Distributed training: hosts and the current host; every host's model is in the one archive."""
    config = {"InstanceType": "ml.c5.xlarge", "InstanceCount": 2, "VolumeSizeInGB": 10}
    sagemaker.run(
        """
import os
host = os.environ["SM_CURRENT_HOST"]
print("I am", host, "of", os.environ["SM_HOSTS"])
open(os.environ["SM_MODEL_DIR"] + "/" + host, "w").write(host)
""",
        ResourceConfig=config,
    )
    for host in ("algo-1", "algo-2"):
        assert sagemaker.log(host)[-1] == f'I am {host} of ["algo-1","algo-2"]'
    assert set(sagemaker.files_in(f"out/{sagemaker.name}/output/model.tar.gz")) == {"algo-1", "algo-2"}


@pytest.mark.parametrize("instances", [1, 2])
def test_mpi_starts_the_ranks_of_all_hosts(sagemaker: TrainingDesk, instances: int) -> None:
    """[T] sagemaker_mpi_enabled."""
    training = sagemaker.run(
        """
from mpi4py import MPI
total = MPI.COMM_WORLD.allreduce(MPI.COMM_WORLD.rank)
print(f"rank={MPI.COMM_WORLD.rank} total={total};")
""",
        hyperparameters=MPI,
        ResourceConfig={"InstanceType": "ml.c5.xlarge", "InstanceCount": instances, "VolumeSizeInGB": 10},
    )
    assert training["TrainingJobStatus"] == "Completed"
    ranks = [line.partition("rank=")[2] for line in sagemaker.log() if "rank=" in line]
    count = 2 * instances
    total = sum(range(count))
    assert sorted(ranks) == [f"{rank} total={total};" for rank in range(count)]


def test_a_container_with_its_own_entrypoint_runs_that(sagemaker: TrainingDesk) -> None:
    """[A] AlgorithmSpecification, ContainerEntrypoint and ContainerArguments."""
    algorithm = {
        "TrainingImage": "image",
        "TrainingInputMode": "File",
        "ContainerEntrypoint": ["/bin/sh", "-c"],
        "ContainerArguments": ["cat /opt/ml/input/data/training/part/x.txt > /opt/ml/model/copy"],
    }
    assert sagemaker.run("", AlgorithmSpecification=algorithm)["TrainingJobStatus"] == "Completed"
    assert sagemaker.files_in(f"out/{sagemaker.name}/output/model.tar.gz") == {"copy": b"seven"}


def test_checkpoints_come_from_s3_and_go_there(sagemaker: TrainingDesk) -> None:
    """[G] Checkpoints."""
    sagemaker.s3.put_object(Bucket=sagemaker.bucket, Key=f"{sagemaker.name}/ck/step", Body=b"7")
    sagemaker.run(
        """
import os
file = os.environ["CK"] + "/step"
step = int(open(file).read())
open(file, "w").write(str(step + 1))
""",
        Environment={"CK": "/opt/ml/checkpoints"},
        CheckpointConfig={"S3Uri": f"s3://{sagemaker.bucket}/{sagemaker.name}/ck"},
    )
    assert sagemaker.stored("ck/step") == b"8"


# What is shown of it


def test_a_training_passes_through_its_secondary_statuses(sagemaker: TrainingDesk) -> None:
    """[A] DescribeTrainingJob, SecondaryStatusTransitions."""
    training = sagemaker.run("pass")
    passed = [each["Status"] for each in training["SecondaryStatusTransitions"]]
    assert passed == ["Starting", "Downloading", "Training", "Uploading", "Completed"]
    assert training["CreationTime"] <= training["TrainingStartTime"] <= training["TrainingEndTime"]
    assert training["BillableTimeInSeconds"] == training["TrainingTimeInSeconds"] > 0


def test_metrics_are_read_from_the_log(sagemaker: TrainingDesk) -> None:
    """[G] Define training metrics: the last value of each."""
    algorithm = {
        "TrainingImage": "image",
        "TrainingInputMode": "File",
        "MetricDefinitions": [{"Name": "loss", "Regex": "loss=([0-9.]+)"}, {"Name": "never", "Regex": "never=(.*)"}],
    }
    training = sagemaker.run("print('loss=0.5')\nprint('loss=0.25')", AlgorithmSpecification=algorithm)
    assert [(each["MetricName"], each["Value"]) for each in training["FinalMetricDataList"]] == [("loss", 0.25)]
    assert training["AlgorithmSpecification"] == algorithm


def test_managed_spot_bills_less_than_it_trains(sagemaker: TrainingDesk) -> None:
    """[A] DescribeTrainingJob, BillableTimeInSeconds."""
    stopping = {"MaxRuntimeInSeconds": 60, "MaxWaitTimeInSeconds": 120}
    training = sagemaker.run("pass", EnableManagedSpotTraining=True, StoppingCondition=stopping)
    assert 0 < training["BillableTimeInSeconds"] < training["TrainingTimeInSeconds"]


def test_a_script_that_raises_fails_the_training_with_its_error(sagemaker: TrainingDesk) -> None:
    """[A] DescribeTrainingJob, FailureReason; [T] the failure file."""
    training = sagemaker.run("raise ValueError('loss is nan at step 3')")
    assert (training["TrainingJobStatus"], training["SecondaryStatus"]) == ("Failed", "Failed")
    reason = training["FailureReason"]
    assert reason.startswith(
        "AlgorithmError: ExecuteUserScriptError:\nExitCode 1\nErrorMessage \"raise ValueError('loss is nan at step 3')"
    )
    assert reason.endswith(", exit code: 1")
    assert "ModelArtifacts" not in training


def test_a_failure_file_of_the_trainings_own_is_the_reason(sagemaker: TrainingDesk) -> None:
    training = sagemaker.run(
        "import os, sys\nopen(os.environ['SM_OUTPUT_DIR'] + '/failure', 'w').write('no data left')\nsys.exit(4)"
    )
    assert training["FailureReason"] == "AlgorithmError: no data left, exit code: 1"


def test_one_rank_that_raises_ends_all(sagemaker: TrainingDesk) -> None:
    training = sagemaker.run(
        "from mpi4py import MPI\nif MPI.COMM_WORLD.rank == 1: raise ValueError('sad')\nMPI.COMM_WORLD.Barrier()",
        hyperparameters=MPI,
    )
    assert training["TrainingJobStatus"] == "Failed"
    assert "ValueError: sad" in training["FailureReason"]


# Stopping


def test_stop_lets_a_training_save_what_it_has(sagemaker: TrainingDesk) -> None:
    """[A] StopTrainingJob: SIGTERM, then 120 seconds; the results are kept."""
    sagemaker.start(STOPPABLE)
    eventually(lambda: sagemaker.says("ready"))
    sagemaker.client.stop_training_job(TrainingJobName=sagemaker.name)
    training = sagemaker.end()
    assert (training["TrainingJobStatus"], training["SecondaryStatus"]) == ("Stopped", "Stopped")
    assert sagemaker.files_in(f"out/{sagemaker.name}/output/model.tar.gz") == {"half.txt": b"half"}
    with pytest.raises(ClientError, match="status Stopped"):
        sagemaker.client.stop_training_job(TrainingJobName=sagemaker.name)


def test_who_ignores_sigterm_is_killed_120_seconds_later(sagemaker: TrainingDesk, cloud: LocalCloud) -> None:
    sagemaker.start(STUBBORN)
    eventually(lambda: sagemaker.says("ready"))
    sagemaker.client.stop_training_job(TrainingJobName=sagemaker.name)
    cloud.advance(121)
    assert sagemaker.end()["TrainingJobStatus"] == "Stopped"


def test_a_training_that_outlives_its_max_runtime_is_stopped(sagemaker: TrainingDesk, cloud: LocalCloud) -> None:
    """[A] StoppingCondition: Stopped, not Failed."""
    sagemaker.start(STOPPABLE, StoppingCondition={"MaxRuntimeInSeconds": 3600})
    eventually(lambda: sagemaker.says("ready"))
    cloud.advance(3601)
    training = sagemaker.end()
    assert (training["TrainingJobStatus"], training["SecondaryStatus"]) == ("Stopped", "MaxRuntimeExceeded")
    assert training["TrainingTimeInSeconds"] >= 3600


# Names, lists, tags


def test_a_name_is_used_once(sagemaker: TrainingDesk) -> None:
    """The text is seen in github.com/aws/amazon-sagemaker-examples/pull/3108."""
    training = sagemaker.run("pass")
    code, message = training_refused(sagemaker)
    assert code == "ResourceInUse"
    assert message == (
        "Training job names must be unique within an AWS account and region, and a training job with this name already "
        f"exists ({training['TrainingJobArn']})"
    )


def test_deleting_a_training_frees_its_name(sagemaker: TrainingDesk) -> None:
    """[A] DeleteTrainingJob."""
    sagemaker.run("pass")
    sagemaker.client.delete_training_job(TrainingJobName=sagemaker.name)
    assert sagemaker.run("pass")["TrainingJobStatus"] == "Completed"


def test_an_unknown_training_is_not_found(sagemaker: TrainingDesk) -> None:
    with pytest.raises(ClientError) as caught:
        sagemaker.training()
    error = caught.value.response["Error"]
    assert (error["Code"], error["Message"]) == ("ValidationException", "Requested resource not found.")


def test_list_filters_after_paging(sagemaker: TrainingDesk) -> None:
    """[A] ListTrainingJobs, StatusEquals: a page may be empty and still have a successor."""
    sagemaker.run("pass")
    page = sagemaker.client.list_training_jobs(NameContains=sagemaker.name, StatusEquals="Failed")
    assert page["TrainingJobSummaries"] == []
    page = sagemaker.client.list_training_jobs(NameContains=sagemaker.name)
    assert [each["TrainingJobName"] for each in page["TrainingJobSummaries"]] == [sagemaker.name]


def test_search_answers_with_whole_trainings(sagemaker: TrainingDesk) -> None:
    """[A] Search, of TrainingJob: by its status, with its instances."""
    limits = {"MaxRuntimeInSeconds": 60, "MaxWaitTimeInSeconds": 120}
    sagemaker.run("pass", EnableManagedSpotTraining=True, StoppingCondition=limits)

    def found(status: str) -> list[dict[str, Any]]:
        wanted = {"TrainingJobName": sagemaker.name, "TrainingJobStatus": status}
        filters = [{"Name": name, "Operator": "Equals", "Value": value} for name, value in wanted.items()]
        pages = sagemaker.client.get_paginator("search")
        asked = {"Resource": "TrainingJob", "SearchExpression": {"Filters": filters}}
        return [each["TrainingJob"] for page in pages.paginate(**asked) for each in page["Results"]]

    (training,) = eventually(lambda: found("Completed"))
    resources = training["ResourceConfig"]
    assert (resources["InstanceType"], resources["InstanceCount"]) == ("ml.c5.xlarge", 1)
    assert training["EnableManagedSpotTraining"] is True
    assert found("InProgress") == []


def test_tags_are_kept_with_the_training(sagemaker: TrainingDesk) -> None:
    training = sagemaker.run("pass", Tags=[{"Key": "run", "Value": "nightly"}])
    arn = training["TrainingJobArn"]
    sagemaker.client.add_tags(ResourceArn=arn, Tags=[{"Key": "owner", "Value": "ada"}])
    sagemaker.client.delete_tags(ResourceArn=arn, TagKeys=["run"])
    assert sagemaker.client.list_tags(ResourceArn=arn)["Tags"] == [{"Key": "owner", "Value": "ada"}]


def test_an_image_of_another_region_is_refused(sagemaker: TrainingDesk) -> None:
    """github.com/aws-samples/mlops-amazon-sagemaker/issues/9 has AWS's words."""
    image = "123456789012.dkr.ecr.eu-west-1.amazonaws.com/own:1"
    algorithm = {"TrainingImage": image, "TrainingInputMode": "File"}
    code, message = training_refused(sagemaker, AlgorithmSpecification=algorithm)
    assert code == "ValidationException"
    assert message.startswith("Invalid DNS suffix 'amazonaws.com' for region 'eu-west-1' in training image.")
