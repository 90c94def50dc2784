"""An array is sent once, whatever becomes of the answer; and who is cancelled while sending says so."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.errors import RunFailed, SweepError, Throttled, Unreachable, UsageError
from orchestrator.runs.sending import retry as retries
from orchestrator.runs.written.submission import everything
from orchestrator.wire.ranges import Ranges
from orchestrator.wire.result import Cause
from tests.launcher.fakes import Life, failed
from tests.runs.bench import plan
from tests.runs.sending.test_submit import Killed

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.runs.bench import Desk


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    return slept


def fails(what: str, times: int, error: SweepError) -> Callable[[str], None]:
    """Return what raises this error the first few times that Batch is asked for this."""
    left = iter(range(times))

    def fail(asked: str) -> None:
        if asked == what and next(left, None) is not None:
            raise error

    return fail


@pytest.mark.parametrize("answers", [1, 5])
def test_a_job_whose_submission_was_not_answered_is_found_and_not_sent_again(
    desk: Desk, answers: int, no_waiting: list[float]
) -> None:
    desk.batch.after = fails("submit", answers, Unreachable("no answer"))
    desk.submit()
    assert [job.name for job in desk.batch.jobs] == ["nightly-s1-a1"]
    assert no_waiting
    assert desk.ledger().unsent("nightly", everything(plan())) == []


@pytest.mark.parametrize("error", [Throttled("Too Many Requests"), Unreachable("no connection")])
def test_a_submission_that_never_arrived_is_sent_again(desk: Desk, error: SweepError) -> None:
    desk.batch.before = fails("submit", 3, error)
    desk.submit()
    assert [job.name for job in desk.batch.jobs] == ["nightly-s1-a1"]
    assert desk.batch.calls["submit"] == 4


def test_a_submission_that_is_cancelled_between_its_arrays_sends_no_more_and_says_so(desk: Desk) -> None:
    def cancel(what: str) -> None:
        if what == "submit":
            desk.cloud().control("nightly").cancel(through=1)

    desk.batch.after = cancel
    with pytest.raises(RunFailed, match=r"nightly: was cancelled while it was being submitted \(`sweep retry nightly`"):
        desk.submit(desk.anchor(plan(tasks=15_000)))
    assert [job.status for job in desk.batch.jobs] == ["FAILED"]
    assert RunFailed.exit_code == 1


def test_a_retry_that_is_cancelled_while_it_is_sent_says_so(desk: Desk) -> None:
    anchor = desk.submit()
    for task in range(3):
        desk.launch(anchor, task)
    desk.batch.before = lambda what: desk.cloud().control("nightly").cancel(through=2) if what == "submit" else None
    with pytest.raises(RunFailed, match="was cancelled while"):
        desk.retry(anchor, "0", again=True)
    assert desk.batch.jobs[-1].status == "FAILED"


def test_the_tasks_of_a_retry_belong_to_it_before_it_is_sent(desk: Desk) -> None:
    anchor = desk.submit()
    for task in range(3):
        desk.launch(anchor, task)
    owners: list[list[int]] = []

    def look(what: str) -> None:
        if what == "submit":
            fence = desk.cloud().control("nightly").fence()
            owners.append([fence.owner(task) for task in range(3)])

    desk.batch.before = look
    desk.retry(anchor, "1-2", again=True)
    assert owners == [[1, 2, 2]]


def test_nothing_is_sent_to_another_account_than_the_runs(desk: Desk) -> None:
    anchor = desk.submit()
    desk.signed_in = "999999999999"
    with pytest.raises(UsageError, match="run 'nightly' cannot be changed from here"):
        desk.submit(anchor, "theirs")
    with pytest.raises(UsageError, match="run 'nightly' cannot be changed from here"):
        desk.retry(anchor)
    assert len(desk.batch.jobs) == 1


def test_a_retry_sends_what_a_retry_beside_it_was_killed_before_sending(desk: Desk) -> None:
    anchor = desk.submit()
    desk.platform.lives = [Life(looks=[failed(Cause.TASK)])]
    for task in range(3):
        desk.launch(anchor, task)
    desk.sync(anchor, "theirs")

    def killed_beside_us(what: str) -> None:
        if what == "list":  # we have looked for submissions, and look for results now
            desk.bucket.before = lambda _: None
            desk.batch.before = kill
            with pytest.raises(Killed):
                desk.retry(anchor, machine="theirs")
            desk.batch.before = lambda _: None

    def kill(what: str) -> None:
        if what == "submit":
            raise Killed

    desk.bucket.before = killed_beside_us
    assert desk.retry(anchor) == Ranges.parse("0-2")
    assert [job.name for job in desk.batch.jobs] == ["nightly-s1-a1", "nightly-s2-a1"]


@pytest.mark.parametrize("asked", ["", "0"])
def test_a_retry_whose_number_somebody_else_takes_first_does_what_is_left_to_do(
    desk: Desk, asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    anchor = desk.submit()
    desk.platform.lives = [Life(looks=[failed(Cause.TASK)])]
    for task in range(3):
        desk.launch(anchor, task)
    desk.sync(anchor, "theirs")
    add, others = retries.add_submission, []

    def add_after_them(*arguments: Any) -> bool:
        if not others:
            others.append("theirs")
            desk.retry(anchor, machine="theirs")
        return add(*arguments)

    monkeypatch.setattr(retries, "add_submission", add_after_them)
    if asked:
        with pytest.raises(UsageError, match="task 0 of run 'nightly' has not ended yet"):
            desk.retry(anchor, asked)
    else:
        assert desk.retry(anchor) == Ranges()
    assert [job.name for job in desk.batch.jobs] == ["nightly-s1-a1", "nightly-s2-a1"]
