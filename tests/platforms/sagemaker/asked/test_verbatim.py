"""What is sent as it is: held against AWS's model, merged, and refused where it would change slots, money or names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import botocore.session
import pytest
from botocore.validate import ParamValidator

from orchestrator.errors import SpecError
from orchestrator.platforms.sagemaker.asked.verbatim import _REFUSED, check_request, merge
from orchestrator.platforms.sagemaker.planning import SageMakerPlanning
from orchestrator.platforms.sagemaker.request import make_request
from orchestrator.spec.reading.reader import read
from tests.platforms.sweeps import SPOT, TASK, sweep, template

if TYPE_CHECKING:
    from pathlib import Path

SHAPE = botocore.session.get_session().get_service_model("sagemaker").operation_model("CreateTrainingJob").input_shape
GOOD = {
    "DebugHookConfig": {
        "S3OutputPath": "s3://logs-{region}/{account}",
        "HookParameters": {"a": "1"},
        "CollectionConfigurations": [{"CollectionName": "losses"}],
    },
    "DebugRuleConfigurations": [{"RuleConfigurationName": "loss", "RuleEvaluatorImage": "x.dkr.ecr/{region}"}],
    "ProfilerConfig": {"DisableProfiler": True, "ProfilingIntervalInMilliseconds": 500},
    "MlflowConfig": {"MlflowResourceArn": "arn:aws:sagemaker:{region}:{account}:mlflow-tracking-server/team"},
    "AlgorithmSpecification": {"EnableSageMakerMetricsTimeSeries": True},
}


def asking(request: dict[str, Any]) -> Any:
    return sweep({"metrics": {"loss": "loss=(.*)"}}, platforms={"sagemaker": {"request": request}})


def test_it_is_merged_with_its_region_and_account_filled_in() -> None:
    assert list(SageMakerPlanning({}).check(asking(GOOD))) == []
    body = make_request(template(asking(GOOD)), TASK, SPOT, 1, 3000).body
    assert body["DebugHookConfig"]["S3OutputPath"] == "s3://logs-eu-west-1/123456789012"
    assert body["AlgorithmSpecification"]["EnableSageMakerMetricsTimeSeries"] is True
    assert body["AlgorithmSpecification"]["MetricDefinitions"] == [{"Name": "loss", "Regex": "loss=(.*)"}]
    report = ParamValidator().validate(body, SHAPE)
    assert not report.has_errors(), report.generate_report()


def test_mappings_are_merged_and_anything_else_is_replaced() -> None:
    assert merge({"a": {"b": 1, "c": [1]}, "d": 2}, {"a": {"c": [3]}, "e": 4}) == {
        "a": {"b": 1, "c": [3]},
        "d": 2,
        "e": 4,
    }


@pytest.mark.parametrize("path", _REFUSED)
def test_what_is_refused_is_there_in_aws_s_model(path: str) -> None:
    shape: Any = SHAPE
    for name in path.split("."):
        shape = shape.member if shape.type_name == "list" else shape
        shape = shape.members[name]


def test_what_changes_slots_money_or_names_is_refused_with_the_reason() -> None:
    for path, reason in _REFUSED.items():
        first, *rest = path.split(".")
        inner: Any = {rest[0]: "x"} if rest else "x"
        value = [{"RuleConfigurationName": "r", "RuleEvaluatorImage": "i", **inner}] if "Rule" in first else inner
        hints = [one.hint for one in check_request({first: value})]
        assert hints == [reason]


def test_nothing_that_we_send_ourselves_can_be_replaced() -> None:
    """All members that any of our requests has are refused, but for those that are merged below them."""
    ours = make_request(template(asking({})), TASK, SPOT, 1, 3000).body
    below = {path.partition(".")[0] for path in _REFUSED if "." in path}
    assert set(ours) - set(_REFUSED) <= below
    sent = {f"{name}.{key}" for name in below & set(ours) for key in ours[name]}
    assert sent <= set(_REFUSED)


FILE = """\
name: grid
train: {entry_point: train.py, source: code, image: me/train:1}
where: {instance_types: [ml.c5.xlarge]}
runtime: 0.5
platforms:
  sagemaker:
    request:
"""


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("ProfilerConfg: {}", "8:7: unknown key 'ProfilerConfg' (did you mean 'ProfilerConfig'?)"),
        ("ProfilerConfig: {DisableProfiler: 1}", "8:41: expected true or false, got 1"),
        ("ProfilerConfig: off", "8:23: expected a mapping, got 'off'"),
        ("TensorBoardOutputConfig: {LocalPath: /x}", "8:32: S3OutputPath is missing"),
        ("TensorBoardOutputConfig: {S3OutputPath: here}", "8:47: S3OutputPath: 'here' does not match (https|s3)"),
        ("ModelPackageConfig: {ModelPackageGroupArn: ''}", "8:50: ModelPackageGroupArn: '' does not match"),
        (
            "DebugRuleConfigurations: [{RuleConfigurationName: '', RuleEvaluatorImage: x}]",
            "8:57: RuleConfigurationName: 0 is less than 1",
        ),
        (
            "ResourceConfig: {KeepAlivePeriodInSeconds: 600}",
            "8:50: KeepAlivePeriodInSeconds cannot stand under",
        ),
        ("RetryStrategy: {MaximumRetryAttempts: 3}", "8:22: RetryStrategy cannot stand under request (write retries"),
    ],
)
def test_what_aws_would_not_take_is_told_with_its_place(tmp_path: Path, line: str, said: str) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "train.py").touch()
    file = tmp_path / "sweep.yaml"
    file.write_text(f"{FILE}      {line}\n")
    with pytest.raises(SpecError) as caught:
        read(file, SageMakerPlanning({}).check)
    assert str(caught.value).startswith(f"{file}:{said}")


def test_a_name_in_braces_that_is_nearly_one_of_ours_is_a_mistake() -> None:
    [complaint] = check_request({"DebugHookConfig": {"S3OutputPath": "s3://logs-{regoin}/x"}})
    assert complaint.message == "S3OutputPath: {regoin} has no meaning there; did you mean 'region'?"
    assert list(check_request({"DebugHookConfig": {"S3OutputPath": "s3://logs-{region}/{job}"}})) == []
