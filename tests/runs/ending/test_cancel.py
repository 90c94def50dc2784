"""Cancel: nothing runs afterwards, however far the run had come."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.errors import UsageError
from orchestrator.runs.sending import submit as submitting
from orchestrator.runs.written.submission import everything
from orchestrator.wire.result import TaskState
from tests.fixtures.database import whole_runs
from tests.runs.sending.test_retry import finished
from tests.runs.sending.test_submit import Killed

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator import Run
    from tests.fixtures.team import Team


@whole_runs
def test_a_cancelled_run_leaves_nothing_running(team: Team, name: str, client: Callable[..., Any]) -> None:
    run = team.orchestrator().submit(team.plan("[2]", hang=120), name=name)
    wait_until_running(run)
    stopped = run.cancel()
    assert run.status().state == "cancelled"
    assert {one.region for one in stopped} == {"us-east-1", "eu-west-1"}
    assert sum(one.arrays for one in stopped) == 1
    assert 0 < sum(one.ended + one.never_begun for one in stopped) <= 2
    assert run.status().counts[TaskState.CANCELLED] == 2
    for region in ("us-east-1", "eu-west-1"):
        trainings = client("sagemaker", region).list_training_jobs(NameContains=name)["TrainingJobSummaries"]
        assert {one["TrainingJobStatus"] for one in trainings} <= {"Stopped", "Failed", "Completed"}
    (array,) = run.ledger.arrays(name, [everything(run.plan)])
    assert client("batch").describe_jobs(jobs=[array.job])["jobs"][0]["status"] == "FAILED"


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_cancelled_run_can_be_retried(team: Team, name: str) -> None:
    run = team.orchestrator().submit(team.plan("[2]", data="{campaigns: [alps]}", hang=60), name=name)
    wait_until_running(run)
    run.cancel()
    assert run.status().cancelled
    team.hurries()
    assert len(run.retry()) == 1
    assert finished(run) == "done"
    assert not run.status().cancelled


@pytest.mark.usefixtures("nothing_starts")
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_cancel_works_from_a_machine_that_never_saw_the_run(team: Team, name: str) -> None:
    team.orchestrator().submit(team.plan("[2]", hang=60), name=name)
    run = team.orchestrator("other.db").run(name)
    run.cancel()
    assert run.status().state == "cancelled"


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
class TestCancelledBeforeItWasSent:
    @pytest.fixture
    def run(self, team: Team, name: str, monkeypatch: pytest.MonkeyPatch) -> Run:
        """A run whose submit was killed before its first array, then cancelled."""
        with monkeypatch.context() as patch:
            patch.setattr(submitting, "add_submission", killed)
            with pytest.raises(Killed):
                team.orchestrator().submit(team.plan("[2]", data="{campaigns: [alps]}"), name=name)
        return team.orchestrator().run(name)

    def test_it_is_cancelled(self, run: Run) -> None:
        assert run.cancel() == []
        assert run.status().state == "cancelled"

    def test_submitting_it_again_starts_nothing_and_says_what_would(self, team: Team, run: Run) -> None:
        run.cancel()
        with pytest.raises(UsageError, match=rf"has been cancelled \(`sweep retry {run.name}` runs it after all"):
            team.orchestrator("other.db").submit(run.plan, name=run.name)
        assert run.ledger.arrays(run.name, [everything(run.plan)])[0].job is None

    def test_a_retry_runs_it_after_all(self, run: Run) -> None:
        run.cancel()
        assert len(run.retry()) == 1
        assert finished(run) == "done"


def killed(*_: object) -> None:
    raise Killed


def wait_until_running(run: Run) -> None:
    for status in run.watch(every_s=0.2):
        if status.counts[TaskState.RUNNING]:
            return
        time.sleep(0.1)
