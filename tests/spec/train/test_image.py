"""An image that no registry could have is refused when the file is read, not when trainings start."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from tests.fixtures.sweeps import make_sweep

ECR = "{account}.dkr.ecr.{region}.amazonaws.com"


def refusal(image: str) -> str:
    with pytest.raises(ValidationError) as caught:
        make_sweep(train__image=image)
    return str(caught.value)


@pytest.mark.parametrize(
    ("image", "complaint"),
    [
        (f"{ECR}/training:1".replace("account", "acount"), "{acount} has no meaning in an image"),
        (f"{ECR}/training 1", "is no image: there are blanks in it"),
        (f"{ECR}/Training:1", "'Training:1' cannot name an image in ECR"),
        (f"{ECR}/training:1:2", "'training:1:2' cannot name an image in ECR"),
        (f"{ECR}/", "'' cannot name an image in ECR"),
        (f"{ECR}/x:1", "'x' cannot name a repository in ECR"),
        (f"{ECR}/{'x' * 257}", "cannot name a repository in ECR"),
        (f"{ECR}/training@sha256:12", "'training@sha256:12' cannot name an image in ECR"),
    ],
)
def test_what_only_looks_like_an_image_is_refused(image: str, complaint: str) -> None:
    assert complaint in refusal(image)


@pytest.mark.parametrize(
    "image",
    [ECR + "/team/sweep-{region}:1.2_b", ECR + "/ab", f"{ECR}/ab:1@sha256:{'0f' * 32}", "registry:5000/Any/Thing"],
)
def test_images_are_taken_as_ecr_and_docker_name_them(image: str) -> None:
    assert make_sweep(train__image=image).train.image == image
