"""SageMaker trainings that AWS takes instances from, or never gives any.

Sources: [A] API reference of the operation; [G] developer guide, chapter named.
"""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from orchestrator.localcloud import LocalCloudError
from tests.localcloud.conftest import TrainingDesk, eventually, wheel

if TYPE_CHECKING:
    from orchestrator.localcloud import LocalCloud

SPOT = {
    "EnableManagedSpotTraining": True,
    "StoppingCondition": {"MaxRuntimeInSeconds": 600, "MaxWaitTimeInSeconds": 1200},
}
COUNTS = """
import os, time
folder = os.environ["CK"]
step = int(open(folder + "/step").read()) if os.path.exists(folder + "/step") else 0
print(f"begins at {step}", flush=True)
if step == 0:
    open(folder + "/step.new", "w").write("7")
    os.replace(folder + "/step.new", folder + "/step")
    time.sleep(600)
print(f"loss={1 / step};", flush=True)
"""


def with_checkpoints(sagemaker: TrainingDesk) -> dict[str, Any]:
    return {
        "Environment": {"CK": "/opt/ml/checkpoints"},
        "CheckpointConfig": {"S3Uri": f"s3://{sagemaker.bucket}/{sagemaker.name}/ck"},
    }


def has_saved(sagemaker: TrainingDesk) -> bool:
    listed = sagemaker.s3.list_objects_v2(Bucket=sagemaker.bucket, Prefix=f"{sagemaker.name}/ck/")
    return any(each["Key"].endswith("/step") for each in listed.get("Contents", []))


def passed(training: dict[str, Any]) -> list[str]:
    return [each["Status"] for each in training["SecondaryStatusTransitions"]]


# Spot


def test_an_interrupted_training_goes_on_from_its_checkpoint(sagemaker: TrainingDesk, cloud: LocalCloud) -> None:
    """[G] Managed spot training: checkpoints go to S3 all along, and are copied back when the job restarts."""
    sagemaker.start(COUNTS, **SPOT, **with_checkpoints(sagemaker))
    eventually(lambda: has_saved(sagemaker))
    cloud.steering.add("reclaim", sagemaker.name)
    training = sagemaker.end()
    assert training["TrainingJobStatus"] == "Completed"
    interrupted = ["Starting", "Downloading", "Training", "Interrupted", "Restarting"]
    assert passed(training) == [*interrupted, "Downloading", "Training", "Uploading", "Completed"]
    assert sagemaker.stored("ck/step") == b"7"
    assert training["BillableTimeInSeconds"] < training["TrainingTimeInSeconds"]


def test_an_interruption_without_checkpoints_starts_anew(sagemaker: TrainingDesk, cloud: LocalCloud) -> None:
    script = COUNTS.replace("time.sleep(600)", "step = 1; time.sleep(5)")
    sagemaker.start(script, **SPOT, Environment={"CK": "/opt/ml/checkpoints"})
    eventually(lambda: sagemaker.says("begins at 0"))
    cloud.steering.add("reclaim", sagemaker.name)
    eventually(lambda: "Restarting" in passed(sagemaker.training()))
    eventually(lambda: passed(sagemaker.training())[-1] == "Training")
    sagemaker.client.stop_training_job(TrainingJobName=sagemaker.name)
    assert sagemaker.end()["TrainingJobStatus"] == "Stopped"


def test_on_demand_instances_are_not_reclaimed(sagemaker: TrainingDesk, cloud: LocalCloud) -> None:
    sagemaker.start("import time; time.sleep(600)")
    eventually(lambda: sagemaker.training()["SecondaryStatus"] == "Training")
    with pytest.raises(LocalCloudError, match="not spot"):
        cloud.steering.add("reclaim", sagemaker.name)
    sagemaker.client.stop_training_job(TrainingJobName=sagemaker.name)
    sagemaker.end()


def test_spot_waits_for_capacity_up_to_its_max_wait(sagemaker: TrainingDesk, cloud: LocalCloud) -> None:
    """[A] StoppingCondition, MaxWaitTimeInSeconds: waiting and running together; SageMaker ends the job then."""
    with cloud.fault("capacity", region="us-east-1", instance_type="ml.c5.xlarge", purchase="spot", seconds=90_000):
        sagemaker.start("pass", **SPOT)
        training = sagemaker.training()
        assert (training["TrainingJobStatus"], training["SecondaryStatus"]) == ("InProgress", "Starting")
        assert "Insufficient capacity" in training["SecondaryStatusTransitions"][-1]["StatusMessage"]
        cloud.advance(1201)
        training = sagemaker.end()
    assert (training["TrainingJobStatus"], training["SecondaryStatus"]) == ("Stopped", "MaxWaitTimeExceeded")
    assert "TrainingStartTime" not in training


