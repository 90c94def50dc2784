from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from typing import TYPE_CHECKING

import pytest

from orchestrator import localcloud

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.cli.calls import Sweep


SWEEP = (sys.executable, "-c", "import sys; from orchestrator.cli.app import main; sys.exit(main())")


@pytest.fixture
def home(tmp_path: Path, sweep: Sweep) -> Iterator[Path]:
    """Whatever runs there is stopped."""
    yield tmp_path / "cloud"
    sweep("local", "down", "--home", tmp_path / "cloud")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a cloud in the background, for the tests that do not end it."""
    folder = tmp_path_factory.mktemp("running")
    localcloud.up(folder)
    yield folder
    localcloud.down(folder)


def test_a_cloud_in_the_background_can_be_found_and_stopped(sweep: Sweep, home: Path) -> None:
    up = sweep("local", "up", "-d", "--home", home, "--regions", "eu-west-1,eu-north-1")
    assert up.code == 0
    assert up.out.startswith("export AWS_ENDPOINT_URL=http://127.0.0.1:")
    assert up.out.count("\n") == 1
    found = sweep("local", "status", "--home", home)
    assert (found.code, found.out) == (0, up.out)
    assert sweep("local", "down", "--home", home).err == "stopped\n"
    gone = sweep("local", "status", "--home", home)
    assert (gone.code, gone.out) == (1, "")


def test_a_shell_takes_the_line_as_it_is(sweep: Sweep, running: Path) -> None:
    line = sweep("local", "status", "--home", running).out
    shell = subprocess.run(
        ["sh", "-c", f'{line}echo "$AWS_ENDPOINT_URL $SWEEP_REGION_BUCKET $SWEEP_POLL_S"'],
        capture_output=True,
        text=True,
        check=True,
    )
    report = json.loads(sweep("local", "status", "--home", running, "--json").out)
    assert shell.stdout.split() == [report["endpoint"], "sweep-local-{region}", "1"]
    assert report["environment"]["AWS_ENDPOINT_URL"] == report["endpoint"]


def test_none_that_runs_is_json_too(sweep: Sweep, home: Path) -> None:
    ended = sweep("local", "status", "--home", home, "--json")
    assert (ended.code, json.loads(ended.out)["running"]) == (1, False)
    assert json.loads(sweep("local", "down", "--home", home, "--json").out)["running"] is False


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)])
def test_a_cloud_in_the_foreground_ends_with_its_command(home: Path, number: signal.Signals) -> None:
    process = subprocess.Popen(
        [*SWEEP, "local", "up", "--home", home, "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    page = json.loads("".join(iter(process.stdout.readline, "}\n")) + "}")["page"]
    urllib.request.urlopen(page, timeout=20).close()
    os.killpg(process.pid, number)
    assert process.wait(timeout=30) == 128 + number
    with pytest.raises(OSError, match=r"refused"):
        urllib.request.urlopen(page, timeout=20)


@pytest.mark.parametrize("background", [["-d"], []])
def test_a_port_in_use_is_one_clear_line(home: Path, background: list[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        command = [*SWEEP, "local", "up", *background, "--home", home, "--port", str(port)]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == f"error: port {port} is in use: choose another with --port, or 0 for any free one\n"


NOWHERE = [("us-east-1,mars-1", "there is no Region mars-1"), (",", "a cloud without Regions")]


@pytest.mark.parametrize(("regions", "said"), NOWHERE)
def test_regions_that_there_are_not_are_one_clear_line(sweep: Sweep, home: Path, regions: str, said: str) -> None:
    ended = sweep("local", "up", "-d", "--home", home, "--regions", regions)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert ended.err.startswith(f"error: {said}: choose some of us-east-1, ")


@pytest.mark.parametrize(("regions", "said"), NOWHERE[:1])
def test_in_the_foreground_they_are_too(home: Path, regions: str, said: str) -> None:
    command = [*SWEEP, "local", "up", "--home", str(home), "--regions", regions]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1)
    assert ended.stderr.startswith(f"error: {said}: choose some of us-east-1, ")


def test_a_second_cloud_in_the_same_folder_is_refused(sweep: Sweep, running: Path) -> None:
    ended = sweep("local", "up", "-d", "--home", running)
    assert (ended.code, ended.out) == (2, "")
    assert "already runs" in ended.err


def test_its_clock_is_shown_and_moved_on(sweep: Sweep, running: Path) -> None:
    before = json.loads(sweep("local", "clock", "--home", running, "--json").out)["now"]
    moved = json.loads(sweep("local", "clock", "--by", "1d12h", "--home", running, "--json").out)["now"]
    assert 0 <= moved - before - 36 * 3600 < 600
    said = sweep("local", "clock", "--to", "02:00", "--timezone", "Europe/Berlin", "--home", running).out
    assert " 02:0" in said  # and the minutes that this machine took
    assert " CE" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--by", "tomorrow"), "error: --by: 'tomorrow' is no length of time (write it like 90m, 24h or 1d12h)"),
        (("--by", "-5m"), "error: --by: '-5m' is no length of time"),
        (("--to", "25:00"), "error: --to: '25:00' is no time of day (write it like 02:00)"),
        (("--to", "02:00", "--by", "5m"), "is it to be moved by a time, or to a time?"),
        (("--to", "02:00", "--timezone", "Europe/Berln"), "did you mean 'Europe/Berlin'?"),
    ],
)
def test_a_time_that_is_none_is_told(sweep: Sweep, running: Path, options: tuple[str, ...], said: str) -> None:
    ended = sweep("local", "clock", *options, "--home", running)
    assert (ended.code, said in ended.err) == (2, True), ended.err


def test_no_cloud_has_no_clock(sweep: Sweep, home: Path) -> None:
    ended = sweep("local", "clock", "--home", home)
    assert (ended.code, ended.out) == (2, "")
    assert "no local cloud runs: `sweep local up` starts one" in ended.err


def test_faults_are_asked_for_shown_and_taken_back(sweep: Sweep, tmp_path: Path, running: Path) -> None:
    assert "no local cloud runs" in sweep("local", "fault", "slow", "s3:*", "--seconds", "2", "--home", tmp_path).err
    made = sweep("local", "fault", "throttle", "sagemaker:Create*", "--percent", "30", "--seed", "7", "--home", running)
    assert (made.code, made.out) == (0, "1\n")
    sweep("local", "fault", "down", "--in", "eu-west-1", "--home", running)
    shown = json.loads(sweep("local", "faults", "--home", running, "--json").out)
    assert [(each["kind"], each["what"], each["region"]) for each in shown] == [
        ("throttle", "sagemaker:Create*", "*"),
        ("down", "*", "eu-west-1"),
    ]
    sweep("local", "faults", "--clear", "--id", "1", "--home", running)
    assert "throttle" not in sweep("local", "faults", "--home", running).out
    sweep("local", "faults", "--clear", "--home", running)
    assert json.loads(sweep("local", "faults", "--home", running, "--json").out) == []


def test_a_fault_that_makes_no_sense_is_refused_in_one_line(sweep: Sweep, running: Path) -> None:
    refused = sweep("local", "fault", "boom", "--home", running)
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith("error: there is no fault boom: there are throttle,")
