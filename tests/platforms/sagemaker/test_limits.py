"""What CreateTrainingJob does not take is told at its place in the file, before anything is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from orchestrator.errors import SpecError
from orchestrator.platforms.sagemaker.planning import SageMakerPlanning
from orchestrator.spec.reading.reader import read

if TYPE_CHECKING:
    from pathlib import Path

GOOD = """\
name: grid
train:
  entry_point: train.py
  source: code
  image: registry/steering:1
  hyperparameters:
    epochs: 2
space:
  lr: [1e-4, 1e-3]
  c: {zip: {a: [x, y], b: [1, 2]}}
where:
  instance_types: [ml.g5.xlarge]
runtime: 0.5
"""
LONG = "x" * 2500
MANY = ", ".join(f"A{n}: ''" for n in range(95))
METRICS = ", ".join(f"m{n}" for n in range(41))
PARAMETERS = ", ".join(f"h{n}: 1" for n in range(88))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "train.py").touch()
    return tmp_path / "sweep.yaml"


def test_what_sagemaker_takes_is_not_complained_of(file: Path) -> None:
    file.write_text(GOOD)
    assert read(file, SageMakerPlanning({}).check).name == "grid"


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (
            "epochs: 2",
            "sagemaker_program: x",
            "7:5: 'sagemaker_program' is taken: names that begin with sagemaker_ or sweep_ are not passed to your code",
        ),
        ("  lr:", "  sagemaker_x:", "9:16: 'sagemaker_x' is taken: names that begin with sagemaker_ or sweep_ are not"),
        ("{a: [x", "{sagemaker_a: [x", "10:26: 'sagemaker_a' is taken: names that begin with sagemaker_ or sweep_"),
        ("epochs: 2", f"epochs: {LONG}", "7:13: 2500 characters are too many (SageMaker takes 2500 as JSON)"),
        ("[x, y]", f"[x, {LONG}]", "10:20: 2500 characters are too many (SageMaker takes 2500 as JSON)"),
        (
            "    epochs: 2",
            f"    {{{PARAMETERS}}}",
            "9:3: 91 parameters and hyperparameters (SageMaker takes 100, and sweep needs 10 of them: at most 90)",
        ),
        (
            "  image:",
            f"  environment: {{{MANY}}}\n  image:",
            "5:16: 95 environment variables (SageMaker takes 100, and sweep needs 6 of them: at most 94)",
        ),
        (
            "  image:",
            f"  environment: {{A: {'x' * 513}}}\n  image:",
            "5:20: 513 characters are too many (SageMaker takes 512)",
        ),
        ("  image:", f"  metrics: [{METRICS}]\n  image:", "5:12: 41 metrics (SageMaker takes 40)"),
        (
            "  image:",
            f"  metrics: {{m: '(x){'x' * 500}'}}\n  image:",
            "5:16: a regex of 503 characters is too long (SageMaker takes 500)",
        ),
        ("  image: registry/steering:1\n", "", "3:3: no image (add `image: <uri>` or `framework:"),
        ("  image:", "  parallel: smddp\n  image:", "13:20: smddp does not run on ml.g5.xlarge (it runs on"),
        (
            "image: registry/steering:1",
            "parallel: horovod\n  framework: {name: pytorch, version: '2.8.0'}",
            "6:39: AWS's pytorch 2.8.0 images have no Horovod (set train.image to an image of your own",
        ),
        (
            "runtime:",
            "platforms: {sagemaker: {warm: 30m}}\nruntime:",
            "13:25: unknown key 'warm' (",
        ),
    ],
)
def test_what_sagemaker_does_not_take_is_told_with_its_place(file: Path, before: str, after: str, said: str) -> None:
    assert before in GOOD
    file.write_text(GOOD.replace(before, after, 1))
    with pytest.raises(SpecError) as caught:
        read(file, SageMakerPlanning({}).check)
    assert str(caught.value).startswith(f"{file}:{said}")
