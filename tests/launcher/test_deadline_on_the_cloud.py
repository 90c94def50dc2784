"""A task with a deadline and checkpoints on the local cloud: a stretch on spot, a reclaim, another one, on demand."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.wire.exits import Exit
from orchestrator.wire.result import Cause, TaskState
from orchestrator.wire.task import Expected, Lane, Limits, Place, Purchase, Task
from tests.fixtures.cloud import client_of
from tests.launcher import test_on_the_cloud
from tests.launcher.test_on_the_cloud import Launchers, ended

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from orchestrator.localcloud.cloud import LocalCloud

HOUR = 3600
SAVES = """
import argparse, pathlib, signal, sys, time
options = argparse.ArgumentParser()
options.add_argument("--hang", type=int)
given = options.parse_known_args()[0]
saved = pathlib.Path("/opt/ml/checkpoints/saved")

def save(*_):
    saved.write_text("all but the end")
    sys.exit(75)

signal.signal(signal.SIGTERM, save)
print("begun", flush=True)
if given.hang and not saved.exists():
    time.sleep(600)
"""
"""It hangs until it is asked to go, and then goes on where it stopped."""


@pytest.fixture(scope="session")
def cloud(moved_cloud: LocalCloud) -> LocalCloud:
    return moved_cloud


@pytest.fixture(scope="session")
def client(cloud: LocalCloud) -> Callable[..., Any]:
    return client_of(cloud)


@pytest.fixture
def launchers(
    cloud_environment: dict[str, str], tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> Launchers:
    monkeypatch.setattr(test_on_the_cloud, "TRAIN", SAVES)
    made = Launchers(cloud_environment, tmp_path, name)
    for region in test_on_the_cloud.REGIONS:
        key, saves = made.control.keys.template("sagemaker", region), made.control.template("sagemaker", region)
        etag = made.control.s3.get(key).etag
        made.control.s3.put_if(key, json.dumps(replace(saves, checkpoints=True).to_json()).encode(), etag)
    return made


def make_task(launchers: Launchers, hang: int, left_hours: float) -> Task:
    spot = replace(launchers.places[0], rate=3.0, expected=Expected(10.0, 1.0, 0.05))
    lane = Lane("sagemaker", spot.lane.region, spot.lane.instance_type, Purchase.ON_DEMAND)
    on_demand = Place(lane, spot.s3_uri, rate=3.0, expected=Expected(10.0, 3.0))
    limits = Limits(20 * HOUR, max_wait_s=21 * HOUR, saved_every_s=600, end_by=time.time() + left_hours * HOUR)
    return Task(0, "key", "paris@1", {"hang": hang}, (spot, on_demand), limits)


def test_spot_is_reclaimed_its_stretch_ends_and_the_next_one_goes_on(
    launchers: Launchers, cloud: LocalCloud, client: Any
) -> None:
    launchers.write(make_task(launchers, hang=1, left_hours=11.5))
    child = launchers.start()
    sagemaker, first = client("sagemaker", launchers.places[0].lane.region), f"{launchers.run}-0-1"
    _wait_for_begin(sagemaker, client, first, 1)
    cloud.steering.add("reclaim", first)
    _wait_for_begin(sagemaker, client, first, 2)
    cloud.advance(1.4 * HOUR)
    code, log = ended(child)
    assert code == Exit.DONE, log
    found = launchers.control.result(0)
    assert found
    assert [(one.state, one.cause) for one in found[0].outcomes] == [
        (TaskState.FAILED, Cause.CAPACITY),  # as SageMaker says that the time to run and wait is over
        (TaskState.DONE, Cause.NONE),
    ]
    for attempt in launchers.control.attempts(0):
        job = sagemaker.describe_training_job(TrainingJobName=attempt.training)
        assert job["EnableManagedSpotTraining"]
        limits = job["StoppingCondition"]
        assert limits == {
            "MaxRuntimeInSeconds": attempt.max_runtime_s,
            "MaxWaitTimeInSeconds": attempt.max_wait_s,
        }
        assert attempt.max_wait_s < 21 * HOUR


def test_too_late_for_spot_it_begins_on_demand(launchers: Launchers, client: Any) -> None:
    launchers.write(make_task(launchers, hang=0, left_hours=10.4))
    code, log = ended(launchers.start())
    assert code == Exit.DONE, log
    (attempt,) = launchers.control.attempts(0)
    job = client("sagemaker", attempt.lane.region).describe_training_job(TrainingJobName=attempt.training)
    assert attempt.lane.purchase is Purchase.ON_DEMAND
    assert not job.get("EnableManagedSpotTraining")
    assert job["StoppingCondition"]["MaxRuntimeInSeconds"] == 20 * HOUR


def _wait_for_begin(sagemaker: Any, client: Any, training: str, times: int) -> None:
    """Wait until the training has begun so many times, as its log says."""
    logs = client("logs", sagemaker.meta.region_name)
    until = time.monotonic() + 120
    while True:
        assert time.monotonic() < until, training
        try:
            found = logs.filter_log_events(logGroupName="/aws/sagemaker/TrainingJobs", logStreamNamePrefix=training)[
                "events"
            ]
        except logs.exceptions.ResourceNotFoundException:
            found = []
        if sum("begun" in event["message"] for event in found) >= times:
            return
        time.sleep(0.1)
