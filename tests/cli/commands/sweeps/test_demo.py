"""The demo is shown as its commands would. What it does is tested with the demo itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from orchestrator.demo import main
from orchestrator.errors import PartlyFailed, UsageError
from tests.cli.fake import FakeRun, status

if TYPE_CHECKING:
    from orchestrator.demo.main import DemoOutput
    from tests.cli.calls import Sweep


@pytest.fixture
def perform(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A demo without its cloud. What is returned is how its processes were to start, and where unless on SageMaker."""
    started: list[str] = []

    def run_demo(output: DemoOutput, *, parallel: str, platform: str) -> None:
        started.append(f"{parallel} {platform}".strip())
        run = FakeRun(statuses=[status(running=2), status(done=2)])
        output.say("Starting AWS on this machine")
        output.watch(run.watch())
        output.results(run.results())
        output.cost(run.cost())

    monkeypatch.setattr(main, "run_demo", run_demo)
    return started


def test_the_demo_shows_each_step_as_its_command_would(sweep: Sweep, perform: list[str]) -> None:
    ended = sweep("demo")
    assert ended.code == 0
    assert ended.out.startswith("Starting AWS on this machine\n")
    assert "oslo@1" in ended.out
    assert "$0.25 for 1h30m" in ended.out
    assert ended.err.splitlines() == ["nightly: 0/2 done, 2 running, $0.00", "nightly: 2/2 done, $2.00"]
    assert perform == ["mpi"]


@pytest.mark.usefixtures("perform")
def test_the_demo_as_json_is_one_object(sweep: Sweep) -> None:
    ended = sweep("demo", "--json")
    body = json.loads(ended.out)
    assert [row["task"] for row in body["results"]] == [1, 0]
    assert body["cost"]["usd"] == 0.25
    assert "Starting AWS" in ended.err


def test_processes_start_as_asked(sweep: Sweep, perform: list[str]) -> None:
    sweep("demo", "--parallel", "torchrun")
    assert perform == ["torchrun"]
    assert sweep("demo", "--parallel", "slurm").code == 2


def test_it_trains_on_the_platform_that_is_named(sweep: Sweep, perform: list[str]) -> None:
    assert sweep("demo", "--platform", "ec2").code == 0
    assert perform == ["mpi ec2"]
    assert sweep("demo", "--platform", "ec2", "--nightly").code == 2


@pytest.mark.parametrize(("error", "code"), [(UsageError("torch is not installed"), 2), (PartlyFailed("m"), 5)])
def test_what_went_wrong_is_the_exit_code(
    sweep: Sweep, monkeypatch: pytest.MonkeyPatch, error: Exception, code: int
) -> None:
    def run_demo(_output: DemoOutput, *, parallel: str, platform: str) -> None:  # noqa: ARG001
        raise error

    monkeypatch.setattr(main, "run_demo", run_demo)
    assert sweep("demo").code == code
