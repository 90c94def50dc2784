"""Bare machines as real processes: what the training finds there, and what is left in S3 whatever ends it."""

from __future__ import annotations

import io
import json
import tarfile
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.aws.s3 import S3
from orchestrator.aws.session import Clients
from orchestrator.training.bare.assignment import Channel
from orchestrator.training.bare.stub import make_stub
from orchestrator.training.bare.together.leave import STOPPED, Verdict, leave_body, leave_uri
from tests.training.bare.bare_machines import PATH, Bare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

REGION = "eu-west-1"
SHOW = """
import json, os, pathlib, sys
data = pathlib.Path(os.environ["SM_CHANNEL_TRAINING"])
seen = {str(file.relative_to(data)): file.read_text() for file in data.rglob("*") if file.is_file()}
pathlib.Path(os.environ["SM_MODEL_DIR"], "model.json").write_text(json.dumps({
    "data": seen, "words": sys.argv[1:], "lr": os.environ["SM_HP_LR"], "hosts": os.environ["SM_HOSTS"],
    "job": os.environ["TRAINING_JOB_NAME"], "colour": os.environ["COLOUR"], "rank": os.environ["SM_CURRENT_HOST"]}))
print("trained", flush=True)
"""
WAIT = """
import signal, sys, time
print("ready", flush=True)
time.sleep(600)
"""
ONE_FAILS = f"""
import os
if os.environ["SAGEMAKER_BASE_DIR"].endswith("ml-1"):
    raise ValueError("the loss is gone")
{WAIT}
"""
DEAF = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + WAIT
SAVING = """
import time
from orchestrator import Checkpoints
state = {"step": 0}
checkpoints = Checkpoints(
    save=lambda path: path.write_text(str(state["step"])),
    load=lambda path: state.update(step=int(path.read_text())),
    every_s=0,
)
for step in checkpoints.steps(3):
    print(f"step {step}", flush=True)
    state["step"] = step + 1
    while step == 1 and not again:
        time.sleep(0.1)
"""


@pytest.fixture
def bare(cloud_environment: dict[str, str], tmp_path: Path, name: str) -> Iterator[Bare]:
    bucket = S3(Clients(), REGION, cloud_environment["SWEEP_REGION_BUCKET"].format(region=REGION))
    made = Bare(bucket, tmp_path, name, cloud_environment)
    yield made
    made.end()


def test_a_training_finds_what_sagemaker_would_bring_and_leaves_what_sagemaker_would_keep(
    bare: Bare, client: Callable[..., Any]
) -> None:
    bare.start(SHOW, environment={"COLOUR": "blue"})
    outcome = bare.outcome()
    assert (outcome.state, outcome.cause, outcome.exit_code) == ("done", "", 0), bare.log()
    assert outcome.started_at <= outcome.began_at <= outcome.ended_at
    archive = bare.bucket.get(outcome.artifact.removeprefix(bare.bucket.uri(""))).body
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        model = packed.extractfile("model.json")
        assert model is not None
        seen = json.loads(model.read())
    assert seen == {
        "data": {"a.txt": "alpha", "deep/b c.txt": "beta"},
        "words": ["--lr", "0.5"],
        "lr": "0.5",
        "hosts": '["127.0.0.1"]',
        "job": f"{bare.name}-0-1",
        "colour": "blue",
        "rank": "127.0.0.1",
    }
    events = client("logs", REGION).get_log_events(
        logGroupName="/sweep/trainings", logStreamName=f"{bare.name}-0-1/rank-0", startFromHead=True
    )
    lines = [event["message"] for event in events["events"]]
    assert "trained" in lines
    assert lines[-1] == "sweep: machine 0 is done"


def test_an_error_of_the_training_is_told_and_makes_the_other_machine_leave(bare: Bare) -> None:
    bare.start(ONE_FAILS, machines=2)
    failed, left = bare.outcome(1), bare.outcome(0)
    assert (failed.state, failed.cause, failed.exit_code) == ("failed", "task", 1)
    assert "the loss is gone" in failed.reason
    assert (left.state, left.cause) == ("left", "task")
    assert left.reason.startswith("machine 1: ")


