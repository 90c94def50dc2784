"""A framework is held against the SageMaker SDK's tables, where they are; an image by URI against the same rules."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.platforms.sagemaker.planning import SageMakerPlanning
from orchestrator.wire.task import Lane, Purchase
from tests.fixtures.sweeps import make_sweep

if TYPE_CHECKING:
    from pathlib import Path

PLANNING = SageMakerPlanning({})
HERE, THERE = "eu-west-1", "mx-central-1"
ACCOUNTS = {HERE: "763104351884", "us-east-1": "763104351884"}
AWS = "763104351884.dkr.ecr.{region}.amazonaws.com"


def training(versions: dict[str, Any], **aliases: str) -> dict[str, Any]:
    return {"training": {"versions": versions, "version_aliases": aliases}, "inference": {"versions": {}}}


TABLES = {
    "pytorch": training(
        {
            "1.0.0": {"py2": {"registries": ACCOUNTS}, "py3": {"registries": ACCOUNTS}},
            "2.8.0": {"py_versions": ["py312"], "registries": ACCOUNTS},
            "2.10.0": {"py_versions": ["py313"], "registries": ACCOUNTS},
        },
        **{"2.8": "2.8.0"},
    ),
    "xgboost": training({"1.5-1": {"registries": ACCOUNTS}, "1.7-1": {"registries": ACCOUNTS}}),
    "huggingface": training(
        {
            "4.56.2": {
                "version_aliases": {"pytorch2.8": "pytorch2.8.0"},
                "pytorch2.8.0": {"py_versions": ["py312"], "registries": ACCOUNTS},
            }
        }
    ),
}


@pytest.fixture
def sdk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tables of an installed SDK, in a folder of packages of its own."""
    about = tmp_path / "sagemaker_core-9.1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: sagemaker-core\nVersion: 9.1\n")
    folder = tmp_path / "sagemaker/core/image_uri_config"
    folder.mkdir(parents=True)
    for name, table in TABLES.items():
        (folder / f"{name}.json").write_text(json.dumps(table))
    monkeypatch.syspath_prepend(str(tmp_path))


def said(name: str, version: str, types: str = "ml.g5.xlarge", parallel: str = "single", **more: Any) -> list[str]:
    """Return what is complained of a framework, with its place and what to do."""
    instances = more.pop("instances", 1)
    sweep = make_sweep(
        train__image=None,
        train__framework={"name": name, "version": version, **more},
        train__parallel=parallel,
        train__instances=instances,
        where__instance_types=types.split(),
    )
    return [f"{'.'.join(map(str, one.at))}: {one.message} ({one.hint})" for one in PLANNING.check(sweep)]


@pytest.mark.usefixtures("sdk")
def test_a_version_that_aws_has_not_is_told_with_the_nearest() -> None:
    [line] = said("pytorch", "2.8.1")
    known = "as far as sagemaker-core 9.1 knows"
    assert line == f"train.framework.version: AWS has no image for pytorch 2.8.1, {known} (did you mean '2.8.0'?)"
    assert "(choose from: 1.7-1, 1.5-1)" in said("xgboost", "0.20-9")[0]
    [line] = said("pytorch", "2.8.0", python="py311")
    assert line.startswith("train.framework.python: AWS has no image for pytorch 2.8.0 with py311")
    [line] = said("huggingface", "4.56.2", base="pytorch2.7.0")
    assert line.startswith("train.framework.base: AWS has no image for huggingface 4.56.2 on pytorch2.7.0")
    assert "did you mean 'pytorch2.8.0'?" in line


@pytest.mark.usefixtures("sdk")
def test_what_the_tables_have_is_taken() -> None:
    assert said("pytorch", "2.8.0", python="py312") == said("pytorch", "2.8") == said("pytorch", "1.0.0") == []
    assert said("xgboost", "1.7-1", "ml.m5.large ml.g5.xlarge", instances=2) == []
    assert said("huggingface", "4.56.2", base="pytorch2.8.0", python="py312") == []
    assert said("sklearn", "1.2-1", "ml.m5.large") == []  # these tables know nothing of it


def test_without_the_sdk_versions_are_looked_up_at_submit() -> None:
    assert said("pytorch", "2.8.1") == []


