"""`sweep demo`, really run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from orchestrator.demo.main import BEST, REGIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

SWEEP = Path(sys.executable).parent / "sweep"


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


def started(home: Path, stderr: int = subprocess.PIPE) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [SWEEP, "demo"],
        cwd=home,
        env=os.environ | {"TMPDIR": str(home), "AWS_PROFILE": "not-to-be-used"},
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
    )


def test_the_demo_goes_from_data_to_a_leaderboard(home: Path) -> None:
    demo = started(home)
    output, errors = demo.communicate(timeout=300)
    assert demo.returncode == 0, errors
    plan, leaderboard, invoice = tables(output)
    assert {row["REGION"] for row in plan} == set(REGIONS)
    losses = [float(row["VAL_LOSS"]) for row in leaderboard]
    assert len(losses) == BEST
    assert losses == sorted(losses)
    assert losses[-1] < 0.02
    assert {row["REGION"] for row in invoice} == set(REGIONS)
    assert "24/24 done" in errors
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


@pytest.mark.parametrize("moment", ["Starting AWS", "in the catalog", "Submitted", "running"])
def test_ctrl_c_at_any_moment_leaves_nothing(home: Path, moment: str) -> None:
    demo = started(home, stderr=subprocess.STDOUT)
    assert demo.stdout is not None
    while moment not in (line := demo.stdout.readline()):
        assert line, "it ended before"
    demo.send_signal(signal.SIGINT)
    output, _ = demo.communicate(timeout=60)
    assert (demo.returncode, output.splitlines()[-1]) == (130, "interrupted")