def test_spot_runs_when_capacity_comes_back(sagemaker: TrainingDesk, cloud: LocalCloud) -> None:
    with cloud.fault("capacity", region="us-east-1", seconds=90_000):
        sagemaker.start("pass", **SPOT)
        assert sagemaker.training()["SecondaryStatus"] == "Starting"
    assert sagemaker.end()["TrainingJobStatus"] == "Completed"


# Capacity and quotas


def test_on_demand_without_capacity_fails_after_it_was_accepted(sagemaker: TrainingDesk, cloud: LocalCloud) -> None:
    """[A] DescribeTrainingJob, FailureReason: CapacityError."""
    with cloud.fault("capacity", region="us-east-1", seconds=600):
        training = sagemaker.run("pass")
    assert training["TrainingJobStatus"] == "Failed"
    assert training["FailureReason"].startswith("CapacityError: Unable to provision requested ML compute capacity.")
    assert "TrainingTimeInSeconds" not in training


def test_accelerated_instances_are_pending_for_as_long_as_allowed(sagemaker: TrainingDesk, cloud: LocalCloud) -> None:
    """[A] StoppingCondition, MaxPendingTimeInSeconds: only for ml.p, ml.g and ml.trn; the job is stopped then."""
    patient = {"MaxRuntimeInSeconds": 600, "MaxPendingTimeInSeconds": 1800}
    config = {"InstanceType": "ml.g5.xlarge", "InstanceCount": 1, "VolumeSizeInGB": 10}
    with cloud.fault("capacity", region="us-east-1", seconds=90_000):
        sagemaker.start("pass", StoppingCondition=patient, ResourceConfig=config)
        assert sagemaker.training()["SecondaryStatus"] == "Pending"
        cloud.advance(1801)
        training = sagemaker.end()
    assert training["TrainingJobStatus"] == "Stopped"
    assert "pending" in training["SecondaryStatusTransitions"][-1]["StatusMessage"]


def test_a_quota_is_of_one_type_and_purchase_in_one_region(sagemaker: TrainingDesk, cloud: LocalCloud) -> None:
    """[A] CreateTrainingJob, ResourceLimitExceeded; the text is seen in
    github.com/data-science-on-aws/data-science-on-aws/issues/200 and many others."""
    lowered = {"region": "us-east-1", "instance_type": "ml.c5.xlarge", "purchase": "on_demand", "value": 1}
    with cloud.fault("quota", **lowered):
        sagemaker.start("import time; time.sleep(600)")
        request = sagemaker.request("pass", TrainingJobName=f"{sagemaker.name}-2")
        with pytest.raises(ClientError) as caught:
            sagemaker.create(**request)
        error = caught.value.response["Error"]
        assert error["Code"] == "ResourceLimitExceeded"
        assert error["Message"].startswith(
            "The account-level service limit 'ml.c5.xlarge for training job usage' is 1 Instances, with current "
            "utilization of 1 Instances and a request delta of 1 Instances."
        )
        sagemaker.create(**{**request, **SPOT})
        sagemaker.client.stop_training_job(TrainingJobName=sagemaker.name)
        sagemaker.end()
        sagemaker.create(**{**request, "TrainingJobName": f"{sagemaker.name}-3"})


# Failures that are not the training's


def test_a_retry_strategy_starts_again_after_an_internal_error(sagemaker: TrainingDesk, cloud: LocalCloud) -> None:
    """[A] CreateTrainingJob, RetryStrategy: only for InternalServerError; the status goes back to Starting."""
    sagemaker.start(COUNTS, RetryStrategy={"MaximumRetryAttempts": 1}, **with_checkpoints(sagemaker))
    eventually(lambda: has_saved(sagemaker))
    cloud.steering.add("crash", sagemaker.name)
    training = sagemaker.end()
    assert training["TrainingJobStatus"] == "Completed"
    assert passed(training)[:5] == ["Starting", "Downloading", "Training", "Starting", "Downloading"]
    assert training["RetryStrategy"] == {"MaximumRetryAttempts": 1}


