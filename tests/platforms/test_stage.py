from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from orchestrator.errors import SettingsError, SpecError, UsageError
from orchestrator.platforms.sagemaker.stage import Site, make_template, stage
from orchestrator.platforms.source import Package
from orchestrator.wire.template import Template
from tests.platforms.sweeps import ROLE, SITE, sweep

FRAMEWORK = {"image": None, "framework": {"name": "pytorch", "version": "2.8.0", "python": "py312"}}


def made(
    train: dict[str, Any] | None = None, types: tuple[str, ...] = ("ml.g5.xlarge",), site: Site = SITE
) -> Template:
    return make_template(sweep(train, {"instance_types": list(types)}), "abc", "eu-west-1", "nightly", site)


class Uploads:
    region = "eu-west-1"

    def __init__(self) -> None:
        self.there: dict[str, bytes] = {}

    def put_once(self, key: str, body: bytes) -> bool:
        return self.there.setdefault(key, body) is body


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


def test_sources_are_uploaded_once_under_their_content() -> None:
    s3, package = Uploads(), Package("abc", b"archive", ("train.py",))
    one = stage(sweep(), package, "eu-west-1", "nightly", SITE, s3)  # type: ignore[arg-type]
    two = stage(sweep(), package, "eu-west-1", "nightly", SITE, s3)  # type: ignore[arg-type]
    assert s3.there == {"sources/abc/sourcedir.tar.gz": b"archive"}
    assert one == two == made()


def test_a_template_survives_its_way_through_s3() -> None:
    assert Template.from_json(made({"checkpoints": {}}).to_json()) == made({"checkpoints": {}})


def test_everything_lies_in_the_region_that_uses_it() -> None:
    shared = made({"image": "{account}.dkr.ecr.{region}.amazonaws.com/train:1"})
    assert shared.output == "s3://team-eu-west-1/runs/nightly"
    assert shared.request["AlgorithmSpecification"]["TrainingImage"] == (
        "123456789012.dkr.ecr.eu-west-1.amazonaws.com/train:1"
    )
    assert (shared.owner, shared.poll_s, shared.checkpoints) == ("ada", 5, False)


def test_the_account_is_read_from_the_role() -> None:
    with pytest.raises(SettingsError, match="role: not a role's ARN: 'training'"):
        made({"image": "{account}.dkr/x"}, site=Site("b", "training", "ada"))
    assert made({"image": "plain"}, site=Site("b", ROLE, "ada"))


def test_awss_own_image_is_looked_up_for_each_type_of_instance(sdk: list[dict[str, Any]]) -> None:
    shared = made(FRAMEWORK, ("ml.g5.xlarge", "ml.g5.2xlarge", "ml.c5.xlarge"))
    image = "763104351884.dkr.ecr.eu-west-1.amazonaws.com/pytorch-training:2.8.0"
    assert shared.request["AlgorithmSpecification"]["TrainingImage"] == f"{image}-gpu"
    assert shared.images == {"ml.c5.xlarge": f"{image}-cpu"}
    assert sdk[0] == {
        "framework": "pytorch",
        "region": "eu-west-1",
        "version": "2.8.0",
        "py_version": "py312",
        "instance_type": "ml.g5.xlarge",
        "image_scope": "training",
    }


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
    shared = made({"image": None, "framework": {"name": "tensorflow", "version": "2.19.0"}})
    assert shared.hyperparameters["model_dir"] == '"/opt/ml/model"'
    assert "model_dir" not in made().hyperparameters
    assert sdk[0]["framework"] == "tensorflow"
