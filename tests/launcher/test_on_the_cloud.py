"""`python -m orchestrator.launcher` as Batch starts it, its trainings real processes of the local cloud."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.aws.control import Control
from orchestrator.aws.s3 import S3
from orchestrator.aws.session import Clients
from orchestrator.platforms.source import pack
from orchestrator.wire import manifest
from orchestrator.wire.exits import Exit
from orchestrator.wire.names import RunKeys, index_key
from orchestrator.wire.result import TaskState
from orchestrator.wire.task import Lane, Limits, Place, Purchase, Task
from tests.platforms.sweeps import template

if TYPE_CHECKING:
    from pathlib import Path

REGIONS = ("us-west-2", "eu-west-1")
NOBODY = {
    "AWS_ACCESS_KEY_ID": "",
    "AWS_SECRET_ACCESS_KEY": "",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
    "AWS_CONFIG_FILE": "/dev/null",
}
TRAIN = """
import argparse, time
options = argparse.ArgumentParser()
options.add_argument("--x")
options.add_argument("--hang", type=float)
options.add_argument("--rate", type=float, default=0)
given = options.parse_known_args()[0]
w, step = 3.0, 0
while given.rate and step < 2000:  # gradient descent on w**2, which diverges at a rate above 1
    step, w = step + 1, w - given.rate * 2 * w
    if step % 100 == 0 or w != w:
        print(f"loss={w * w}", flush=True)
    if w != w:
        break
