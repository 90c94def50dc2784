"""A sweep, a template, places and a task as the tests of EC2 use them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.platforms.bare.template import share
from orchestrator.wire.task import Lane, Limits, Place, Purchase, Task
from orchestrator.wire.template import Template
from tests.platforms.sweeps import staging, sweep

if TYPE_CHECKING:
    from orchestrator.spec.sweep import Sweep

REGION = "eu-west-1"
PROFILE = {"Name": "sweep-training"}


def ec2_sweep(train: dict[str, Any] | None = None, **more: Any) -> Sweep:
    return sweep({"image": None, **(train or {})}, {"instance_types": ["g5.xlarge", "p5.48xlarge"]}, **more)


def place(instance_type: str = "g5.xlarge", purchase: Purchase = Purchase.ON_DEMAND, **more: Any) -> Place:
    return Place(Lane("ec2", REGION, instance_type, purchase), "s3://team-eu-west-1/paris/v1/", **{"rate": 1.5, **more})


def task(*places: Place) -> Task:
    return Task(912, "k", "paris@1", {"lr": 0.1}, places or (place(),), Limits(max_runtime_s=3600))


def template(asked: Sweep | None = None, **ec2: Any) -> Template:
    """Return a Region's template as `stage` makes it, without asking AWS."""
    staged = staging(asked or ec2_sweep())
    body = share(staged, "123456789012")
    image = {"ami": "ami-0123456789abcdef0", "device": "/dev/sda1", "gb": 60}
    body["ec2"] = {
        "images": {"g5.xlarge": image, "p5.48xlarge": image},
        "subnets": {"subnet-a": "eu-west-1a", "subnet-b": "eu-west-1b"},
        "groups": ["sg-1"],
        "profile": PROFILE,
        "key_name": "",
        "volume_gb": 30,
        "container": "",
        **ec2,
    }
    return Template("ec2", REGION, "nightly", "ada", body, staged.output, tags=dict(staged.sweep.tags))
