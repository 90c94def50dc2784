"""A launcher whose run is cancelled says only what is proven: what is done stays done, what stops has not ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.launcher.drive import LAST_WORD_S
from orchestrator.wire.exits import Exit
from orchestrator.wire.result import Cause, TaskState
from orchestrator.wire.task import Limits
from tests.launcher.fakes import DONE, RUNNING, STOPPED, Bench, Life, failed

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest


def cancelled(bench: Bench, *looks: tuple[TaskState, Cause]) -> Callable[[], None]:
    """Return what cancels the run, and asks the launcher to go, at its second sleep. The training then looks so."""

    def on_sleep() -> None:
        if len(bench.time.slept) == 2:
            bench.control.cancel(through=1)
            bench.time.term = True
            bench.platform.trainings["us-west-2", "nightly-7-1"].looks = list(looks) or [RUNNING]

    return on_sleep


def test_a_training_that_was_done_before_its_launcher_looked_is_done() -> None:
    bench = Bench(Life(looks=[RUNNING]))
    bench.time.on_sleep = cancelled(bench, DONE)
    assert bench.launch() is Exit.DONE
    assert (bench.result.state, bench.result.usd) == (TaskState.DONE, 1.8)


def test_a_training_that_had_failed_by_itself_has_failed() -> None:
    bench = Bench(Life(looks=[RUNNING]))
    bench.time.on_sleep = cancelled(bench, failed(Cause.TASK))
    assert bench.launch() is Exit.TASK_WRONG
    assert bench.result.state is TaskState.FAILED


def test_a_training_that_would_have_been_tried_again_is_cancelled() -> None:
    bench = Bench(Life(looks=[RUNNING]), limits=Limits(3600, retries=1))
    bench.time.on_sleep = cancelled(bench, failed(Cause.TASK))
    assert bench.launch() is Exit.CANCELLED
    assert bench.result.state is TaskState.CANCELLED
    assert bench.result.outcomes[0].state is TaskState.FAILED
    assert bench.attempts == ["1 in us-west-2"]


def test_a_training_that_stops_in_time_is_cancelled_with_what_it_cost() -> None:
    bench = Bench(Life(looks=[RUNNING]))
    bench.time.on_sleep = cancelled(bench)
    assert bench.launch() is Exit.CANCELLED
    assert (bench.result.state, bench.result.usd) == (TaskState.CANCELLED, 1.8)
    assert bench.result.outcomes[0].cause is Cause.STOPPED


def test_a_training_that_takes_long_to_stop_is_not_said_to_have_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(Life(looks=[RUNNING]))
    monkeypatch.setattr(bench.platform, "stop", lambda _: None)
    bench.time.on_sleep = cancelled(bench)
    began = bench.time.now
    assert bench.launch() is Exit.CANCELLED
    assert not bench.result.state.terminal
    assert bench.time.now - began < 200 + LAST_WORD_S


def test_a_training_that_completes_while_it_is_asked_to_stop_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(Life(looks=[RUNNING]))
    monkeypatch.setattr(bench.platform, "stop", lambda _: None)
    bench.time.on_sleep = cancelled(bench, RUNNING, RUNNING, DONE)
    assert bench.launch() is Exit.DONE
    assert bench.result.state is TaskState.DONE


def test_a_cancelled_launcher_records_no_attempt() -> None:
    bench = Bench(Life(looks=[STOPPED]))
    bench.control.cancel(through=1)
    assert bench.launch() is Exit.CANCELLED
    assert bench.attempts == []
