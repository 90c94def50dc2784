"""Stored objects that are gone are named, wherever something else tells that they were there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from orchestrator.errors import Damaged
from orchestrator.runs.run import Run
from orchestrator.wire.result import Cause, TaskState
from tests.launcher.fakes import Life, failed
from tests.runs.bench import ACCOUNT, plan

if TYPE_CHECKING:
    from orchestrator.runs.written.anchor import Anchor
    from tests.runs.bench import Desk


@pytest.fixture
def retried(desk: Desk) -> Anchor:
    """A run whose two tasks have failed, were retried twice, and are done by now: three attempts each."""
    desk.platform.lives = [Life(looks=[failed(Cause.TASK)])] * 2
    anchor = desk.submit(desk.anchor(plan(tasks=2)))
    for number in range(3):
        for task in (0, 1):
            desk.launch(anchor, task)
        desk.sync(anchor)
        if number < 2:
            desk.retry(anchor, "0-1")
    assert set(desk.states(anchor).values()) == {"done"}
    return anchor


def look(desk: Desk, anchor: Anchor, machine: str) -> Run:
    """Return the run as this machine sees it after a sync."""
    ledger = desk.ledger(machine)
    ledger.remember(anchor, ACCOUNT)
    run = Run(anchor, ledger, desk.cloud)
    run.sync_as_far_as_possible()
    assert run.status().counts[TaskState.DONE] == 2
    return run


def test_nothing_is_said_of_a_run_that_is_whole(desk: Desk, retried: Anchor) -> None:
    look(desk, retried, "theirs").ledger.damage.check()


@pytest.mark.parametrize(("number", "why"), [(2, "though submission 3 is there"), (3, "though it was there before")])
@pytest.mark.parametrize("machine", ["ours", "theirs"])
def test_a_submission_that_is_gone_is_named(desk: Desk, retried: Anchor, machine: str, number: int, why: str) -> None:
    del desk.bucket.objects[retried.keys.submission(number)]
    run = look(desk, retried, machine)
    with pytest.raises(Damaged, match=re.escape(f"submissions/{number}.json is gone, {why}")) as caught:
        run.ledger.damage.check()
    assert caught.value.hint == "bring an earlier version of it back"


@pytest.mark.parametrize("number", [2, 3])
def test_the_number_of_a_submission_that_is_gone_is_not_given_again(desk: Desk, retried: Anchor, number: int) -> None:
    key = retried.keys.submission(number)
    del desk.bucket.objects[key]
    with pytest.raises(Damaged, match="is gone"):
        desk.retry(retried, "0", "theirs", again=True)
    assert key not in desk.bucket.objects


@pytest.mark.parametrize("numbers", [(1,), (1, 2), (3,), (1, 2, 3)])
def test_attempts_that_are_gone_are_named(desk: Desk, retried: Anchor, numbers: tuple[int, ...]) -> None:
    for number in numbers:
        del desk.bucket.objects[retried.keys.attempt(1, number)]
    run = look(desk, retried, "theirs")
    with pytest.raises(Damaged) as caught:
        run.ledger.damage.check()
    for number in (1, 2, 3):
        named = f"{retried.keys.attempt(1, number)} is gone, though task 1 has had 3 attempts" in caught.value.message
        assert named == (number in numbers)
    assert "attempts/0" not in caught.value.message


def test_a_submission_of_an_absurd_number_costs_few_words(desk: Desk, retried: Anchor) -> None:
    key = retried.keys.submission(3)
    desk.bucket.objects[retried.keys.submission(10**17)] = desk.bucket.objects[key]
    ledger = desk.ledger("theirs")
    ledger.remember(retried, ACCOUNT)
    Run(retried, ledger, desk.cloud).sync_as_far_as_possible()
    with pytest.raises(Damaged, match="6 stored objects are left out"):
        ledger.damage.check()
