from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from orchestrator.api import Outlook
from tests.cli.fake import FakeOrchestrator, status

if TYPE_CHECKING:
    from tests.cli.calls import Sweep

pytestmark = pytest.mark.usefixtures("team")


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


def test_what_is_expected_of_a_run_is_told_until_it_has_ended(sweep: Sweep, team: FakeOrchestrator) -> None:
    outlook = Outlook(usd_per_hour=1.5, unpriced=1, usd=4.25, most_usd=9.0, ends_at=0.0)
    team.opened.statuses = [replace(status(done=3, running=2), outlook=outlook)]
    line = sweep("status").out.splitlines()[1]
    assert line.startswith("$1.50 an hour now, but for 1 task of unknown price; about $4.25 in all by ")
    assert line.endswith(", at most $9.00")
    assert json.loads(sweep("status", "--json").out)["outlook"]["most_usd"] == 9.0
    team.opened.statuses = [status(done=5)]
    assert sweep("status").out.splitlines()[1] == ""


def test_an_end_that_a_limit_of_none_forbids_is_expected_for_when_it_is_lifted(
    sweep: Sweep, team: FakeOrchestrator
) -> None:
    outlook = Outlook(usd_per_hour=0.0, unpriced=0, usd=4.25, most_usd=9.0, ends_at=0.0)
    team.opened.statuses = [replace(status(done=3, running=0), outlook=outlook, limit={"eu-west-1": 0})]
    assert " if the limit of 0 is lifted now, at most $9.00" in sweep("status").out.splitlines()[1]


PAUSED = "paused: the first 5 tasks to fail did so alike: Killed"


def test_a_pause_is_told_with_what_to_do(sweep: Sweep, team: FakeOrchestrator) -> None:
    team.opened.statuses = [replace(status(failed=5, running=2, pending=3), paused=PAUSED + "\x1b[2J")]
    out = sweep("status").out
    assert "\x1b" not in out
    team.opened.statuses = [replace(status(failed=5, running=2, pending=3), paused=PAUSED)]
    assert out.startswith("nightly: 0/10 done, 2 running, 3 pending, 5 failed, paused, $")
    assert PAUSED in out
    assert "`sweep retry nightly` goes on" in out
    assert json.loads(sweep("status", "--json").out)["paused"] == PAUSED


def test_watching_a_paused_run_ends_with_five_and_says_why(sweep: Sweep, team: FakeOrchestrator) -> None:
    team.opened.statuses = [replace(status(failed=5, cancelled=3), paused=PAUSED)]
    watched = sweep("watch")
    assert watched.code == 5
    assert f"3 tasks not run; {PAUSED}" in watched.err
    assert "`sweep retry nightly` goes on" in watched.err


def test_a_paused_run_that_was_cancelled_is_cancelled() -> None:
    assert replace(status(failed=5, cancelled=3), paused=PAUSED).state == "paused"
    assert status(failed=5, cancelled=3).state == "failed"


def test_the_status_as_json_says_how_it_ended_and_names_every_state(sweep: Sweep, team: FakeOrchestrator) -> None:
    team.opened.statuses = [status(done=3, failed=1)]
    body = json.loads(sweep("status", "nightly", "--json").out)
    assert body["state"] == "partly_failed"
    assert body["finished"] is True
    assert body["counts"] == {"running": 0, "starting": 0, "pending": 0, "done": 3, "failed": 1, "cancelled": 0}
    assert body["regions"] == {"eu-west-1": body["counts"]}
