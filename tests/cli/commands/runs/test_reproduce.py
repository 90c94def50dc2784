"""`sweep reproduce` makes a folder from which one task is trained again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from orchestrator.cli.session import Session
from orchestrator.runs.reproduce import Reproduced
from tests.cli.fake import FakeOrchestrator, FakeRun

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.calls import Sweep


@dataclass
class Reproducing(FakeRun):
    def reproduce(self, task: int, folder: Path) -> Reproduced:
        self.calls.append((task, str(folder)))
        return Reproduced(folder, folder / "sweep.yaml", 3, "registry/x@sha256:0")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Reproducing:
    run = Reproducing()
    monkeypatch.setattr(Session, "orchestrator", FakeOrchestrator(run))
    return run


def test_the_folder_is_called_like_the_task(sweep: Sweep, run: Reproducing) -> None:
    ended = sweep("reproduce", "nightly", "7")
    assert run.calls[-1] == (7, "nightly-7")
    assert ended.out == "nightly-7/sweep.yaml: task 7 of nightly, 3 source files, image registry/x@sha256:0\n"
    assert ended.err == "`sweep plan nightly-7/sweep.yaml` plans it\n"


def test_another_folder_may_be_named(sweep: Sweep, run: Reproducing) -> None:
    made = json.loads(sweep("reproduce", "nightly", "7", "--to", "again", "--json").out)
    assert run.calls[-1] == (7, "again")
    assert (made["folder"], made["files"]) == ("again", 3)


@pytest.mark.usefixtures("run")
@pytest.mark.parametrize("task", ["-1", "x", "1.5", ""])
def test_what_is_no_number_is_no_task(sweep: Sweep, task: str) -> None:
    assert sweep("reproduce", "nightly", "--", task).code == 2
