"""`sweep demo`, really run."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from orchestrator.demo import main
from orchestrator.demo.main import BEST, REGIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SWEEP = Path(sys.executable).parent / "sweep"
DEMO = Path(main.__file__).parent

SMALLER = """
import sys
from pathlib import Path
from orchestrator.cli.app import main
from orchestrator.demo import main as demo

demo.HERE = Path(sys.argv.pop())
sys.exit(main())
"""
"""`sweep demo` with the sweep of another folder."""


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """The folder where the demo keeps its files. When it has ended, none is left and nothing runs from there."""
    yield tmp_path
    deadline = time.monotonic() + 5  # killed processes take a moment to be gone
    while (left := running_from(tmp_path)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert left == []
    assert list(tmp_path.glob("sweep-*")) == []


def running_from(home: Path) -> list[str]:
    """Every process that was started with this folder among its words or its environment."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words, environment = (process / "cmdline").read_bytes(), (process / "environ").read_bytes()
        except OSError:  # it has ended, or is not ours
            continue
        if int(process.name) != os.getpid() and os.fsencode(home) in words + environment:
            found.append(words.replace(b"\0", b" ").decode())
    return found


def smaller(home: Path) -> list[str | Path]:
    """The command for the demo with one point for each campaign: 6 trainings, not 24."""
    shutil.copytree(DEMO / "training", home / "smaller" / "training")
    text = (DEMO / "sweep.yaml").read_text()
    for axis, point in (("learning_rate: [0.01, 0.1]", "learning_rate: [0.1]"), ("[32, 128]", "[128]")):
        assert text.count(axis) == 1
        text = text.replace(axis, point)
    (home / "smaller" / "sweep.yaml").write_text(text)
    return [sys.executable, "-c", SMALLER, "demo", home / "smaller"]


def started(home: Path, command: Sequence[str | Path], stderr: int = subprocess.PIPE) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command,
        cwd=home,
        env=os.environ | {"TMPDIR": str(home), "AWS_PROFILE": "not-to-be-used"},
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
    )


@pytest.mark.parametrize("tasks", [6, pytest.param(24, marks=pytest.mark.long)])
def test_the_demo_goes_from_data_to_a_leaderboard(home: Path, tasks: int) -> None:
    demo = started(home, [SWEEP, "demo"] if tasks == 24 else smaller(home))
    output, errors = demo.communicate(timeout=300)
    assert demo.returncode == 0, errors
    plan, leaderboard, invoice = tables(output)
    assert {row["REGION"] for row in plan} == set(REGIONS)
    losses = [float(row["VAL_LOSS"]) for row in leaderboard]
    assert len(losses) == min(tasks, BEST)
    assert losses == sorted(losses)
    assert losses[-2] < 0.02  # one campaign is too noisy to be learned so well
    assert {row["REGION"] for row in invoice} == set(REGIONS)
    assert f"{tasks}/{tasks} done" in errors
    assert "sweep init" in output


def tables(output: str) -> list[list[dict[str, str]]]:
    """Each table's rows by heading: from a line in capitals to a blank one."""
    found: list[list[dict[str, str]]] = []
    headings: list[str] = []
    for line in output.splitlines():
        if line.isupper():
            headings = line.split()
            found.append([])
        elif not line:
            headings = []
        elif headings:
            found[-1].append(dict(zip(headings, line.split(), strict=True)))
    return found


@pytest.mark.parametrize(
    "moment",
    [
        "Starting AWS",
        *(pytest.param(moment, marks=pytest.mark.long) for moment in ("in the catalog", "Submitted", "running")),
    ],
)
def test_ctrl_c_at_any_moment_leaves_nothing(home: Path, moment: str) -> None:
    demo = started(home, smaller(home), stderr=subprocess.STDOUT)
    assert demo.stdout is not None
    while moment not in (line := demo.stdout.readline()):
        assert line, "it ended before"
    demo.send_signal(signal.SIGINT)
    output, _ = demo.communicate(timeout=60)
    assert (demo.returncode, output.splitlines()[-1]) == (130, "interrupted")