def test_an_internal_error_after_all_retries_is_the_end(sagemaker: TrainingDesk, cloud: LocalCloud) -> None:
    sagemaker.start("import time; time.sleep(600)", RetryStrategy={"MaximumRetryAttempts": 1})
    for run in (1, 2):
        eventually(lambda run=run: passed(sagemaker.training()).count("Training") == run)
        cloud.steering.add("crash", sagemaker.name)
    training = sagemaker.end()
    assert training["TrainingJobStatus"] == "Failed"
    assert training["FailureReason"] == "InternalServerError: We encountered an internal error. Please try again."


def test_a_killed_training_fails_as_one_that_took_too_much_memory(sagemaker: TrainingDesk, cloud: LocalCloud) -> None:
    """The toolkit writes ExitCode -9 for a script that signal 9 has ended. For MPI's ranks `mpirun` says 137."""
    sagemaker.start("print('ready', flush=True)\nimport time; time.sleep(600)")
    eventually(lambda: sagemaker.says("ready"))
    cloud.steering.add("kill", sagemaker.name)
    training = sagemaker.end()
    assert training["TrainingJobStatus"] == "Failed"
    assert training["FailureReason"].startswith("AlgorithmError: ExecuteUserScriptError:\nExitCode -9\n")


def test_the_longest_runtime_is_28_days(sagemaker: TrainingDesk) -> None:
    """[A] StoppingCondition, MaxRuntimeInSeconds."""
    with pytest.raises(ClientError, match="MaxRuntimeInSeconds"):
        sagemaker.start("pass", StoppingCondition={"MaxRuntimeInSeconds": 28 * 86_400 + 1})


# What the code requires


def test_requirements_are_installed_before_the_training_and_for_it_alone(sagemaker: TrainingDesk) -> None:
    """sagemaker-training toolkit: requirements.txt beside the entry point. What this Python has stays as it is."""
    files: dict[str, str | bytes] = {
        "train.py": "import tiny_required\nprint(tiny_required.WORD)",
        "requirements.txt": "numpy\n./tiny_required-1.0-py3-none-any.whl",
        "tiny_required-1.0-py3-none-any.whl": wheel("tiny_required", "WORD = 'required and had'"),
    }
    assert sagemaker.run(files)["TrainingJobStatus"] == "Completed"
    assert sagemaker.log()[-1] == "required and had"
    assert importlib.util.find_spec("tiny_required") is None


def test_requirements_that_cannot_be_had_fail_the_training(sagemaker: TrainingDesk) -> None:
    """sagemaker-training toolkit, InstallRequirementsError."""
    training = sagemaker.run({"train.py": "pass", "requirements.txt": "./no-such-folder"})
    assert training["TrainingJobStatus"] == "Failed"
    assert training["FailureReason"].startswith("AlgorithmError: InstallRequirementsError:\nExitCode 1")
    assert training["FailureReason"].endswith("exit code: 1")


# PyTorch

REDUCES = """
import gc, sys, torch, torch.distributed as dist
dist.init_process_group("gloo")
total = torch.tensor([float(dist.get_rank())])
dist.all_reduce(total)
# In one write, that the other rank's line does not come between this one and its end.
sys.stdout.write(f"rank {dist.get_rank()} of {dist.get_world_size()} total={total.item()};\\n")
sys.stdout.flush()
del total
gc.collect()
dist.barrier()
dist.destroy_process_group()
"""


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed: `make torch` does it")
@pytest.mark.parametrize(("instances", "processes"), [pytest.param(1, 2, marks=pytest.mark.long), (2, 1)])
def test_torchrun_starts_the_ranks_of_all_hosts(sagemaker: TrainingDesk, instances: int, processes: int) -> None:
    """sagemaker-training toolkit: sagemaker_torch_distributed_enabled."""
    config = {"InstanceType": "ml.c5.xlarge", "InstanceCount": instances, "VolumeSizeInGB": 10}
    asked = {
        "sagemaker_torch_distributed_enabled": "true",
        "sagemaker_mpi_num_of_processes_per_host": str(processes),
    }
    training = sagemaker.run(REDUCES, hyperparameters=asked, ResourceConfig=config)
    assert training["TrainingJobStatus"] == "Completed", training.get("FailureReason")
    hosts = [f"algo-{number + 1}" for number in range(instances)]
    lines = [line for host in hosts for line in sagemaker.log(host) if "total=" in line]
    assert sorted(lines) == ["rank 0 of 2 total=1.0;", "rank 1 of 2 total=1.0;"]
