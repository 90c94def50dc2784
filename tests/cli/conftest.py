"""`sweep(...)` calls the command in this process, `shell(...)` as a program of its own with the fake orchestrator."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from orchestrator.cli.app import main
from orchestrator.cli.session import Session
from tests.cli.calls import Ended, Shell, Sweep
from tests.cli.fake import FakeOrchestrator

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def team(monkeypatch: pytest.MonkeyPatch) -> FakeOrchestrator:
    fake = FakeOrchestrator()
    monkeypatch.setattr(Session, "orchestrator", fake)
    return fake


@pytest.fixture
def nobodys_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An empty folder, and neither a user's settings nor an AWS account."""
    for name in os.environ:
        if name.startswith(("AWS_", "SWEEP_", "XDG_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")


@pytest.fixture
def sweep(capsys: pytest.CaptureFixture[str], nobodys_settings: None) -> Sweep:  # noqa: ARG001

    def run(*arguments: object) -> Ended:
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Ended(code, out, err)

    return run


@pytest.fixture
def project(sweep: Sweep) -> Path:
    """The folder that `sweep init` makes, its catalog loaded."""
    sweep("init")
    assert sweep("catalog", "load", "catalog").code == 0
    return Path.cwd()


@pytest.fixture
def shell() -> Iterator[Shell]:
    """Whatever a test leaves running is ended."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str, fake: str = "") -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "tests.cli.fake", *arguments]
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=_environment(fake))
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def _environment(fake: str) -> dict[str, str]:
    """Buffered, as on a user's machine, whatever holds for the tests."""
    return {**{name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}, "FAKE": fake}
