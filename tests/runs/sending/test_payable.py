"""A retry sends no task whose dollars pay for no further attempt: its launcher would start nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from orchestrator.errors import Refused
from orchestrator.wire.exits import Exit
from orchestrator.wire.ranges import Ranges
from orchestrator.wire.result import Cause
from tests.launcher.fakes import Life, failed
from tests.runs.bench import plan

if TYPE_CHECKING:
    from orchestrator.runs.written.anchor import Anchor
    from tests.runs.bench import Desk


def submitted(desk: Desk, envelope: float, tasks: int = 2) -> Anchor:
    """A run whose tasks train for half an hour, $1.80, at $3.60 an hour; $0.24 are the least that an attempt takes."""
    made = plan(tasks=tasks)
    share = made.shares[0]
    limits = replace(share.limits, envelope=envelope)
    return desk.submit(desk.anchor(replace(made, shares=(replace(share, limits=limits),))))


def fail(desk: Desk, anchor: Anchor, *tasks: int) -> None:
    """Let these tasks train once, and fail."""
    desk.platform.lives = [Life(looks=[failed(Cause.TASK)])]
    for task in tasks:
        assert desk.launch(anchor, task) is Exit.TASK_WRONG
    desk.sync(anchor)


def test_a_retry_that_no_dollars_are_left_for_is_refused_and_says_what_an_attempt_takes(desk: Desk) -> None:
    anchor = submitted(desk, envelope=1.9)
    fail(desk, anchor, 0, 1)
    with pytest.raises(Refused, match=r"task 0-1 of run 'nightly': \$1.80 of its \$1.90 are spent") as refused:
        desk.retry(anchor)
    assert f"on {anchor.plan.shares[0].places[0].lane} it takes $0.24 at the least" in str(refused.value)
    assert "greater `budget`" in str(refused.value)
    assert len(desk.batch.jobs) == 1


def test_a_retry_leaves_out_tasks_that_no_dollars_are_left_for_and_says_so(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    anchor = submitted(desk, envelope=1.9)
    fail(desk, anchor, 0)
    desk.platform.hours = 0.1
    fail(desk, anchor, 1)
    assert desk.retry(anchor) == Ranges.of([1])
    assert "left out: task 0 of run 'nightly': $1.80 of its $1.90 are spent" in caplog.text
    with pytest.raises(Refused, match="task 0 of run"):
        desk.retry(anchor, "0")


def test_a_retry_is_sent_that_its_dollars_just_pay_for(desk: Desk) -> None:
    anchor = submitted(desk, envelope=2.05, tasks=1)
    fail(desk, anchor, 0)
    assert desk.retry(anchor) == Ranges.of([0])
    assert desk.launch(anchor, 0) is Exit.DONE


def test_a_task_whose_result_cannot_be_read_is_sent_whatever_is_left_of_its_dollars(desk: Desk) -> None:
    """Its new launcher starts nothing: it finds out what became of the training, and tells it."""
    anchor = submitted(desk, envelope=1.9, tasks=1)
    fail(desk, anchor, 0)
    key = anchor.keys.result(0)
    desk.bucket.put_if(key, b"{", desk.bucket.get(key).etag)
    assert desk.retry(anchor, "0") == Ranges.of([0])
