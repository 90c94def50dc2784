"""Networks, keys and isolation: kept, checked, and told by DescribeTrainingJob.

Sources: [A] API reference of the operation; [G] developer guide, chapter named.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.localcloud import account
from tests.localcloud.conftest import TrainingDesk, package, training_refused

if TYPE_CHECKING:
    from collections.abc import Callable

KEY = "arn:aws:kms:us-east-1:123456789012:key/mrk-1"
REACH_OUT = """
import os, urllib.request
print("mine", open("helper.txt").read())
for name in ("AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
    print(name, name in os.environ)
"""


@pytest.fixture
def network(client: Callable[..., Any]) -> dict[str, list[str]]:
    """A subnet and a security group of one VPC."""
    ec2 = client("ec2")
    subnet = ec2.describe_subnets()["Subnets"][0]
    of_vpc = [{"Name": "vpc-id", "Values": [subnet["VpcId"]]}]
    group = ec2.describe_security_groups(Filters=of_vpc)["SecurityGroups"][0]
    return {"Subnets": [subnet["SubnetId"]], "SecurityGroupIds": [group["GroupId"]]}


def code_channel(desk: TrainingDesk, script: str) -> dict[str, Any]:
    """Return the changes of a request whose code comes in a channel, as the SageMaker SDK sends it."""
    files = {"train.py": script, "helper.txt": "own"}
    desk.s3.put_object(Bucket=desk.bucket, Key=f"{desk.name}/own/sourcedir.tar.gz", Body=package(files))
    source = {"S3DataType": "S3Prefix", "S3Uri": f"s3://{desk.bucket}/{desk.name}/own/sourcedir.tar.gz"}
    submit = json.dumps("/opt/ml/input/data/code/sourcedir.tar.gz")
    return {
        "hyperparameters": {"sagemaker_submit_directory": submit},
        "InputDataConfig": [{"ChannelName": "code", "DataSource": {"S3DataSource": source}}],
        "EnableNetworkIsolation": True,
    }


def test_a_training_that_is_cut_off_has_its_code_from_a_channel(
    sagemaker: TrainingDesk, network: dict[str, list[str]]
) -> None:
    """[A] CreateTrainingJob, EnableNetworkIsolation; [G] Run Containers in Internet-Free Mode."""
    config = {"InstanceType": "ml.c5.xlarge", "InstanceCount": 1, "VolumeSizeInGB": 10, "VolumeKmsKeyId": KEY}
    training = sagemaker.run(
        REACH_OUT,
        **code_channel(sagemaker, REACH_OUT),
        VpcConfig=network,
        ResourceConfig=config,
        OutputDataConfig={"S3OutputPath": f"s3://{sagemaker.bucket}/{sagemaker.name}/out", "KmsKeyId": "alias/outputs"},
        EnableInterContainerTrafficEncryption=True,
    )
    assert training["TrainingJobStatus"] == "Completed", training.get("FailureReason")
    log = sagemaker.log()
    assert "mine own" in log
    assert {f"{name} False" for name in ("AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")} <= set(log)
    assert (training["VpcConfig"], training["ResourceConfig"]) == (network, config)
    assert training["OutputDataConfig"]["KmsKeyId"] == "alias/outputs"
    assert training["EnableNetworkIsolation"] is training["EnableInterContainerTrafficEncryption"] is True


def test_code_in_s3_is_out_of_reach_of_a_training_that_is_cut_off(sagemaker: TrainingDesk) -> None:
    training = sagemaker.run("print('never')", EnableNetworkIsolation=True)
    assert training["TrainingJobStatus"] == "Failed"
    assert "AlgorithmError" in training["FailureReason"]


def test_describe_always_tells_of_the_outputs_key(sagemaker: TrainingDesk) -> None:
    """Clients read it without asking whether it is there, as the SageMaker SDK's `attach` does."""
    assert sagemaker.run("pass")["OutputDataConfig"]["KmsKeyId"] == ""


@pytest.mark.parametrize("instance_type", ["ml.g4dn.xlarge", "ml.g5.xlarge", "ml.p4d.24xlarge", "ml.r5d.large"])
def test_local_disks_take_no_key(sagemaker: TrainingDesk, instance_type: str) -> None:
    """[A] ResourceConfig, VolumeKmsKeyId."""
    config = {"InstanceType": instance_type, "InstanceCount": 1, "VolumeSizeInGB": 10, "VolumeKmsKeyId": KEY}
    code, message = training_refused(sagemaker, ResourceConfig=config)
    assert code == "ValidationException"
    assert account.IS_REAL or f"VolumeKmsKeyId cannot be requested for {instance_type}" in message


@pytest.mark.parametrize("member", ["Subnets", "SecurityGroupIds"])
def test_a_network_must_be_there(sagemaker: TrainingDesk, network: dict[str, list[str]], member: str) -> None:
    """[A] VpcConfig."""
    name = {"Subnets": "subnet-0123456789abcdef0", "SecurityGroupIds": "sg-0123456789abcdef0"}[member]
    code, message = training_refused(sagemaker, VpcConfig=network | {member: [name]})
    assert code == "ValidationException"
    assert account.IS_REAL or f"ID '{name}' does not exist in us-east-1" in message
