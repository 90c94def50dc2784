"""A shell completes the names of runs and the kinds of catalog files, and makes nothing by asking."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.cli.complete import run_names
from tests.runs.bench import ACCOUNT, Desk

if TYPE_CHECKING:
    from tests.cli.calls import Sweep


def context(**given: str) -> Any:
    return SimpleNamespace(find_root=lambda: SimpleNamespace(params=given))


@pytest.fixture
def database(tmp_path: Path) -> str:
    desk = Desk(tmp_path)
    ledger = desk.ledger()
    for name in ("nightly-1", "nightly-2", "weekly"):
        ledger.remember(desk.anchor(name=name), ACCOUNT)
    return f"sqlite:///{tmp_path / 'ours.db'}"


def completed(words: str, database: str) -> set[str]:
    """Return what zsh is offered for the last of these words."""
    environment = {
        **os.environ,
        "_SWEEP_COMPLETE": "complete_zsh",
        "_TYPER_COMPLETE_ARGS": words,
        "SWEEP_DATABASE": database,
    }
    program = "from orchestrator.cli.program import app; app(prog_name='sweep')"
    ended = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False
    )
    return {word for word in ("nightly-1", "nightly-2", "weekly", "prices", "quotas") if f'"{word}"' in ended.stdout}


@pytest.mark.usefixtures("nobodys_settings")
def test_a_shell_is_offered_runs_and_kinds(database: str) -> None:
    assert completed("sweep status nigh", database) == {"nightly-1", "nightly-2"}
    assert completed("sweep catalog show p", database) == {"prices"}


@pytest.mark.usefixtures("nobodys_settings")
def test_the_database_may_be_named_before_the_command(database: str) -> None:
    assert run_names(context(database=database), "w") == ["weekly"]


def test_completing_a_word_makes_no_database_and_no_complaint(sweep: Sweep) -> None:  # noqa: ARG001
    assert run_names(context(database="sqlite:///nowhere.db"), "") == []
    assert run_names(context(database="no database at all"), "") == []
    assert list(Path.cwd().iterdir()) == []
