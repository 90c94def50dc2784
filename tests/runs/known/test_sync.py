"""The database is a cache of the control bucket; and sync speaks for launchers that died without a word."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from orchestrator.wire.ranges import Ranges
from orchestrator.wire.result import TaskState
from tests.fixtures.database import whole_runs

if TYPE_CHECKING:
    from tests.fixtures.team import Team


@whole_runs
def test_an_empty_database_learns_a_run_from_the_bucket(team: Team, name: str) -> None:
    run = team.orchestrator().submit(team.plan("[2]"), name=name)
    list(run.watch(every_s=0.3))
    elsewhere = team.orchestrator("empty.db").run(name)
    assert elsewhere.sync() == 2
    assert elsewhere.status() == run.status()
    assert elsewhere.results() == run.results()
    assert elsewhere.sync() == 0


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_logs_need_no_database_that_knows_the_run(team: Team, name: str) -> None:
    list(team.orchestrator().submit(team.plan("[2]"), name=name).watch(every_s=0.3))
    elsewhere = team.orchestrator("empty.db").run(name)
    lines = list(elsewhere.logs())
    assert {line.task for line in lines if line.text == "read 8 bytes"} == {0, 1}
    assert list(elsewhere.logs(Ranges.of([1]))) == [line for line in lines if line.task == 1]
    assert lines == sorted(lines, key=lambda line: line.task)


@pytest.mark.usefixtures("nothing_starts")
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_an_empty_database_finds_the_runs_there_are(team: Team, name: str) -> None:
    team.orchestrator().submit(team.plan("[2]"), name=name).cancel()
    assert name in {row.name for row in team.orchestrator("empty.db").runs()}


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_launcher_that_never_began_is_a_failed_task_with_batchs_reason(team: Team, name: str) -> None:
    orchestrator = team.orchestrator()
    account = orchestrator.cloud.account
    container = account.definition["containerProperties"] | {"command": ["false"]}
    orchestrator.cloud.account = replace(account, definition=account.definition | {"containerProperties": container})
    run = orchestrator.submit(team.plan("[2]", data="{campaigns: [alps]}"), name=name)
    *_, last = run.watch(every_s=0.3)
    assert last.state == "failed"
    assert {row.reason for row in run.results()} == {"Essential container in task exited"}
    orchestrator.cloud.account = account
    del orchestrator.cloud.definition, orchestrator.cloud.rendered
    run.retry()
    *_, last = run.watch(every_s=0.3)
    assert last.state == "done"
    assert {row.attempt for row in run.results()} == {1}


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_training_that_outlives_its_launcher_is_settled_when_it_ends(team: Team, name: str) -> None:
    run = team.orchestrator().submit(team.plan("[2]", data="{campaigns: [alps]}", hang=600), name=name)
    for status in run.watch(every_s=0.1):
        if status.counts[TaskState.RUNNING]:
            break
    (launcher,) = launchers(name)
    os.kill(launcher, signal.SIGKILL)
    time.sleep(1)
    run.sync()
    assert run.status().counts[TaskState.RUNNING] == 1
    team.hurries()
    *_, last = run.watch(every_s=0.3)
    assert last.state == "done"
    assert [(row.attempt, row.metrics) for row in run.results()] == [(1, {"loss": 1.0})]


def launchers(run: str) -> list[int]:
    """The processes that Batch runs for this run."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            environment = (process / "environ").read_bytes()
        except OSError:
            continue  # it has just ended, or is somebody else's
        if f"/runs/{run}/".encode() in environment and b"AWS_BATCH_JOB_ID=" in environment:
            found.append(int(process.name))
    return found
