"""A sweep that is staged for the local cloud's EKS, and places there."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.aws.s3 import S3
from orchestrator.aws.session import Clients
from orchestrator.platforms.conformance.suite import TRAINING, Subject
from orchestrator.platforms.registry import make_planning, make_runner
from orchestrator.platforms.source import BARE, pack
from orchestrator.wire.task import Lane, Place, Purchase
from tests.platforms.sweeps import staging, sweep

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.platforms.base import Staging

REGION, ELSEWHERE = "eu-west-1", "us-west-2"


@pytest.fixture
def bucket(cloud_environment: dict[str, str], name: str) -> S3:
    bucket = S3(Clients(), REGION, cloud_environment["SWEEP_REGION_BUCKET"].format(region=REGION))
    bucket.put_once(f"{name}/data/rows.txt", b"1,2,3")
    return bucket


def staged(code: str, train: dict[str, Any], bucket: S3, folder: Path, name: str, **more: Any) -> Staging:
    """Return what `submit` would stage the Region with, once this code lies in its bucket."""
    (folder / "train.py").write_text(code)
    package = pack(folder, ours=BARE)
    bucket.put_once(f"{name}/{package.digest}.tar.gz", package.body)
    return staging(
        sweep(train, {"platforms": ["eks"], "instance_types": ["c5.xlarge"]}, tags={"cost centre": "4711"}, **more),
        region=REGION,
        run=name,
        source=bucket.uri(f"{name}/{package.digest}.tar.gz"),
        output=bucket.uri(f"runs/{name}"),
        poll_s=0.2,
    )


@pytest.fixture
def subject(bucket: S3, tmp_path: Path, name: str) -> Subject:
    train = {"metrics": {"loss": "loss=([0-9.]+)"}, "hyperparameters": {"known": 1}}
    lane = Lane("eks", REGION, "c5.xlarge", Purchase.ON_DEMAND)
    place = Place(lane, bucket.uri(f"{name}/data/"), rate=3600.0)
    return Subject(
        planning=make_planning("eks", {"cluster": "sweep"}),
        connect=lambda: make_runner("eks", Clients()),
        staging=staged(TRAINING, train, bucket, tmp_path, name),
        clients=Clients(),
        place=place,
        elsewhere=replace(place, lane=replace(lane, region=ELSEWHERE)),
        wait=lambda: time.sleep(0.1),
        spot=replace(place, lane=replace(lane, purchase=Purchase.SPOT)),
        pair=replace(place, instances=2),
    )


REPEATS = (
    "adopts_what_runs",
    "outlives_the_process",
    "spot_training_costs",
    "one_letter",
    "another_region",
    "said_to_have_ended",
    "that_knows_only_what_is_stored",
    "whole_log_of_a_training_of_one",
)
"""Parts of the names of the suite's tests that show on another platform, or by another training, what others do."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave to `make test-long` what repeats: each training is several processes."""
    for item in items:
        if item.path.parent.name == "eks" and "TestEks" in item.nodeid and any(part in item.name for part in REPEATS):
            item.add_marker(pytest.mark.long)
