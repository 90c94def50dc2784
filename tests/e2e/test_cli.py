"""The commands as a person types them, against a whole AWS."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.cli.app import main

if TYPE_CHECKING:
    from tests.fixtures.team import Team

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)

SWEEP = Path(sys.executable).with_name("sweep")


@dataclass(frozen=True)
class Shell:
    """A person of the team, in the folder of the sweep."""

    team: Team
    environment: dict[str, str]

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [SWEEP, *arguments],
            cwd=self.team.folder,
            env=os.environ | self.environment,
            stdin=subprocess.DEVNULL,
            stdout=pipe,
            stderr=pipe,
            text=True,
        )

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        process = self.start(*arguments)
        out, err = process.communicate(timeout=120)
        return process.returncode, out, err

    def json(self, *arguments: str) -> Any:
        """What the command tells a program. It runs in this process, which says the same and need not start."""
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()) as out:
            patch.chdir(self.team.folder)
            for variable, value in self.environment.items():
                patch.setenv(variable, value)
            assert main([*arguments, "--json"]) == 0
        return json.loads(out.getvalue())


@pytest.fixture
def sweep(team: Team, cloud_environment: dict[str, str]) -> Shell:
    settings = {"SWEEP_DATABASE": team.settings.database, "SWEEP_POLL_S": "0.3"}
    return Shell(team, cloud_environment | settings)


def test_from_a_sweep_file_to_results_and_their_cost(sweep: Shell, name: str) -> None:
    sweep.team.plan("[1]")
    code, out, _ = sweep("plan", "sweep.yaml", "-o", "plan.json")
    assert (code, "us-east-1" in out) == (0, True)
    code, out, err = sweep("submit", "plan.json", "--yes", "--name", name, "--watch")
    assert (code, out) == (0, f"{name}\n")
    assert f"{name}: 2/2 done" in err
    assert [row["metrics"]["loss"] for row in sweep.json("results", name)] == [2.0, 2.0]
    assert {row["region"] for row in sweep.json("cost", name)["rows"]} == {"us-east-1", "eu-west-1"}
    assert name in [run["name"] for run in sweep.json("runs")]
    _, log, _ = sweep("logs", name, "--task", "0")
    assert "[0] read 8 bytes\n" in log
    assert "[1] " not in log


@pytest.mark.long
def test_every_result_stands_beside_the_point_it_came_from(sweep: Shell, name: str) -> None:
    sweep.team.plan("[1, 2]\n  a: [7, 8]", data="{campaigns: [alps]}")
    assert sweep("submit", "sweep.yaml", "--yes", "--name", name, "--watch")[0] == 0
    rows = sweep.json("results", name)
    assert all(row["metrics"]["loss"] == (row["point"]["x"] - 2) ** 2 + 1 for row in rows)


@pytest.mark.long
def test_what_failed_is_told_and_run_again(sweep: Shell, name: str) -> None:
    sweep.team.breaks(1)
    sweep.team.plan("[1, 2]", data="{campaigns: [alps]}")
    code, _, err = sweep("submit", "sweep.yaml", "--yes", "--name", name, "--watch")
    assert code == 5
    assert err.splitlines()[-1].startswith(f"error: {name}: 1 of 2 tasks failed")
    failed = sweep.json("results", name)[-1]
    assert failed["state"] == "failed"
    assert "x=1 is broken" in failed["reason"]
    sweep.team.breaks()
    assert sweep.json("retry", name)["count"] == 1
    assert sweep("watch", name)[0] == 0


def test_ctrl_c_leaves_the_run_running_until_it_is_cancelled(sweep: Shell, name: str) -> None:
    sweep.team.plan("[1, 2]", hang=600, data="{campaigns: [alps]}")
    assert sweep("submit", "sweep.yaml", "--yes", "--name", name)[0] == 0
    watching = sweep.start("watch", name)
    assert watching.stdout is not None
    while "2 running" not in watching.stdout.readline():
        assert watching.poll() is None
    watching.send_signal(signal.SIGINT)
    _, err = watching.communicate(timeout=30)
    assert (watching.returncode, err.count("\n")) == (130, 1)
    assert f"{name} goes on" in err
    assert sweep.json("status", name)["counts"]["running"] == 2
    assert sweep.json("cancel", name, "--yes")["state"] == "cancelled"
    assert sweep("watch", name)[0] == 1
