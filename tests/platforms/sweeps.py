"""A sweep, a site and a task as the tests of SageMaker use them."""

from __future__ import annotations

from typing import Any

from orchestrator.platforms.sagemaker.stage import Site
from orchestrator.spec.sweep import Sweep
from orchestrator.wire.task import Lane, Limits, Place, Purchase, Task

ROLE = "arn:aws:iam::123456789012:role/training"
SITE = Site(bucket="team-{region}", role=ROLE, owner="ada", poll_s=5)
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


def sweep(train: dict[str, Any] | None = None, where: dict[str, Any] | None = None) -> Sweep:
    return Sweep.model_validate(
        {
            "name": "nightly",
            "train": {"entry_point": "train.py", "source": "code", "image": "me/train:1"} | (train or {}),
            "space": {"lr": [0.1, 0.2]},
            "where": {"instance_types": ["ml.g5.xlarge"]} | (where or {}),
            "runtime": 0.5,
        }
    )
