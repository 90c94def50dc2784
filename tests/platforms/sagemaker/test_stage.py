from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from orchestrator.errors import SettingsError, SpecError, UsageError
from orchestrator.wire.template import Template
from tests.platforms.sweeps import ROLE, sweep, template

FRAMEWORK = {"image": None, "framework": {"name": "pytorch", "version": "2.8.0", "python": "py312"}}


def made(train: dict[str, Any] | None = None, types: tuple[str, ...] = ("ml.g5.xlarge",), role: str = ROLE) -> Template:
    return template(sweep(train, {"instance_types": list(types)}), role=role)


@pytest.fixture
def sdk(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Put small image tables in the place of the SageMaker SDK's, and return the calls made to them."""
    asked: list[dict[str, Any]] = []

    def retrieve(**question: Any) -> str:
        asked.append(question)
        if question["version"] == "9.9.9":
            raise ValueError("Unsupported pytorch version: 9.9.9.\nSupported: 2.8.0")
        chip = "gpu" if question["instance_type"].startswith("ml.g") else "cpu"
        return f"763104351884.dkr.ecr.{question['region']}.amazonaws.com/pytorch-training:{question['version']}-{chip}"

    uris = ModuleType("sagemaker.core.image_uris")
    uris.retrieve = retrieve  # type: ignore[attr-defined]
    core = ModuleType("sagemaker.core")
    core.image_uris = uris  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sagemaker", ModuleType("sagemaker"))
    monkeypatch.setitem(sys.modules, "sagemaker.core", core)
    return asked


def test_a_template_survives_its_way_through_s3() -> None:
    assert Template.from_json(made({"checkpoints": {}}).to_json()) == made({"checkpoints": {}})


def test_everything_lies_in_the_region_that_uses_it() -> None:
    shared = made({"image": "{account}.dkr.ecr.{region}.amazonaws.com/train:1"})
    assert shared.output == "s3://team-eu-west-1/runs/nightly"
    assert shared.body["hyperparameters"]["sagemaker_submit_directory"] == (
        '"s3://team-eu-west-1/sources/abc/sourcedir.tar.gz"'
    )
    assert shared.body["request"]["AlgorithmSpecification"]["TrainingImage"] == (
        "123456789012.dkr.ecr.eu-west-1.amazonaws.com/train:1"
    )
    assert (shared.owner, shared.poll_s, shared.checkpoints) == ("ada", 5, False)


def test_the_account_is_read_from_the_role() -> None:
    with pytest.raises(SettingsError, match="role: not a role's ARN: 'training'"):
        made({"image": "{account}.dkr/x"}, role="training")
    assert made({"image": "plain"}, role=ROLE)


def test_trainings_without_a_role_are_refused_with_what_to_write() -> None:
    with pytest.raises(SettingsError, match="role is not set") as caught:
        made(role="")
    assert caught.value.hint == 'export SWEEP_ROLE, or write `role = "…"` in sweep.toml'


def test_awss_own_image_is_looked_up_for_each_type_of_instance(sdk: list[dict[str, Any]]) -> None:
    shared = made(FRAMEWORK, ("ml.g5.xlarge", "ml.g5.2xlarge", "ml.c5.xlarge"))
    image = "763104351884.dkr.ecr.eu-west-1.amazonaws.com/pytorch-training:2.8.0"
    assert shared.body["request"]["AlgorithmSpecification"]["TrainingImage"] == f"{image}-gpu"
    assert shared.body["images"] == {"ml.c5.xlarge": f"{image}-cpu"}
    assert sdk[0] == {
        "framework": "pytorch",
        "region": "eu-west-1",
        "version": "2.8.0",
        "py_version": "py312",
        "instance_type": "ml.g5.xlarge",
        "image_scope": "training",
    }


def test_a_hugging_face_image_is_looked_up_with_what_it_is_built_on(sdk: list[dict[str, Any]]) -> None:
    framework = {"name": "huggingface", "version": "4.56.2", "base": "pytorch2.8.0"}
    shared = made({"image": None, "framework": framework})
    assert (sdk[0]["framework"], sdk[0]["base_framework_version"]) == ("huggingface", "pytorch2.8.0")
    assert shared.body["request"]["AlgorithmSpecification"]["EnableSageMakerMetricsTimeSeries"] is True


def test_a_built_version_is_looked_up_as_it_is_written(sdk: list[dict[str, Any]]) -> None:
    shared = made({"image": None, "framework": {"name": "xgboost", "version": "1.7-1"}})
    assert (sdk[0]["framework"], sdk[0]["version"]) == ("xgboost", "1.7-1")
    assert "EnableSageMakerMetricsTimeSeries" not in shared.body["request"]["AlgorithmSpecification"]


def test_no_image_is_looked_up_for_another_platforms_types(sdk: list[dict[str, Any]]) -> None:
    made(FRAMEWORK, ("g5.xlarge", "ml.g5.xlarge"))
    assert [asked["instance_type"] for asked in sdk] == ["ml.g5.xlarge"]
    with pytest.raises(SpecError, match=r"where.instance_types: none of these is SageMaker's"):
        made(FRAMEWORK, ("g5.xlarge",))


def test_a_framework_version_aws_has_not_is_one_clear_line(sdk: list[dict[str, Any]]) -> None:
    unknown = FRAMEWORK | {"framework": {"name": "pytorch", "version": "9.9.9"}}
    with pytest.raises(SpecError, match=r"train.framework: no image for ml.g5.xlarge in eu-west-1: .*: 2.8.0$"):
        made(unknown)
    assert sdk[0]["py_version"] is None


def test_a_missing_sdk_is_one_clear_line_that_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sagemaker.core", None)
    with pytest.raises(UsageError, match=r"pip install 'sweep-orchestrator\[sagemaker\]'"):
        made(FRAMEWORK)


def test_tensorflow_is_told_where_its_model_goes(sdk: list[dict[str, Any]]) -> None:
    framework = {"name": "tensorflow", "version": "2.19.0"}
    shared = made({"image": None, "framework": framework})
    assert shared.body["hyperparameters"]["model_dir"] == '"/opt/ml/model"'
    assert "model_dir" not in made().body["hyperparameters"]
    own = made({"image": None, "framework": framework, "hyperparameters": {"model_dir": "/tmp/m"}})
    assert own.body["hyperparameters"]["model_dir"] == '"/tmp/m"'
    image = "763104351884.dkr.ecr.{region}.amazonaws.com/tensorflow-training:2.19.0-gpu-py312"
    assert made({"image": image}).body["hyperparameters"]["model_dir"] == '"/opt/ml/model"'
    assert sdk[0]["framework"] == "tensorflow"


@pytest.mark.parametrize(
    ("name", "version", "sent"),
    [
        ("pytorch", "2.8.0", True),
        ("pytorch", "1.2.0", False),
        ("tensorflow", "1.15.0", True),
        ("tensorflow", "1.14.0", False),
    ],
)
def test_metrics_over_time_are_asked_for_where_the_sdk_asks(
    sdk: list[dict[str, Any]], name: str, version: str, sent: bool
) -> None:
    shared = made({"image": None, "framework": {"name": name, "version": version}})
    assert ("EnableSageMakerMetricsTimeSeries" in shared.body["request"]["AlgorithmSpecification"]) is sent
    assert sdk
