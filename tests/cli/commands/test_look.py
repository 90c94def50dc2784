from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from orchestrator.runs.views import LogLine
from tests.cli.fake import FakeOrchestrator, status

if TYPE_CHECKING:
    from tests.cli.calls import Sweep

pytestmark = pytest.mark.usefixtures("team")


def test_runs_are_listed_in_a_table(sweep: Sweep) -> None:
    header, line = sweep("runs").out.splitlines()
    assert header.split() == ["NAME", "CREATED", "STATE", "TASKS", "COST"]
    assert line.split()[0] == "nightly"
    assert line.split()[-3:] == ["running", "24", "$1.50"]


def test_runs_are_json(sweep: Sweep) -> None:
    [run] = json.loads(sweep("runs", "--json").out)
    assert run == {"name": "nightly", "created_at": 1795000000.0, "tasks": 24, "state": "running", "usd": 1.5}


def test_no_runs_is_no_data_and_a_word_what_to_do(
    sweep: Sweep, team: FakeOrchestrator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(team, "runs", list)
    ended = sweep("runs")
    assert (ended.code, ended.out) == (0, "")
    assert "sweep submit" in ended.err
    assert json.loads(sweep("runs", "--json").out) == []


def test_the_status_is_a_line_and_a_table_by_region(sweep: Sweep, team: FakeOrchestrator) -> None:
    team.opened.statuses = [status(done=3, running=2, failed=1)]
    lines = sweep("status").out.splitlines()
    assert lines[0] == "nightly: 3/6 done, 2 running, 1 failed, $4.00"
    assert lines[2].split() == ["REGION", "RUNNING", "STARTING", "PENDING", "DONE", "FAILED", "CANCELLED"]
    assert lines[3].split() == ["eu-west-1", "2", "0", "0", "3", "1", "0"]


def test_what_runs_has_cost_something_already(sweep: Sweep, team: FakeOrchestrator) -> None:
    team.opened.statuses = [replace(status(done=3, running=2), running_usd=0.25)]
    assert sweep("status").out.splitlines()[0] == "nightly: 3/5 done, 2 running, $3.00 and about $0.25 running"
    assert json.loads(sweep("status", "--json").out)["running_usd"] == 0.25


def test_the_status_as_json_says_how_it_ended_and_names_every_state(sweep: Sweep, team: FakeOrchestrator) -> None:
    team.opened.statuses = [status(done=3, failed=1)]
    body = json.loads(sweep("status", "nightly", "--json").out)
    assert body["state"] == "partly_failed"
    assert body["finished"] is True
    assert body["counts"] == {"running": 0, "starting": 0, "pending": 0, "done": 3, "failed": 1, "cancelled": 0}
    assert body["regions"] == {"eu-west-1": body["counts"]}


@pytest.mark.parametrize("command", ["status", "results", "cost", "logs"])
def test_news_is_asked_for_before_something_is_shown(sweep: Sweep, team: FakeOrchestrator, command: str) -> None:
    sweep(command)
    assert team.opened.calls[0] == "sync"


@pytest.mark.parametrize("command", ["status", "results", "cost"])
def test_no_sync_shows_what_is_known_here(sweep: Sweep, team: FakeOrchestrator, command: str) -> None:
    assert sweep(command, "--no-sync").code == 0
    assert team.opened.calls == []


@pytest.mark.parametrize("command", ["status", "watch", "logs", "results", "cost", "retry", "sync"])
def test_a_run_that_does_not_exist_is_said_so(sweep: Sweep, command: str) -> None:
    ended = sweep(command, "weekly")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "error: no run 'weekly' (`sweep runs` lists them)\n"


def test_logs_say_which_task_wrote_a_line(sweep: Sweep) -> None:
    assert sweep("logs").out == "[3] loss=0.5\n"


def test_the_help_of_logs_promises_the_trainings_alone(sweep: Sweep) -> None:
    told = " ".join(sweep("logs", "--help").out.split())
    assert "launcher" not in told
    assert "`sweep results` has the reason" in told


def test_logs_of_some_tasks_are_followed(sweep: Sweep, team: FakeOrchestrator) -> None:
    sweep("logs", "--task", "3,7-9", "-f")
    assert ("logs", "3,7-9", True) in team.opened.calls


def test_logs_as_json_are_an_object_a_line(sweep: Sweep, team: FakeOrchestrator) -> None:
    team.opened.lines = [LogLine(3, "algo-1", "a"), LogLine(4, "algo-1", "b")]
    lines = [json.loads(line) for line in sweep("logs", "--json").out.splitlines()]
    assert lines == [
        {"task": 3, "stream": "algo-1", "text": "a"},
        {"task": 4, "stream": "algo-1", "text": "b"},
    ]


def test_the_cost_is_a_table_with_its_sum(sweep: Sweep) -> None:
    lines = sweep("cost").out.splitlines()
    assert lines[1].split() == ["eu-west-1", "ml.m5.xlarge", "spot", "2", "1h30m", "$0.25"]
    assert lines[-1] == "nightly: $0.25 for 1h30m of machine time"


def test_the_cost_is_json(sweep: Sweep) -> None:
    body = json.loads(sweep("cost", "--json").out)
    assert (body["run"], body["usd"], body["hours"]) == ("nightly", 0.25, 1.5)
    assert body["rows"][0]["instance_type"] == "ml.m5.xlarge"
