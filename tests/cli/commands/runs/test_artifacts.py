from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.fake import FakeOrchestrator, row

if TYPE_CHECKING:
    from tests.cli.calls import Sweep

MODEL = "s3://data-eu-west-1/runs/nightly/output/nightly-1-1/output/model.tar.gz"


@pytest.fixture(autouse=True)
def _a_model(team: FakeOrchestrator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Task 1 has left a model, task 0 nothing."""
    team.opened.rows = [row(1, 0.25, artifact=MODEL), row(0)]
    monkeypatch.chdir(tmp_path)


def test_the_list_has_a_line_for_each_task_that_left_something(sweep: Sweep) -> None:
    header, line = sweep("artifacts", "list").out.splitlines()
    assert header.split() == ["TASK", "STATE", "REGION", "ARTIFACT"]
    assert line.split() == ["1", "done", "eu-west-1", MODEL]
    (only,) = json.loads(sweep("artifacts", "list", "--json").out)
    assert only == {"task": 1, "state": "done", "region": "eu-west-1", "artifact": MODEL}


def test_where_nothing_was_left_the_list_says_so(sweep: Sweep) -> None:
    assert sweep("artifacts", "list", "--task", "0").err == "no task has left anything yet\n"


def test_the_best_model_is_fetched_into_a_folder(sweep: Sweep) -> None:
    assert sweep("artifacts", "get", "--limit", "1", "--to", "best").out == "1: best/1/model.tar.gz (5 B)\n"
    assert Path("best/1/model.tar.gz").read_bytes() == b"12345"


def test_what_was_fetched_is_json(sweep: Sweep) -> None:
    (only,) = json.loads(sweep("artifacts", "get", "--task", "1", "--json").out)
    assert only == {"task": 1, "uri": MODEL, "path": "models/1/model.tar.gz"}


def test_get_asks_which_tasks_are_meant(sweep: Sweep) -> None:
    asked = sweep("artifacts", "get")
    assert asked.code == 2
    assert asked.err == "error: the newest run: of which tasks? (--task 3,7-9 or --limit 1, the best)\n"


def test_get_of_a_task_that_left_nothing_says_so(sweep: Sweep) -> None:
    said = sweep("artifacts", "get", "--task", "0").err
    assert said == "error: nightly: these tasks have left nothing (`sweep artifacts list` has all)\n"


def test_results_name_the_artifact_in_json_and_csv(sweep: Sweep) -> None:
    assert json.loads(sweep("results", "--json").out)[0]["artifact"] == MODEL
    assert MODEL in sweep("results", "--csv").out
    assert MODEL not in sweep("results").out
