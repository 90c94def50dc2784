"""An image of AWS's, named by its URI, must be one for trainings: its name and its tag say what it is for."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.platforms.sagemaker.planning import SageMakerPlanning
from orchestrator.wire.task import Lane, Purchase
from tests.fixtures.sweeps import make_sweep

PLANNING = SageMakerPlanning({})
AWS = "763104351884.dkr.ecr.{region}.amazonaws.com"
GPU, CPU = "ml.g5.xlarge", "ml.c5.xlarge"


def told(image: str, *types: str, **train: Any) -> list[tuple[tuple[str | int, ...], str]]:
    further = {f"train__{name}": value for name, value in train.items()}
    asked = make_sweep(train__image=image, where__instance_types=list(types or [GPU]), **further)
    return [(one.at, one.message) for one in PLANNING.check(asked)]


@pytest.mark.parametrize("end", ["", ":latest"])
def test_aws_tags_no_image_latest(end: str) -> None:
    assert told(f"{AWS}/pytorch-training{end}") == [(("train", "image"), "AWS tags none of its images `latest`")]


def test_an_image_that_serves_models_has_no_toolkit() -> None:
    said = "pytorch-inference serves models: there is no training toolkit in it"
    assert told(f"{AWS}/pytorch-inference:2.6.0-gpu-py312-cu124-ubuntu22.04-sagemaker") == [(("train", "image"), said)]


def test_an_image_for_ec2_has_no_toolkit_either() -> None:
    tag = "2.8.0-gpu-py312-cu129-ubuntu22.04-ec2"
    said = f"{tag} is for EC2: there is no SageMaker training toolkit in it"
    assert told(f"{AWS}/pytorch-training:{tag}") == [(("train", "image"), said)]


def test_a_command_of_one_s_own_needs_no_toolkit() -> None:
    image = f"{AWS}/pytorch-training:2.8.0-gpu-py312-cu129-ubuntu22.04-ec2"
    assert told(image, source=None, entry_point=None, command=["python", "-m", "words", "{arguments}"]) == []


def test_gpus_are_not_paid_for_to_be_idle() -> None:
    tag = "2.8.0-cpu-py312-ubuntu22.04-sagemaker"
    said = f"{tag} is for CPUs: the GPUs of {GPU} would be paid for, and idle"
    assert told(f"{AWS}/pytorch-training:{tag}", CPU, GPU) == [(("where", "instance_types", 1), said)]
    assert told(f"{AWS}/pytorch-training:{tag}", CPU) == []


def test_an_image_for_gpus_on_a_type_without_one_is_a_caution() -> None:
    image = f"{AWS}/pytorch-training:2.8.0-gpu-py312-cu129-ubuntu22.04-sagemaker"
    asked = make_sweep(train__image=image, where__instance_types=[CPU, GPU])
    assert list(PLANNING.check(asked)) == []
    [line] = [line for line in PLANNING.cautions(asked) if "is for GPUs" in line]
    assert line.endswith(f"and {CPU} has none: what needs CUDA fails there")


def test_a_training_pulls_its_image_from_its_own_region() -> None:
    lane = Lane("sagemaker", "eu-west-1", GPU, Purchase.SPOT)

    def why(image: str) -> str:
        return PLANNING.excludes(make_sweep(train__image=image), lane)

    assert why("123456789012.dkr.ecr.us-east-1.amazonaws.com/own:1").startswith(
        "the image lies in the ECR of us-east-1"
    )
    assert why("123456789012.dkr.ecr.eu-west-1.amazonaws.com/own:1") == ""
    assert why("{account}.dkr.ecr.{region}.amazonaws.com/own:1") == ""
    assert why("python:3.12-slim") == ""


@pytest.mark.parametrize(
    "image", ["{account}.dkr.ecr.{region}.amazonaws.com/own-inference:latest", "python:3.12-slim", "own/cpu:1-ec2"]
)
def test_images_of_others_are_their_own_business(image: str) -> None:
    assert told(image, GPU) == []
