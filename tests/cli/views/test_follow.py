from __future__ import annotations

import json
import signal
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from orchestrator.cli.views.follow import BestSoFar
from orchestrator.cli.views.status import StatusView
from tests.cli.fake import FakeOrchestrator, status

if TYPE_CHECKING:
    from orchestrator.runs.views.status import Status
    from tests.cli.calls import Shell, Sweep


def test_a_line_is_written_only_when_something_changed(sweep: Sweep, team: FakeOrchestrator) -> None:
    team.opened.statuses = [status(running=2), status(running=2), status(done=1, running=1), status(done=2)]
    assert sweep("watch").out.splitlines() == [
        "nightly: 0/2 done, 2 running, $0.00",
        "nightly: 1/2 done, 1 running, $1.00",
        "nightly: 2/2 done, $2.00",
    ]


def test_a_cost_that_grows_is_no_change(sweep: Sweep, team: FakeOrchestrator) -> None:
    team.opened.statuses = [replace(status(running=1), running_usd=usd) for usd in (0.25, 0.5)] + [status(done=1)]
    assert sweep("watch").out.splitlines() == [
        "nightly: 0/1 done, 1 running, $0.00 and about $0.25 running",
        "nightly: 1/1 done, $1.00",
    ]


def test_watching_as_json_is_an_object_a_change(sweep: Sweep, team: FakeOrchestrator) -> None:
    team.opened.statuses = [status(running=2), status(running=2), status(done=2)]
    states = [json.loads(line)["state"] for line in sweep("watch", "--json").out.splitlines()]
    assert states == ["running", "done"]


@pytest.mark.parametrize(
    ("last", "code", "said"),
    [
        (status(done=2), 0, ""),
        (status(failed=2), 1, "nightly: 2 of 2 tasks failed"),
        (status(done=1, failed=1), 5, "nightly: 1 of 2 tasks failed"),
        (status(cancelled=2), 1, "nightly: was cancelled"),
        (status(done=1, cancelled=1), 1, "nightly: was cancelled"),
    ],
)
def test_how_a_run_ended_is_the_exit_code(
    sweep: Sweep, team: FakeOrchestrator, last: Status, code: int, said: str
) -> None:
    team.opened.statuses = [last]
    ended = sweep("watch")
    assert ended.code == code
    assert said in ended.err


def test_ctrl_c_stops_the_watching_and_says_that_the_run_goes_on(shell: Shell) -> None:
    process = shell("watch", fake="endless")
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert err.startswith("interrupted: nightly goes on (`sweep watch nightly`")
    assert err.count("\n") == 1


def test_large_numbers_are_readable() -> None:
    assert (
        str(StatusView.of(status(done=9_000, pending=1_000))) == "nightly: 9,000/10,000 done, 1,000 pending, $9,000.00"
    )


def test_the_best_so_far_is_told_once_it_is_known(team: FakeOrchestrator) -> None:
    run = team.opened
    best = BestSoFar(run)
    rows, run.rows = run.rows, []
    assert best.words(StatusView.of(status(running=2))) == ""
    run.rows = rows
    assert (
        best.words(StatusView.of(status(done=1, running=1))) == "best so far: loss 0.25 by task 1, of 1 that are done"
    )


def test_what_may_be_done_next_is_told_at_the_end(sweep: Sweep, team: FakeOrchestrator) -> None:
    team.opened.statuses = [status(done=2)]
    said = "`sweep results nightly` ranks its tasks, `sweep artifacts list nightly` shows what they left\n"
    assert sweep("watch").err == said
