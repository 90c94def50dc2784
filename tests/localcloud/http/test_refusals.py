"""What CreateTrainingJob refuses at once.

Source: [A] API reference of CreateTrainingJob, and of the type that a test names.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.localcloud.conftest import TrainingDesk, training_refused


@pytest.mark.parametrize("wrong", ["a_b", "-a", "a" * 64])
def test_a_name_has_letters_digits_and_hyphens(sagemaker: TrainingDesk, wrong: str) -> None:
    """[A] CreateTrainingJob, TrainingJobName."""
    code, message = training_refused(sagemaker, TrainingJobName=wrong)
    assert code == "ValidationException"
    assert f"Value '{wrong}' at 'trainingJobName' failed to satisfy constraint: Member must" in message


@pytest.mark.parametrize(
    ("hyperparameters", "text"),
    [
        ({f"h{n}": "1" for n in range(101)}, "Member must have length less than or equal to 100"),
        ({"h": "x" * 2501}, "Map value must satisfy constraint: [Member must have length less than or equal to 2500"),
        ({"k" * 257: "1"}, "Map keys must satisfy constraint: [Member must have length less than or equal to 256"),
    ],
)
def test_hyperparameters_have_limits(sagemaker: TrainingDesk, hyperparameters: dict[str, str], text: str) -> None:
    """[A] CreateTrainingJob, HyperParameters."""
    code, message = training_refused(sagemaker, HyperParameters=hyperparameters)
    assert code == "ValidationException"
    assert text in message


def channel(number: int) -> dict[str, Any]:
    source = {"S3DataType": "S3Prefix", "S3Uri": "s3://sweep-local-us-east-1/"}
    return {"ChannelName": f"c{number}", "DataSource": {"S3DataSource": source}}


@pytest.mark.parametrize(
    "wrong",
    [
        {"InputDataConfig": [channel(n) for n in range(21)]},
        {"Tags": [{"Key": f"k{n}", "Value": ""} for n in range(51)]},
        {"Tags": [{"Key": "k", "Value": "v" * 257}]},
        {"Environment": {"e": "x" * 513}},
        {"Environment": {"e" * 513: "x"}},
        {"RetryStrategy": {"MaximumRetryAttempts": 31}},
        {"StoppingCondition": {"MaxRuntimeInSeconds": 60, "MaxPendingTimeInSeconds": 2_419_201}},
        {"ResourceConfig": {"InstanceType": "ml.c5.xlarge", "InstanceCount": 0, "VolumeSizeInGB": 10}},
        {"VpcConfig": {"SecurityGroupIds": [f"sg-{n}" for n in range(6)], "Subnets": ["subnet-1"]}},
        {
            "AlgorithmSpecification": {
                "TrainingImage": "image",
                "TrainingInputMode": "File",
                "MetricDefinitions": [{"Name": f"m{n}", "Regex": "x"} for n in range(41)],
            }
        },
    ],
)
def test_what_is_too_much_is_training_refused(sagemaker: TrainingDesk, wrong: dict[str, Any]) -> None:
    """[A] CreateTrainingJob: the limits of each member."""
    code, message = training_refused(sagemaker, **wrong)
    assert code == "ValidationException"
    assert message.startswith("1 validation error detected: ")


def test_an_instance_type_must_exist(sagemaker: TrainingDesk) -> None:
    config = {"InstanceType": "ml.imaginary.xlarge", "InstanceCount": 1, "VolumeSizeInGB": 10}
    assert "enum value set" in training_refused(sagemaker, ResourceConfig=config)[1]


def test_spot_needs_a_time_to_wait(sagemaker: TrainingDesk) -> None:
    """[A] StoppingCondition, MaxWaitTimeInSeconds."""
    code, message = training_refused(sagemaker, EnableManagedSpotTraining=True)
    assert code == "ValidationException"
    assert "MaxWaitTimeInSeconds" in message


def test_input_must_lie_in_the_trainings_region(sagemaker: TrainingDesk) -> None:
    """[A] S3DataSource; the text is seen in github.com/aws/amazon-sagemaker-examples/issues/2267."""
    source = {"S3DataType": "S3Prefix", "S3Uri": "s3://sweep-local-eu-west-1/"}
    channels = [{"ChannelName": "training", "DataSource": {"S3DataSource": source}}]
    code, message = training_refused(sagemaker, InputDataConfig=channels)
    assert code == "ValidationException"
    assert message.startswith(
        'No S3 objects found under S3 URL "s3://sweep-local-eu-west-1/" given in input data source.'
    )
    assert "us-east-1" in message


def test_all_that_is_wrong_is_told_at_once(sagemaker: TrainingDesk) -> None:
    _, message = training_refused(sagemaker, TrainingJobName="a_b", Environment={f"e{n}": "1" for n in range(101)})
    assert message.startswith("2 validation errors detected: ")
