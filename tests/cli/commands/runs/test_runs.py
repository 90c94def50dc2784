from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from orchestrator.runs.views.status import RunRow
from tests.cli.fake import NOVEMBER

if TYPE_CHECKING:
    from tests.cli.calls import Sweep
    from tests.cli.fake import FakeOrchestrator

pytestmark = pytest.mark.usefixtures("team")


def test_runs_are_listed_in_a_table(sweep: Sweep) -> None:
    header, line = sweep("runs").out.splitlines()
    assert header.split() == ["NAME", "CREATED", "STATE", "TASKS", "COST"]
    assert line.split()[0] == "nightly"
    assert line.split()[-3:] == ["running", "24", "$1.50"]


def test_runs_are_json(sweep: Sweep) -> None:
    [run] = json.loads(sweep("runs", "--json").out)
    assert run == {"name": "nightly", "created_at": 1795000000.0, "tasks": 24, "state": "running", "usd": 1.5}


def test_a_run_of_which_nobody_here_knows_how_it_stands_has_no_cost(
    sweep: Sweep, team: FakeOrchestrator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(team, "runs", lambda **_: [RunRow("weekly", NOVEMBER, 24, "unknown", None)])
    assert sweep("runs").out.splitlines()[1].split()[3:5] == ["unknown", "24"]
    assert json.loads(sweep("runs", "--json").out)[0]["usd"] is None


def test_no_runs_is_no_data_and_a_word_what_to_do(
    sweep: Sweep, team: FakeOrchestrator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(team, "runs", lambda **_: [])
    ended = sweep("runs")
    assert (ended.code, ended.out) == (0, "")
    assert "sweep submit" in ended.err
    assert json.loads(sweep("runs", "--json").out) == []
