"""Requests for EKS as they are made of a sweep, without any cluster."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from orchestrator.platforms.bare.template import share
from orchestrator.platforms.eks.sent.request import make_request
from orchestrator.wire.result import Attempt
from orchestrator.wire.task import Lane, Limits, Place, Purchase, Task
from orchestrator.wire.template import Template
from tests.platforms.sweeps import staging, sweep

if TYPE_CHECKING:
    from orchestrator.platforms.base import Request

REGION = "eu-west-1"
ARN = f"arn:aws:eks:{REGION}:123456789012:cluster/prod"
PLAIN: dict[str, Any] = {
    "cluster": "prod",
    "namespace": "sweep",
    "service_account": "sweep-training",
    "image": "me/train:1",
    "queue": "",
    "node_selector": {},
    "tolerations": [],
    "volumes": {},
    "shm_gb": 0,
    "efa": 0,
    "least": 0,
}

ATTEMPT = Attempt(
    task=7,
    number=1,
    place=0,
    lane=Lane("eks", REGION, "g5.xlarge", Purchase.SPOT),
    training="nightly-7-1",
    request_hash="h",
    max_runtime_s=3600,
    recorded_at=0.0,
    rate=2.0,
    instances=2,
)


def place(instance_type: str = "g5.xlarge", purchase: Purchase = Purchase.ON_DEMAND, instances: int = 1) -> Place:
    lane = Lane("eks", REGION, instance_type, purchase)
    site = ARN if purchase is Purchase.COMMITTED else ""
    return Place(lane, "s3://team-eu-west-1/paris/v1/", rate=1.5, site=site, instances=instances)


def request(at: Place | None = None, **changes: Any) -> Request:
    staged = replace(staging(sweep()), run="nightly")
    template = Template(
        platform="eks",
        region=REGION,
        run="nightly",
        owner="ada@example.com",
        body={**share(staged, "123456789012"), **PLAIN, **changes},
        output="s3://team-eu-west-1/runs/nightly",
        tags={"cost centre": "4711"},
    )
    where = at or place()
    task = Task(7, "k", "paris@1", {"lr": 0.1}, (where,), Limits(3600, patience_s=600))
    return make_request(template, task, where, 2, 3600)
