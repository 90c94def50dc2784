"""`sweep(...)` calls the command in this process, `shell(...)` as a program, both with the orchestrator of fake.py."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from orchestrator.cli.app import main
from orchestrator.cli.session import Session
from tests.cli.fake import FakeOrchestrator


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str


Sweep = Callable[..., Ended]


@pytest.fixture
def team(monkeypatch: pytest.MonkeyPatch) -> FakeOrchestrator:
    fake = FakeOrchestrator()
    monkeypatch.setattr(Session, "orchestrator", fake)
    return fake


@pytest.fixture
def sweep(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Sweep:
    """Wherever it is called, nobody's settings are found."""

    def run(*arguments: object) -> Ended:
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Ended(code, out, err)

    return run


@pytest.fixture
def shell() -> Iterator[Callable[..., subprocess.Popen[str]]]:
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
