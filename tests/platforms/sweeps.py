"""A sweep, what a Region is staged with, and a task as the tests of SageMaker use them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from orchestrator.platforms.base import Staging
from orchestrator.platforms.sagemaker.asked.table import read_settings
from orchestrator.platforms.sagemaker.stage import make_template
from orchestrator.spec.sweep import Sweep
from orchestrator.wire.task import Lane, Limits, Place, Purchase, Task

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.wire.template import Template

ROLE = "arn:aws:iam::123456789012:role/training"
SPOT = Place(Lane("sagemaker", "eu-west-1", "ml.g5.xlarge", Purchase.SPOT), "s3://team-eu-west-1/paris/v1/", rate=1.5)
ON_DEMAND = Place(
    Lane("sagemaker", "eu-west-1", "ml.g5.xlarge", Purchase.ON_DEMAND), "s3://team-eu-west-1/paris/v1/", rate=1.5
)
TASK = Task(
    number=912,
    key="k",
    dataset="paris@1",
    point={"lr": 0.1, "batch_size": 64, "augment": True, "optimizer": "adam"},
    places=(SPOT, ON_DEMAND),
    limits=Limits(max_runtime_s=3600, max_wait_s=7200, patience_s=600),
)


def sweep(train: dict[str, Any] | None = None, where: dict[str, Any] | None = None, **more: Any) -> Sweep:
    return Sweep.model_validate(
        {
            "name": "nightly",
            "train": {"entry_point": "train.py", "source": "code", "image": "me/train:1"} | (train or {}),
            "space": {"lr": [0.1, 0.2], "batch_size": [64], "augment": "bool", "optimizer": ["adam", "sgd"]},
            "where": {"instance_types": ["ml.g5.xlarge"]} | (where or {}),
            "runtime": 0.5,
            **more,
        }
    )


def staging(asked: Sweep | None = None, role: str = ROLE, digest: str = "abc", **changes: Any) -> Staging:
    """Return what `submit` would stage a Region with."""
    made = Staging(
        sweep=asked or sweep(),
        region="eu-west-1",
        run="nightly",
        owner="ada",
        source=f"s3://team-eu-west-1/sources/{digest}/sourcedir.tar.gz",
        output="s3://team-eu-west-1/runs/nightly",
        role=role,
        poll_s=5,
    )
    return replace(made, **changes)


def template(asked: Sweep | None = None, usual: Mapping[str, object] | None = None, **changes: Any) -> Template:
    """Return the Region's template, with images as they are written. `usual` is what the settings say."""
    return make_template(staging(asked, **changes), read_settings(usual or {}))