@pytest.mark.long
def test_a_machine_that_is_taken_away_says_so_and_the_others_leave_with_it(bare: Bare) -> None:
    bare.start(WAIT, machines=2)
    bare.await_line("ready", 0)
    bare.await_line("ready", 1)
    bare.terminate(1)
    gone, left = bare.outcome(1), bare.outcome(0)
    assert (gone.state, gone.cause) == ("failed", "interrupted")
    assert (left.state, left.cause) == ("left", "interrupted")


@pytest.mark.long
def test_whoever_stops_a_training_is_heard_by_all_its_machines(bare: Bare) -> None:
    bare.start(WAIT, machines=2)
    bare.await_line("ready", 0)
    key = leave_uri(bare.output).removeprefix(bare.bucket.uri(""))
    bare.bucket.put_once(key, leave_body(Verdict(STOPPED, "it was cancelled"), "sweep"))
    for index in (0, 1):
        outcome = bare.outcome(index)
        assert (outcome.state, outcome.cause, outcome.reason) == ("left", "stopped", "sweep: it was cancelled")


def test_a_training_that_hangs_is_killed_when_its_time_is_up(bare: Bare) -> None:
    bare.start(DEAF, max_runtime_s=2, grace_s=0.5)
    outcome = bare.outcome()
    assert (outcome.state, outcome.cause, outcome.exit_code) == ("failed", "timeout", 137)
    assert outcome.reason == "it ran for longer than 2 s"


def test_a_pod_ends_by_itself_in_time_whatever_hangs(bare: Bare) -> None:
    bare.own["SWEEP_ENDS_S"] = "6"
    bare.start(DEAF, max_runtime_s=3600)
    assert bare.machines[0].wait(60) == 124


DOCKER = """#!/bin/sh
echo "docker $1" >> $0.calls
test $1 = run || exit 0
while test "$1" != --entrypoint; do shift; done
program=$2; shift 3
exec $program "$@"
"""


def test_in_a_container_it_finds_its_folders_and_variables_as_on_the_machine(bare: Bare) -> None:
    docker = bare.folder / "bin" / "docker"
    docker.parent.mkdir()
    docker.write_text(DOCKER)
    docker.chmod(0o755)
    bare.start(SHOW, environment={"COLOUR": "blue"}, image="team/train:1", path=(str(docker.parent), *PATH))
    outcome = bare.outcome()
    assert (outcome.state, outcome.cause) == ("done", ""), bare.log()
    assert docker.with_name("docker.calls").read_text().split("\n")[:2] == ["docker pull", "docker run"]


def test_a_machine_that_does_not_come_is_not_awaited_for_ever(bare: Bare) -> None:
    bare.start(SHOW, machines=1, instances=2, meet_s=0.5)
    outcome = bare.outcome()
    assert (outcome.state, outcome.cause) == ("failed", "interrupted")
    assert "machine 1 did not come" in outcome.reason


def test_data_that_is_not_there_is_the_reason(bare: Bare) -> None:
    bare.start(SHOW, channels={"training": Channel("s3://no-such-bucket-of-anybody/data/")})
    outcome = bare.outcome()
    assert (outcome.state, outcome.cause, outcome.began_at) == ("failed", "task", 0.0)
    assert "NoSuchBucket" in outcome.reason


def test_checkpoints_are_in_s3_while_it_runs_and_the_next_attempt_goes_on_from_them(bare: Bare) -> None:
    where = bare.bucket.uri(f"{bare.name}/checkpoints/0")
    bare.start("again = False\n" + SAVING, checkpoints=where)
    bare.await_line("step 1")
    bare.await_that(
        lambda: any(one.key.endswith("label.json") for one in bare.bucket.list(f"{bare.name}/checkpoints/0/")),
        "checkpoint",
    )
    bare.end()  # without a word, as a machine whose power is gone
    again = Bare(bare.bucket, bare.folder / "again", f"{bare.name}-again", bare.environ)
    again.folder.mkdir()
    try:
        again.start("again = True\n" + SAVING, checkpoints=where)
        outcome = again.outcome()
        assert outcome.state == "done", again.log()
        assert "goes on after step 1" in again.log()
        assert "step 0" not in again.log()
    finally:
        again.end()


@pytest.mark.parametrize("kind", ["instance", "pod"])
def test_the_stub_is_small_and_fits_between_quotes(kind: str) -> None:
    stub = make_stub(kind)
    assert len(stub.encode()) <= 2200
    assert "'" not in stub