time.sleep(given.hang)
"""


class Launchers:
    """A staged run of two tasks, in two Regions, and launchers of it."""

    def __init__(self, environment: dict[str, str], folder: Path, run: str) -> None:
        self.environment = environment
        self.run = run
        clients, buckets = Clients(), environment["SWEEP_REGION_BUCKET"]
        self.control = Control(S3(clients, environment["SWEEP_REGION"], environment["SWEEP_BUCKET"]), run)
        (folder / "train.py").write_text(TRAIN)
        package = pack(folder)
        self.places = []
        for region in REGIONS:
            bucket = S3(clients, region, buckets.format(region=region))
            bucket.put_once(f"{run}/data/rows", b"data")
            bucket.put_once(f"{run}/sourcedir.tar.gz", package.body)
            shared = template(
                role=environment["SWEEP_ROLE"],
                region=region,
                run=run,
                source=bucket.uri(f"{run}/sourcedir.tar.gz"),
                output=bucket.uri(f"runs/{run}"),
                poll_s=0.2,
            )
            shared = replace(shared, metrics={"loss": "loss=([-0-9.e+naif]+)"})
            self._put(self.control.keys.template("sagemaker", region), json.dumps(shared.to_json()).encode())
            lane = Lane("sagemaker", region, "ml.c5.xlarge", Purchase.SPOT)
            self.places.append(Place(lane, bucket.uri(f"{run}/data/"), rate=1.0))

    def write(self, *tasks: Task) -> None:
        lines, index = zip(*manifest.write(tasks), strict=True)
        key = RunKeys(self.run).manifest(1, 1)
        self._put(key, b"".join(lines))
        self._put(index_key(key), b"".join(index))

    def task(self, number: int, hang: float = 0.0) -> Task:
        places = (self.places[number % 2], self.places[1 - number % 2])
        return Task(number, "key", "paris@1", {"x": number, "hang": hang}, places, Limits(600))

    def start(self, index: int = 0, **more: str) -> subprocess.Popen[str]:
        uri = self.control.s3.uri(RunKeys(self.run).manifest(1, 1))
        environment = {
            **os.environ,
            **self.environment,
            "SWEEP_MANIFEST": uri,
            "AWS_BATCH_JOB_ARRAY_INDEX": str(index),
            **more,
        }
        command = [sys.executable, "-m", "orchestrator.launcher"]
        return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def state(self, task: int) -> TaskState:
        found = self.control.result(task)
        return found[0].state if found else TaskState.PENDING

    def wait(self, task: int, *states: TaskState) -> None:
        deadline = time.monotonic() + 60
        while self.state(task) not in states:
            assert time.monotonic() < deadline, self.state(task)
            time.sleep(0.1)

    def _put(self, key: str, body: bytes) -> None:
        assert self.control.s3.put_once(key, body)


@pytest.fixture
def launchers(cloud_environment: dict[str, str], tmp_path: Path, name: str) -> Launchers:
    return Launchers(cloud_environment, tmp_path, name)


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    out, log = process.communicate(timeout=90)
    assert out == ""
    return process.returncode, log


def test_two_children_train_in_two_regions(launchers: Launchers, client: Any) -> None:
    launchers.write(launchers.task(0), launchers.task(1))
    codes = [ended(child) for child in [launchers.start(0), launchers.start(1)]]
    assert [code for code, _ in codes] == [Exit.DONE, Exit.DONE], codes
    for number, region in enumerate(REGIONS):
        result = launchers.control.result(number)
        assert result
        assert result[0].state is TaskState.DONE
        job = client("sagemaker", region).describe_training_job(TrainingJobName=f"{launchers.run}-{number}-1")
        assert job["HyperParameters"]["x"] == str(number)


def test_a_launcher_asked_to_go_leaves_its_training_to_the_next(launchers: Launchers) -> None:
    launchers.write(launchers.task(0, hang=2))
    first = launchers.start()
    launchers.wait(0, TaskState.STARTING, TaskState.RUNNING)
    first.send_signal(signal.SIGTERM)
    assert ended(first)[0] == Exit.RESTART
    code, log = ended(launchers.start())
    assert (code, launchers.state(0)) == (Exit.DONE, TaskState.DONE), log
    assert [attempt.number for attempt in launchers.control.attempts(0)] == [1]


def test_a_launcher_killed_outright_is_followed_by_one_that_adopts(launchers: Launchers) -> None:
    launchers.write(launchers.task(0, hang=2))
    first = launchers.start()
    launchers.wait(0, TaskState.STARTING, TaskState.RUNNING)
    first.kill()
    first.communicate()
    assert ended(launchers.start())[0] == Exit.DONE
    assert [attempt.number for attempt in launchers.control.attempts(0)] == [1]


def test_a_cancelled_run_ends_its_trainings(launchers: Launchers) -> None:
    launchers.write(launchers.task(0, hang=300))
    child = launchers.start()
    launchers.wait(0, TaskState.RUNNING)
    launchers.control.cancel(through=1)
    child.send_signal(signal.SIGTERM)
    code, log = ended(child)
    assert (code, launchers.state(0)) == (Exit.CANCELLED, TaskState.CANCELLED), log


def test_a_training_that_hangs_is_ended_when_its_log_has_been_silent(launchers: Launchers, client: Any) -> None:
    hanging = replace(launchers.task(0, hang=600), limits=Limits(900, stall_s=3))
    launchers.write(hanging)
    code, log = ended(launchers.start())
    assert code != Exit.DONE, log
    found = launchers.control.result(0)
    assert found
    assert found[0].state is TaskState.FAILED
    assert found[0].outcomes[0].ended_for.startswith("ended because its log was silent for")
    assert "its log was silent" in found[0].reason
    job = client("sagemaker", REGIONS[0]).describe_training_job(TrainingJobName=f"{launchers.run}-0-1")
    assert job["TrainingJobStatus"] == "Stopped"


def test_a_training_whose_loss_becomes_nan_is_ended(launchers: Launchers, client: Any) -> None:
    """It diverges by itself: gradient descent at too high a rate, which then would go on for ten minutes."""
    task = replace(launchers.task(0, hang=600), limits=Limits(900, end_on_nan="loss"))
    launchers.write(replace(task, point={**task.point, "rate": 2.5}))
    code, log = ended(launchers.start())
    assert code != Exit.DONE, log
    found = launchers.control.result(0)
    assert found
    assert found[0].state is TaskState.FAILED
    assert found[0].outcomes[0].ended_for == "ended because its loss was no finite number"
    job = client("sagemaker", REGIONS[0]).describe_training_job(TrainingJobName=f"{launchers.run}-0-1")
    assert job["TrainingJobStatus"] == "Stopped"


def test_data_that_is_gone_fails_the_task_for_good_and_says_so(launchers: Launchers) -> None:
    task = launchers.task(0)
    gone = tuple(replace(place, s3_uri="s3://no-such-bucket-anywhere/x/") for place in task.places)
    launchers.write(replace(task, places=gone))
    code, log = ended(launchers.start())
    assert code == Exit.TASK_WRONG, log
    found = launchers.control.result(0)
    assert found
    assert "no-such-bucket-anywhere" in found[0].reason


@pytest.mark.parametrize(
    ("environment", "code", "says"),
    [
        ({"AWS_BATCH_JOB_ARRAY_INDEX": "5"}, Exit.TASK_WRONG, "line 6: the manifest has no line 5"),
        ({"SWEEP_MANIFEST": "s3://no-such-bucket/runs/r/submissions/1/1.manifest"}, Exit.UNAVAILABLE, "NoSuchBucket"),
        (NOBODY, Exit.UNAVAILABLE, "credentials"),
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_MAX_ATTEMPTS": "1"}, Exit.RESTART, "127.0.0.1:9"),
    ],
)
def test_bad_surroundings_are_one_clear_line_and_the_right_code(
    launchers: Launchers, environment: dict[str, str], code: Exit, says: str
) -> None:
    launchers.write(launchers.task(0))
    got, log = ended(launchers.start(**environment))
    assert got == code, log
    assert says in log
    assert "Traceback" not in log
    assert launchers.control.attempts(0) == []