@pytest.mark.usefixtures("sdk")
def test_regions_without_the_image_are_left_out_of_the_plan() -> None:
    sweep = make_sweep(train__image=None, train__framework={"name": "pytorch", "version": "1.0.0"})
    there = Lane("sagemaker", THERE, "ml.g5.xlarge", Purchase.SPOT)
    here = Lane("sagemaker", HERE, "ml.g5.xlarge", Purchase.SPOT)
    assert PLANNING.excludes(sweep, there) == f"AWS has no pytorch 1.0.0 image in {THERE}"
    assert PLANNING.excludes(sweep, here) == PLANNING.excludes(make_sweep(), there) == ""


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (
            said("xgboost", "1.7-1", parallel="mpi"),
            "train.parallel: AWS's xgboost images start one process an instance",
        ),
        (said("sklearn", "1.2-1", parallel="torchrun", types="ml.m5.large"), "AWS's sklearn images start one process"),
        (said("sklearn", "1.2-1"), "where.instance_types.0: AWS's sklearn images do not run on ml.g5.xlarge"),
        (said("sklearn", "1.2-1", "ml.m5.large", instances=2), "train.instances: instances of AWS's sklearn images"),
        (
            said("huggingface", "4.56.2", "ml.c5.xlarge", base="pytorch2.8.0"),
            "AWS's huggingface images do not run on ml.c5.xlarge (they are for GPU instances)",
        ),
        (
            said("huggingface", "4.56.2", base="pytorch2.8.0", parallel="horovod"),
            "train.framework.base: AWS's huggingface images of pytorch 2.8.0 have no Horovod",
        ),
        (
            said("huggingface", "4.17.0", base="tensorflow2.6.3", parallel="torchrun"),
            "train.framework.base: torchrun needs PyTorch",
        ),
    ],
)
def test_what_the_images_of_a_framework_cannot_do_is_told(lines: list[str], told: str) -> None:
    assert told in lines[0]


def by_uri(image: str, parallel: str, types: str = "ml.p4d.24xlarge") -> list[str]:
    sweep = make_sweep(train__image=image, train__parallel=parallel, where__instance_types=types.split())
    return [f"{'.'.join(map(str, one.at))}: {one.message}" for one in PLANNING.check(sweep)]


PT28, PT112 = (
    f"{AWS}/pytorch-training:2.8.0-gpu-py312-cu129-ubuntu22.04-sagemaker",
    f"{AWS}/pytorch-training:1.12.1-gpu",
)
TF219 = f"{AWS}/tensorflow-training:2.19.0-gpu-py312"
HF = "626614931356.dkr.ecr.af-south-1.amazonaws.com/huggingface-pytorch-training:2.8.0-transformers4.56.2-gpu-py312"


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (by_uri(PT28, "horovod"), "train.image: AWS's pytorch 2.8.0 images have no Horovod"),
        (by_uri(PT28, "smddp"), "train.image: AWS's pytorch 2.8.0 images have no smddp"),
        (by_uri(PT112, "pytorchddp"), "AWS's pytorch 1.12.1 images do not start torchrun on ml.p4d.24xlarge"),
        (by_uri(TF219, "torchrun"), "train.image: torchrun needs PyTorch"),
        (by_uri(HF, "horovod"), "train.image: AWS's pytorch 2.8.0 images have no Horovod"),
        (by_uri(f"{AWS}/pytorch:2.11-cu130-amzn2023-sagemaker", "smddp"), "AWS's pytorch 2.11 images have no smddp"),
        (by_uri(PT28, "torchrun", "ml.trn1.32xlarge"), "AWS's pytorch 2.8.0 images do not run on ml.trn1.32xlarge"),
    ],
)
def test_an_image_of_awss_by_its_uri_is_under_the_rules_of_frameworks(found: list[str], told: str) -> None:
    assert found[0].startswith(("train.image: ", "where.instance_types.0: "))
    assert told in found[0]


@pytest.mark.parametrize(
    ("image", "parallel", "types"),
    [
        (PT28, "torchrun", "ml.p4d.24xlarge"),
        (PT28, "mpi", "ml.p4d.24xlarge"),
        (f"{AWS}/pytorch-training:2.0.1-gpu-py310", "smddp", "ml.p4d.24xlarge"),
        (f"{AWS}/pytorch-training-neuronx:2.8.0-neuronx-py311", "torchrun", "ml.trn1.32xlarge"),
        (PT28.replace("763104351884", "123456789012"), "horovod", "ml.p4d.24xlarge"),
        (f"{AWS}/pytorch-training@sha256:{'0f' * 32}", "horovod", "ml.p4d.24xlarge"),
        (f"{AWS}/tensorflow-training:2.11.0-gpu-py39", "horovod", "ml.p3.16xlarge"),
    ],
)
def test_what_starts_and_what_is_ones_own_is_taken_by_its_uri(image: str, parallel: str, types: str) -> None:
    assert by_uri(image, parallel, types) == []


def test_images_by_uri_without_mpi4py_are_said() -> None:
    sweep = make_sweep(train__image=f"{AWS}/pytorch-training:2.11.0-gpu", train__parallel="mpi")
    assert "which AWS's PyTorch 2.11.0 images for GPUs have not" in PLANNING.cautions(sweep)[0]
