"""How one training may run: its image, and how many processes it starts."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from tests.fixtures.sweeps import make_sweep

ECR = "{account}.dkr.ecr.{region}.amazonaws.com"


def refusal(**train: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        make_sweep(**{f"train__{key}": value for key, value in train.items()})
    return str(caught.value)


@pytest.mark.parametrize(
    ("image", "complaint"),
    [
        (f"{ECR}/training:1".replace("account", "acount"), "{acount} has no meaning in an image"),
        (f"{ECR}/training 1", "is no image: there are blanks in it"),
        (f"{ECR}/Training:1", "'Training:1' cannot name an image in ECR"),
        (f"{ECR}/training:1:2", "'training:1:2' cannot name an image in ECR"),
        (f"{ECR}/", "'' cannot name an image in ECR"),
        (f"{ECR}/training@sha256:12", "'training@sha256:12' cannot name an image in ECR"),
    ],
)
def test_what_only_looks_like_an_image_is_refused(image: str, complaint: str) -> None:
    assert complaint in refusal(image=image)


@pytest.mark.parametrize(
    "image",
    [ECR + "/team/sweep-{region}:1.2_b", ECR + "/a", f"{ECR}/a:1@sha256:{'0f' * 32}", "registry:5000/Any/Thing"],
)
def test_images_are_taken_as_ecr_and_docker_name_them(image: str) -> None:
    assert make_sweep(train__image=image).train.image == image


def test_processes_are_a_number_auto_or_left_out() -> None:
    for processes in (None, 1, 8, "auto"):
        sweep = make_sweep(train__parallel="torchrun", train__processes_per_instance=processes)
        assert sweep.train.processes_per_instance == processes
    for wrong in (0, -1, True, 1.5, "8", "all", [8]):
        said = refusal(parallel="torchrun", processes_per_instance=wrong)
        assert "expected a number of processes or auto, got" in said


def test_single_and_smddp_count_their_processes_themselves() -> None:
    assert "single is one process an instance" in refusal(processes_per_instance="auto")
    smddp = make_sweep(train__parallel="smddp", train__processes_per_instance="auto")
    assert smddp.train.processes_per_instance == "auto"
    assert "smddp is always one process a GPU" in refusal(parallel="smddp", processes_per_instance=8)
