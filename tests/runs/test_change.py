"""Cancel and retry: what runs afterwards is exactly what was asked for."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.aws.batch import Batch
from orchestrator.errors import UsageError
from orchestrator.runs import submit as submitting
from orchestrator.runs.submission import everything
from orchestrator.wire.ranges import Ranges
from orchestrator.wire.result import TaskState

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator import Run
    from tests.fixtures.team import Team


def finished(run: Run) -> str:
    *_, last = run.watch(every_s=0.3)
    return last.state


def attempts_of(run: Run) -> dict[int, int]:
    return {row.task: row.attempt for row in run.results()}


def test_a_retry_runs_exactly_what_is_not_done(team: Team, name: str) -> None:
    team.breaks(1)
    run = team.orchestrator().submit(team.plan("[1, 2]"), name=name)
    assert finished(run) == "partly_failed"
    failed = [row for row in run.results() if row.state is TaskState.FAILED]
    assert [row.task for row in failed] == [0, 2]
    assert "ValueError: x=1 is broken" in failed[0].reason
    team.breaks()
    assert run.retry() == Ranges.of([0, 2])
    assert run.status().counts[TaskState.PENDING] == 2
    assert finished(run) == "done"
    assert attempts_of(run) == {0: 2, 1: 1, 2: 2, 3: 1}
    assert run.retry() == Ranges()


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_retry_of_named_tasks_runs_exactly_these_and_finds_them_by_number(team: Team, name: str) -> None:
    run = team.orchestrator().submit(team.plan("{range: [0, 9], step: 1}", data="{campaigns: [alps]}"), name=name)
    assert finished(run) == "done"
    assert run.retry(Ranges.parse("3,7-8")) == Ranges.parse("3,7-8")
    assert finished(run) == "done"
    assert {task for task, attempt in attempts_of(run).items() if attempt == 2} == {3, 7, 8}
    assert {row.task: row.point["x"] for row in run.results()} == {task: task for task in range(10)}


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_tasks_that_are_not_there_or_have_not_ended_are_not_retried(team: Team, name: str) -> None:
    run = team.orchestrator().submit(team.plan("[2]", hang=60), name=name)
    with pytest.raises(UsageError, match=r"has no task 912 \(its tasks are 0-1\)"):
        run.retry(Ranges.parse("912"))
    with pytest.raises(UsageError, match=r"task 0 of run .* has not ended yet"):
        run.retry(Ranges.parse("0"))
    run.cancel()


def test_a_cancelled_run_leaves_nothing_running(team: Team, name: str, client: Callable[..., Any]) -> None:
    run = team.orchestrator().submit(team.plan("[1, 2, 3, 4]", hang=120), name=name)
    wait_until_running(run)
    assert run.cancel().state == "cancelled"
    assert run.status().counts[TaskState.CANCELLED] == 8
    for region in ("us-east-1", "eu-west-1"):
        trainings = client("sagemaker", region).list_training_jobs(NameContains=name)["TrainingJobSummaries"]
        assert {one["TrainingJobStatus"] for one in trainings} <= {"Stopped", "Failed", "Completed"}
    (array,) = run.ledger.arrays(name, [everything(run.plan)])
    assert client("batch").describe_jobs(jobs=[array.job])["jobs"][0]["status"] == "FAILED"


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_cancelled_run_can_be_retried(team: Team, name: str) -> None:
    run = team.orchestrator().submit(team.plan("[1, 2]", hang=5), name=name)
    wait_until_running(run)
    run.cancel()
    assert run.status().cancelled
    assert len(run.retry()) == 4
    assert finished(run) == "done"
    assert not run.status().cancelled


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_cancel_works_from_a_machine_that_never_saw_the_run(team: Team, name: str) -> None:
    team.orchestrator().submit(team.plan("[2]", hang=60), name=name)
    assert team.orchestrator("other.db").run(name).cancel().state == "cancelled"


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
class TestCancelledBeforeItWasSent:
    @pytest.fixture
    def run(self, team: Team, name: str, monkeypatch: pytest.MonkeyPatch) -> Run:
        """A run whose submit was killed before its first array, then cancelled."""
        with monkeypatch.context() as patch:
            patch.setattr(submitting, "add_submission", killed)
            with pytest.raises(Killed):
                team.orchestrator().submit(team.plan("[2]"), name=name)
        return team.orchestrator().run(name)

    def test_it_is_cancelled(self, run: Run) -> None:
        assert run.cancel().state == "cancelled"

    def test_submitting_it_again_starts_nothing_and_says_what_would(self, team: Team, run: Run) -> None:
        run.cancel()
        with pytest.raises(UsageError, match=rf"has been cancelled \(`sweep retry {run.name}` runs it after all"):
            team.orchestrator("other.db").submit(run.plan, name=run.name)
        assert run.ledger.arrays(run.name, [everything(run.plan)])[0].job is None

    def test_a_retry_runs_it_after_all(self, run: Run) -> None:
        run.cancel()
        assert len(run.retry()) == 2
        assert finished(run) == "done"


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_retry_killed_before_it_was_sent_is_completed_by_the_same_retry(
    team: Team, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = team.orchestrator().submit(team.plan("[1, 2]", data="{campaigns: [alps]}"), name=name)
    assert finished(run) == "done"
    with monkeypatch.context() as patch:
        patch.setattr(Batch, "submit", killed)
        with pytest.raises(Killed):
            run.retry(Ranges.of([1]))
    assert run.retry(Ranges.of([1])) == Ranges.of([1])
    assert finished(run) == "done"
    assert attempts_of(run) == {0: 1, 1: 2}


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_range_far_beyond_the_run_is_refused_without_being_counted(team: Team, name: str) -> None:
    run = team.orchestrator().submit(team.plan("[2]"), name=name)
    with pytest.raises(UsageError, match=r"has no task 2-99999999999 \(its tasks are 0-1\)"):
        run.retry(Ranges.parse("0-99999999999"))
    with pytest.raises(UsageError, match="has no task 7"):
        list(run.logs(Ranges.of([7])))
    run.cancel()


class Killed(BaseException):
    """As SIGKILL would: nothing after it runs."""


def killed(*_: object) -> None:
    raise Killed


def wait_until_running(run: Run) -> None:
    for status in run.watch(every_s=0.2):
        if status.counts[TaskState.RUNNING]:
            return
        time.sleep(0.1)
