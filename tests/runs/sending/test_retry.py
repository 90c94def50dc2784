"""Retry: what runs afterwards is exactly what was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from orchestrator.aws.jobs.batch import Batch
from orchestrator.errors import UsageError
from orchestrator.wire.ranges import Ranges
from orchestrator.wire.result import TaskState
from tests.fixtures.database import whole_runs
from tests.runs.sending.test_submit import Killed

if TYPE_CHECKING:
    from orchestrator import Run
    from tests.fixtures.team import Team

ALPS = "{campaigns: [alps]}"


def finished(run: Run) -> str:
    *_, last = run.watch(every_s=0.3)
    return last.state


def attempts_of(run: Run) -> dict[int, int]:
    return {row.task: row.attempt for row in run.results()}


@whole_runs
def test_a_retry_runs_exactly_what_is_not_done(team: Team, name: str) -> None:
    team.breaks(1)
    run = team.orchestrator().submit(team.plan("[1, 2]", data=ALPS), name=name)
    assert finished(run) == "partly_failed"
    failed = [row for row in run.results() if row.state is TaskState.FAILED]
    assert [row.task for row in failed] == [0]
    assert "ValueError: x=1 is broken" in failed[0].reason
    team.breaks()
    assert run.retry() == Ranges.of([0])
    assert run.status().counts[TaskState.PENDING] == 1
    assert finished(run) == "done"
    assert attempts_of(run) == {0: 2, 1: 1}
    assert run.retry() == Ranges()


@pytest.mark.long
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_retry_of_named_tasks_runs_exactly_these_and_finds_them_by_number(team: Team, name: str) -> None:
    run = team.orchestrator().submit(team.plan("{range: [0, 3], step: 1}", data=ALPS), name=name)
    assert finished(run) == "done"
    with pytest.raises(UsageError, match=r"task 1,3 of run .* is done"):
        run.retry(Ranges.parse("1,3"))
    assert run.retry(Ranges.parse("1,3"), again=True) == Ranges.parse("1,3")
    assert finished(run) == "done"
    assert {task for task, attempt in attempts_of(run).items() if attempt == 2} == {1, 3}
    assert {row.task: row.point["x"] for row in run.results()} == {task: task for task in range(4)}


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_run_whose_first_tasks_fail_alike_pauses_and_goes_on_after_the_mend(team: Team, name: str) -> None:
    team.breaks(1, 2, 3)
    team.limits(1)  # one after the other
    plan = team.plan("[1, 2, 3]", data=ALPS, retries="0\npause_after: 2")
    run = team.orchestrator().submit(plan, name=name)
    assert finished(run) == "paused"
    status, rows = run.status(), run.results()
    assert (status.counts[TaskState.FAILED], status.counts[TaskState.CANCELLED]) == (2, 1)
    assert status.paused.startswith("paused: the first 2 tasks to fail did so alike: ")
    assert "is broken" in status.paused
    held = [row for row in rows if row.state is TaskState.CANCELLED]
    assert {row.reason for row in held} == {status.paused}
    assert {row.attempt for row in held} == {0}
    team.breaks()
    assert run.retry(Ranges.of(row.task for row in held)) == Ranges.of(row.task for row in held)
    assert run.status().paused == ""
    assert finished(run) == "partly_failed"
    assert run.status().counts[TaskState.DONE] == 1


@pytest.mark.usefixtures("nothing_starts")
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_tasks_that_are_not_there_or_have_not_ended_are_not_retried(team: Team, name: str) -> None:
    run = team.orchestrator().submit(team.plan("[2]", hang=60), name=name)
    with pytest.raises(UsageError, match=r"has no task 912 \(its tasks are 0-1\)"):
        run.retry(Ranges.parse("912"))
    with pytest.raises(UsageError, match=r"task 0 of run .* has not ended yet"):
        run.retry(Ranges.parse("0"))
    run.cancel()


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_retry_killed_before_it_was_sent_is_completed_by_the_same_retry(
    team: Team, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = team.orchestrator().submit(team.plan("[1]", data=ALPS), name=name)
    assert finished(run) == "done"
    with monkeypatch.context() as patch:
        patch.setattr(Batch, "submit", killed)
        with pytest.raises(Killed):
            run.retry(Ranges.of([0]), again=True)
    assert run.retry(Ranges.of([0]), again=True) == Ranges.of([0])
    assert finished(run) == "done"
    assert attempts_of(run) == {0: 2}


@pytest.mark.usefixtures("nothing_starts")
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_range_far_beyond_the_run_is_refused_without_being_counted(team: Team, name: str) -> None:
    run = team.orchestrator().submit(team.plan("[2]"), name=name)
    with pytest.raises(UsageError, match=r"has no task 2-99999999999 \(its tasks are 0-1\)"):
        run.retry(Ranges.parse("0-99999999999"))
    with pytest.raises(UsageError, match="has no task 7"):
        list(run.logs(Ranges.of([7])))
    run.cancel()


def killed(*_: object) -> None:
    raise Killed
