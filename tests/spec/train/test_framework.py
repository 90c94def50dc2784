"""A framework is named with a version that AWS's images of its kind have; Hugging Face's also say what they run on."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from tests.fixtures.sweeps import make_sweep


def named(name: str, version: str, **more: str) -> dict[str, Any]:
    return {"train__image": None, "train__framework": {"name": name, "version": version, **more}}


@pytest.mark.parametrize(
    "framework",
    [
        named("pytorch", "2.8.0"),
        named("tensorflow", "2.19"),
        named("huggingface", "4.56.2", base="pytorch2.8.0"),
        named("sklearn", "1.2-1"),
        named("sklearn", "1.4-2-py312"),
        named("sklearn", "0.20.0"),
        named("xgboost", "1.7-1"),
    ],
)
def test_versions_are_written_as_aws_writes_them(framework: dict[str, Any]) -> None:
    assert make_sweep(**framework).train.framework is not None


@pytest.mark.parametrize(
    ("framework", "said"),
    [
        (named("xgboost", "1.7"), "AWS has no xgboost 1.7"),
        (named("sklearn", "1.2"), "AWS has no sklearn 1.2"),
        (named("pytorch", f"2.{'8' * 400}.0"), "framework.version"),
        (named("pytorch", "2.8-1"), "AWS has no pytorch 2.8-1"),
        (named("huggingface", "4.56.2"), "huggingface images are built on PyTorch or TensorFlow"),
        (named("pytorch", "2.8.0", base="pytorch2.8.0"), "pytorch images have no base"),
        (named("huggingface", "4.56.2", base="jax0.4.0"), "framework.base"),
        (named("mxnet", "1.9.0"), "'pytorch', 'tensorflow', 'huggingface', 'sklearn' or 'xgboost'"),
    ],
)
def test_what_is_no_version_of_a_kind_is_refused(framework: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        make_sweep(**framework)
    assert said in str(caught.value)


def test_a_framework_without_a_base_is_stored_as_before_there_were_bases() -> None:
    stored = make_sweep(**named("pytorch", "2.8.0")).model_dump(mode="json")["train"]["framework"]
    assert stored == {"name": "pytorch", "version": "2.8.0", "python": "py3"}
