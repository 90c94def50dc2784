"""What other people's clients ask of AWS beside what we do: it is answered as AWS would, or refused clearly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.localcloud.conftest import BatchDesk, TrainingDesk

ROLE = "arn:aws:iam::123456789012:role/sweep-training"


def error_of(call: Callable[..., Any], **arguments: Any) -> tuple[str, str]:
    with pytest.raises(ClientError) as caught:
        call(**arguments)
    return caught.value.response["Error"]["Code"], caught.value.response["Error"]["Message"]


def test_iam_s_simulator_allows_all_actions_on_all_resources(client: Callable[..., Any]) -> None:
    """The SageMaker SDK's ModelTrainer asks it whether a role may be used."""
    iam = client("iam")
    actions = ["s3:GetObject", "ecr:BatchGetImage"]
    answer = iam.simulate_principal_policy(PolicySourceArn=ROLE, ActionNames=actions, ResourceArns=["arn:a", "arn:b"])
    told = [
        (each["EvalActionName"], each["EvalResourceName"], each["EvalDecision"]) for each in answer["EvaluationResults"]
    ]
    assert told == [(action, resource, "allowed") for action in actions for resource in ("arn:a", "arn:b")]
    assert answer["IsTruncated"] is False
    alone = iam.simulate_principal_policy(PolicySourceArn=ROLE, ActionNames=["s3:GetObject"])
    assert [each["EvalResourceName"] for each in alone["EvaluationResults"]] == ["*"]


def test_a_tuning_job_is_refused_and_not_pretended(sagemaker: TrainingDesk) -> None:
    code, message = error_of(
        sagemaker.client.create_hyper_parameter_tuning_job,
        HyperParameterTuningJobName=sagemaker.name,
        HyperParameterTuningJobConfig={
            "Strategy": "Random",
            "ResourceLimits": {"MaxNumberOfTrainingJobs": 2, "MaxParallelTrainingJobs": 1},
        },
    )
    assert code == "UnsupportedOperation"
    assert message == f"the local cloud runs no hyperparameter tuning jobs, such as {sagemaker.name}"


def test_a_multi_node_definition_is_kept_and_its_jobs_are_refused(batch: BatchDesk) -> None:
    """TorchX registers one for every job of its AWS Batch scheduler."""
    container = {"image": "any", "command": ["true"], "vcpus": 1, "memory": 512}
    nodes = {
        "numNodes": 2,
        "mainNode": 0,
        "nodeRangeProperties": [{"targetNodes": "0:1", "container": container}],
    }
    made = batch.client.register_job_definition(jobDefinitionName=batch.name, type="multinode", nodeProperties=nodes)
    kept = batch.client.describe_job_definitions(jobDefinitions=[made["jobDefinitionArn"]])["jobDefinitions"][0]
    assert (kept["type"], kept["nodeProperties"]["numNodes"]) == ("multinode", 2)
    code, message = error_of(
        batch.client.submit_job, jobName=batch.name, jobQueue=batch.queue, jobDefinition=batch.name
    )
    assert code == "UnsupportedOperation"
    assert message == f"the local cloud runs no multi-node jobs, such as those of {batch.name}"


@pytest.mark.parametrize(
    ("more", "said"),
    [({"platformCapabilities": ["FARGATE"]}, "AWS_ECS_FARGATE"), ({"platformCapabilities": ["EC2"]}, "AWS_ECS_EC2")],
)
def test_a_job_knows_where_it_runs(batch: BatchDesk, more: dict[str, Any], said: str) -> None:
    """Metaflow's @batch looks at AWS_EXECUTION_ENV."""
    definition = batch.define(["sh", "-c", f'[ "$AWS_EXECUTION_ENV" = {said} ]'], **more)
    assert batch.end(batch.submit([], definition=definition))["status"] == "SUCCEEDED"
