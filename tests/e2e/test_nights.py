"""Nights on a whole AWS: the commands of the page as they stand, and a night that Scheduler begins by its clock."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.localcloud import LocalCloud

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "nightly.md").read_text(encoding="utf-8")
BIN = Path(sys.executable).parent
PATIENCE_S = 300.0

pytestmark = pytest.mark.long


class Shell:
    """A newcomer's terminal, in an empty folder."""

    def __init__(self, cloud: LocalCloud, folder: Path) -> None:
        self.cloud, self.folder = cloud, folder
        inherited = {name: text for name, text in os.environ.items() if not name.startswith(("AWS_", "SWEEP_"))}
        self.environment = (
            inherited
            | cloud.environment
            | {"XDG_STATE_HOME": str(folder.parent), "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
        )

    def __call__(self, command: str) -> str:
        done = subprocess.run(
            shlex.split(command), cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def history(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = json.loads(self("sweep schedule history nightly --json"))
        return rows


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    (tmp_path / "work").mkdir()
    with LocalCloud(tmp_path / "sweep" / "local") as cloud:  # where `sweep local` looks for one
        yield Shell(cloud, tmp_path / "work")


def example() -> list[str]:
    """The commands of the page's first block."""
    block = PAGE.partition("\n## An example\n")[2].partition("\nThe first `run-now`")[0]
    return re.findall(r"^    (sweep .*)$", block, re.MULTILINE)


def by_the_clock() -> list[str]:
    """The commands of the page that let the next night begin."""
    block = PAGE.partition("\nOn the local cloud, the next night begins when you say so:\n")[2].partition(
        "\nThe same can"
    )[0]
    return re.findall(r"^    (sweep .*)$", block, re.MULTILINE)


def test_the_example_of_the_page_and_a_night_by_the_clock(shell: Shell) -> None:
    commands = example()
    assert len(commands) == 8
    said = [shell(command) for command in commands]
    first, second = said[5:7]
    assert "12 of 12 tasks done" in first
    assert "nothing new: all 12 tasks are trained already" in second
    for command in by_the_clock():
        said.append(shell(command))
    assert "02:0" in said[-2]
    until = time.monotonic() + PATIENCE_S
    while not (nights := [row for row in shell.history() if "-r" not in row["night"]]) or nights[0]["state"] != "ended":
        assert time.monotonic() < until, nights
        time.sleep(2)
    assert [(row["exit"], row["why"]) for row in nights] == [(0, "nothing new: all 12 tasks are trained already")]
    assert len(json.loads(shell("sweep runs --json"))) == 1
    shell("sweep schedule delete nightly --yes")
