"""A training to compare: said twice, in a sweep file and as an Estimator's arguments."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from orchestrator.wire.task import Purchase

REGION = "eu-west-1"
ROLE = "arn:aws:iam::123456789012:role/training"
RUN = "nightly"
BUCKET = "team-{region}"
HERE = f"s3://{BUCKET.replace('{region}', REGION)}"
DATA = f"{HERE}/paris/v1/"
DIGEST = "0123abcd"
NAME = f"{RUN}-0-1"
PLAN = f"arn:aws:sagemaker:{REGION}:123456789012:training-plan/nightly"
POINT = {"lr": 0.001, "batch_size": 64, "augment": True, "optimizer": "adam"}
MAX_RUNTIME_S, MAX_WAIT_S = 3600, 7200
IMAGE = f"123456789012.dkr.ecr.{REGION}.amazonaws.com/train:7"


@dataclass(frozen=True)
class Case:
    name: str
    train: dict[str, Any]
    """Of the sweep file, beyond the entry point and the source."""
    sweep: dict[str, Any] = field(default_factory=dict)
    """Of the sweep file, beside `train`."""
    inputs: dict[str, Any] = field(default_factory=dict)
    """What the Estimator is fitted to, unless that is one channel `training`: by name, a TrainingInput's arguments."""
    arguments: dict[str, Any] = field(default_factory=dict)
    """Of the Estimator, beyond those that all have."""
    estimator: str = "pytorch"
    instance_type: str = "ml.g5.xlarge"
    purchase: Purchase = Purchase.ON_DEMAND
    we_refuse: str = ""
    """How our refusal begins, where we do not send what the SDK sends."""
    they_refuse: str = ""
    """Likewise, where the SDK does not send what we send."""
    reason: str = ""
    """Why one of the two is right to refuse, or wrong."""

    @property
    def instances(self) -> int:
        return int(self.train.get("instances", 1))


def framework(version: str, python: str, name: str = "pytorch") -> tuple[dict[str, Any], dict[str, Any]]:
    """One of AWS's images, in our words and in the SDK's."""
    ours = {"framework": {"name": name, "version": version, "python": python}}
    return ours, {"framework_version": version, "py_version": python}


def image() -> tuple[dict[str, Any], dict[str, Any]]:
    return {"image": IMAGE}, {"image_uri": IMAGE}


def case(
    name: str,
    source: tuple[dict[str, Any], dict[str, Any]],
    train: dict[str, Any],
    distribution: dict[str, Any] | None,
    **more: Any,
) -> Case:
    arguments = more.pop("arguments", {}) | ({"distribution": distribution} if distribution else {})
    return Case(name, source[0] | train, arguments=source[1] | arguments, **more)
