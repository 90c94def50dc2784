"""Who may say that a launcher is gone: Batch, of a child that has failed. Its silence proves next to nothing."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from orchestrator.errors import Throttled, Unreachable
from orchestrator.runs.ending import lost
from orchestrator.wire.beside.moves import Move
from orchestrator.wire.curve import decode
from orchestrator.wire.result import Cause, Result, TaskState
from tests.launcher.fakes import DONE, RUNNING, STOPPED, Life, failed
from tests.launcher.test_races import Killed
from tests.runs.bench import plan
from tests.runs.ending.test_stop import becomes, start

if TYPE_CHECKING:
    from orchestrator.runs.written.anchor import Anchor
    from tests.runs.bench import Desk

DAY = 24 * 3600.0


@pytest.fixture
def waiting(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Anchor:
    """A run that was just made, and whose tasks wait."""
    monkeypatch.setattr(lost.time, "time", lambda: desk.time.now)
    return desk.submit()


def test_a_child_that_failed_without_a_word_is_a_failed_task_with_batchs_reason(desk: Desk, waiting: Anchor) -> None:
    desk.batch.jobs[0].statuses[1] = "FAILED"
    desk.batch.jobs[0].reasons[1] = "CannotPullContainerError"
    assert desk.sync(waiting) == 1
    assert desk.states(waiting) == {1: "failed"}
    (known,) = desk.ledger().known("nightly")
    assert known.result.reason == "CannotPullContainerError"


def test_a_training_that_somebody_stopped_after_its_launcher_had_died_is_a_cancelled_task(
    desk: Desk, waiting: Anchor
) -> None:
    desk.platform.lives = [Life(looks=[RUNNING, STOPPED])]
    driver = desk.launcher(waiting, 1)
    driver._load()
    for _ in range(2):
        driver._take_step()
    desk.batch.jobs[0].statuses[1] = "FAILED"
    for _ in range(2):
        desk.sync(waiting)
    assert desk.states(waiting) == {1: "cancelled"}
    (known,) = desk.ledger().known("nightly")
    assert known.result.reason != "cancelled"


def test_what_a_training_reported_after_its_launcher_had_died_is_in_the_tasks_result(
    desk: Desk, waiting: Anchor
) -> None:
    desk.platform.lives = [Life(looks=[RUNNING, DONE])]
    driver = desk.launcher(waiting, 1)
    driver._load()
    for _ in range(2):
        driver._take_step()
    desk.platform.written["nightly-1-1"] = ["[sweep] step=1 loss=4", "[sweep] step=2 loss=0.25"]
    desk.batch.jobs[0].statuses[1] = "FAILED"
    for _ in range(2):
        desk.sync(waiting)
    (known,) = desk.ledger().known("nightly")
    assert (known.result.state, known.result.metrics) == (TaskState.DONE, {"loss": 0.25})
    assert decode(known.result.curves["loss"]) == [(1, 4), (2, 0.25)]


def test_a_training_that_was_stopped_for_a_move_which_nobody_made_is_a_failed_task(desk: Desk, waiting: Anchor) -> None:
    desk.platform.lives = [Life(looks=[RUNNING, STOPPED])]
    driver = desk.launcher(waiting, 1)
    driver._load()
    for _ in range(2):
        driver._take_step()
    assert driver.moves.decide(driver.task.places[0], "it lost its machines")
    desk.batch.jobs[0].statuses[1] = "FAILED"
    for _ in range(2):
        desk.sync(waiting)
    assert desk.states(waiting) == {1: "failed"}
    (known,) = desk.ledger().known("nightly")
    assert known.result.reason == "it was stopped to go on elsewhere, and its launcher died before that"


def test_what_a_move_has_cost_is_in_the_tasks_result_though_its_launcher_died_before_it_said_so(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lost.time, "time", lambda: desk.time.now)
    made = plan()
    train = made.sweep.train.model_validate({**made.sweep.train.model_dump(), "checkpoints": {"every": "10m"}})
    anchor = desk.submit(desk.anchor(replace(made, sweep=made.sweep.model_copy(update={"train": train}))))
    desk.platform.lives = [Life(looks=[RUNNING, failed(Cause.INTERRUPTED)])]
    driver = desk.launcher(anchor, 1)
    driver._load()
    for _ in range(2):
        driver._take_step()
    control, place = driver.history.control, driver.task.places[0]
    assert driver.moves.decide(place, "it lost its machines")
    control.advance(control.keys.moved(1, 1), Move.from_json, lambda move: replace(move, usd=0.25))
    desk.batch.jobs[0].statuses[1] = "FAILED"
    for _ in range(2):
        desk.sync(anchor)
    (known,) = desk.ledger().known("nightly")
    assert [one.moved_usd for one in known.result.outcomes] == [0.25]


def test_another_region_says_nothing_of_a_run(desk: Desk, waiting: Anchor) -> None:
    assert desk.sync(waiting, region="eu-west-1") == 0
    desk.time.now += 30 * DAY
    assert desk.sync(waiting, region="eu-west-1") == 0
    assert not [key for key in desk.bucket.objects if "/results/" in key]


def test_another_account_says_nothing_of_a_run(desk: Desk, waiting: Anchor) -> None:
    desk.batches["us-east-1"].jobs = []
    desk.time.now += 30 * DAY
    assert desk.sync(waiting, "theirs", id="999999999999") == 0
    desk.signed_in = "999999999999"
    assert desk.sync(waiting, "ours") == 0
    desk.signed_in = ""
    assert desk.sync(waiting, "ours") == 0


def test_an_answer_without_the_job_proves_nothing(desk: Desk, waiting: Anchor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk.batch, "describe", lambda _: [])
    assert desk.sync(waiting) == 0
    desk.time.now += 6 * DAY
    assert desk.sync(waiting) == 0


def test_a_job_that_is_only_missing_from_one_answer_is_not_forgotten(
    desk: Desk, waiting: Anchor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk.batch, "describe", lambda _: [])
    desk.time.now += 30 * DAY
    assert desk.sync(waiting) == 0


def test_a_job_that_batch_must_have_forgotten_has_ended(desk: Desk, waiting: Anchor) -> None:
    desk.sync(waiting)
    desk.batch.jobs = []
    desk.time.now += 8.1 * DAY
    assert desk.sync(waiting) == 3
    assert {one.result.reason for one in desk.ledger().known("nightly")} == {"Batch no longer knows its job"}


def test_a_run_that_does_not_say_where_its_home_is_is_settled_by_what_is_seen_only(desk: Desk) -> None:
    old = desk.submit(replace(desk.anchor(), home=None))
    desk.batch.jobs[0].statuses[1] = "FAILED"
    assert desk.sync(old) == 1
    desk.batch.jobs = []
    desk.time.now += 30 * DAY
    assert desk.sync(old) == 0


def test_a_retry_is_as_old_as_it_is_and_not_as_its_run(desk: Desk, waiting: Anchor) -> None:
    for task in range(3):
        desk.launch(waiting, task)
    desk.time.now += 30 * DAY
    desk.retry(waiting, "0", again=True)
    desk.batch.jobs = []
    assert desk.sync(waiting) == 0
    desk.time.now += 9 * DAY
    desk.bucket.before = lambda _: None
    assert desk.sync(waiting) == 1


def test_a_region_that_does_not_answer_holds_up_no_other_task(desk: Desk, waiting: Anchor) -> None:
    desk.platform.lives = [Life(looks=[RUNNING])]
    start(desk, waiting, 0, 1)
    desk.batch.end_children(desk.batch.jobs[0], "host gone")
    becomes(desk, 1, DONE)
    poll = desk.platform.poll

    def down(attempt: object) -> object:
        if getattr(attempt, "task", None) == 0:
            raise Unreachable("down")
        return poll(attempt)  # type: ignore[arg-type]

    desk.platform.poll = down  # type: ignore[assignment,method-assign]
    desk.sync(waiting)
    assert desk.states(waiting) == {0: "starting", 1: "done", 2: "failed"}


def test_a_finished_result_is_never_written_over(desk: Desk, waiting: Anchor) -> None:
    desk.cloud().control("nightly").write_result(Result(0, "key", TaskState.DONE))
    desk.batch.end_children(desk.batch.jobs[0], "host gone")
    desk.sync(waiting)
    assert desk.states(waiting)[0] == "done"


def killed_while_throttled(desk: Desk, anchor: Anchor, starts: int) -> str:
    """Return the reason of a task whose launcher was killed while AWS refused its start for now."""
    desk.platform.lives = [Life(refusals=[Throttled("ThrottlingException: Rate exceeded")] * 50)]
    driver = desk.launcher(anchor, 0)
    driver._load()
    for _ in range(4):
        with suppress(Throttled):
            driver._take_step()
    desk.batch.jobs[0].starts[0] = starts
    desk.batch.end_children(desk.batch.jobs[0], "Host EC2 (instance i-1) terminated")
    desk.sync(anchor)
    (known,) = [one.result for one in desk.ledger().known("nightly") if one.result.task == 0]
    assert known.state is TaskState.FAILED
    return known.reason


def test_a_launcher_that_died_while_it_was_throttled_has_died_and_throttling_has_failed_nothing(
    desk: Desk, waiting: Anchor
) -> None:
    reason = killed_while_throttled(desk, waiting, starts=1)
    assert reason.startswith(
        "its launcher died while it waited: Host EC2 (instance i-1) terminated; it had said last: "
    )
    assert "Rate exceeded" in reason


def test_a_launcher_that_died_after_an_attempt_had_ended_has_died_and_that_attempt_has_failed_nothing(
    desk: Desk, waiting: Anchor
) -> None:
    desk.platform.lives = [Life(looks=[RUNNING, failed(Cause.CAPACITY)])]
    driver = desk.launcher(waiting, 0)
    driver._load()
    while not any(one.state.terminal for one in driver.history.outcomes.values()):
        driver._take_step()
    driver.history.publish(TaskState.RUNNING, "its checkpoint of 3 GB is brought from here to there")
    desk.batch.end_children(desk.batch.jobs[0], "Host EC2 (instance i-1) terminated")
    desk.sync(waiting)
    (known,) = [one.result for one in desk.ledger().known("nightly") if one.result.task == 0]
    assert known.state is TaskState.FAILED
    assert known.reason == (
        "its launcher died while it waited: Host EC2 (instance i-1) terminated; "
        "it had said last: its checkpoint of 3 GB is brought from here to there"
    )


def test_a_launcher_that_was_killed_as_often_as_it_may_start_says_so(desk: Desk, waiting: Anchor) -> None:
    reason = killed_while_throttled(desk, waiting, starts=10)
    assert "terminated (Batch has started the launcher 10 times, as often as it may)" in reason


def test_the_bill_of_an_attempt_whose_end_its_launcher_saw_and_never_told_is_whole(desk: Desk, waiting: Anchor) -> None:
    desk.platform.lives = [Life(looks=[RUNNING, RUNNING, failed(Cause.INTERRUPTED)])]

    def dies_at_its_second_start(what: str) -> None:
        if what == "start" and desk.platform.start_calls:
            raise Killed

    desk.platform.before = dies_at_its_second_start
    with pytest.raises(Killed):
        desk.launch(waiting, 0)
    desk.platform.before = lambda _: None
    desk.batch.jobs[0].statuses[0] = "FAILED"
    desk.sync(waiting)
    (known,) = desk.ledger().known("nightly")
    assert known.state is TaskState.FAILED
    assert [(one.number, one.cause, one.usd) for one in known.result.outcomes] == [(1, Cause.INTERRUPTED, 1.8)]
