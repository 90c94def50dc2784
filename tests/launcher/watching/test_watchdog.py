"""A training that is silent, or whose loss is no number, is ended as failed, if the sweep asks for it and not else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from orchestrator.errors import Throttled
from orchestrator.wire.exits import Exit
from orchestrator.wire.result import Cause, Outcome, TaskState
from orchestrator.wire.task import Limits
from tests.launcher.fakes import DONE, PLACES, RUNNING, Bench, Life

if TYPE_CHECKING:
    from collections.abc import Callable

ENDLESS = Life(looks=[RUNNING])
SILENT = Limits(24 * 3600, stall_s=600)
NO_NUMBERS = Limits(24 * 3600, end_on_nan="loss")
NAN = "[sweep] step=2 loss=nan"


def asleep(bench: Bench, what: Callable[[], None]) -> None:
    """Do this at each sleep of the launcher; it is asked to go after a thousand, for else it would watch for ever."""

    def on_sleep() -> None:
        what()
        if len(bench.time.slept) > 1000:
            bench.time.term = True

    bench.time.on_sleep = on_sleep


def test_a_silent_training_is_ended_as_failed_in_words() -> None:
    bench = Bench(ENDLESS, limits=SILENT)
    began = bench.time.now
    assert bench.launch() is Exit.TASK_WRONG
    assert bench.result.state is TaskState.FAILED
    assert bench.result.reason.startswith("ended because its log was silent for 1")
    assert bench.result.outcomes[0].cause is Cause.TASK
    assert bench.platform.alive == []
    assert 600 <= bench.time.now - began <= 900


def test_a_training_that_writes_now_and_then_is_left_alone() -> None:
    bench = Bench(ENDLESS, limits=SILENT)
    lines = bench.platform.written.setdefault("nightly-7-1", [])
    asleep(bench, lambda: lines.append("still here") if len(bench.time.slept) % 8 == 0 else None)
    assert bench.launch() is Exit.RESTART
    assert bench.platform.alive == ["nightly-7-1"]
    assert bench.time.now > 1_000_000 + 10 * SILENT.stall_s


def test_nobody_is_watched_unless_the_sweep_says_so() -> None:
    bench = Bench(ENDLESS)
    bench.platform.written["nightly-7-1"] = [NAN]
    asleep(bench, lambda: None)
    assert bench.launch() is Exit.RESTART
    assert bench.platform.alive == ["nightly-7-1"]


def test_a_training_that_falls_silent_is_told_and_so_is_that_it_writes_again() -> None:
    bench = Bench(ENDLESS)
    lines = bench.platform.written.setdefault("nightly-7-1", ["loss=3"])
    told: list[float | None] = []

    def look() -> None:
        if bench.control.result(7):
            told.append(bench.result.outcomes[0].silent_since)
        if bench.time.now > 1_000_000 + 3600 and len(lines) == 1:
            lines.append("loss=2")

    asleep(bench, look)
    assert bench.launch() is Exit.RESTART
    silences = [since for index, since in enumerate(told) if since not in told[:index]]
    assert silences[0] is None
    assert silences[1] == pytest.approx(1_000_000, abs=120)
    assert None in told[told.index(silences[1]) :]  # it wrote again
    assert silences[2] == pytest.approx(1_003_600, abs=240)  # and fell silent again


def test_a_log_that_cannot_be_read_is_not_called_silent() -> None:
    bench = Bench(ENDLESS, limits=SILENT)

    def before(what: str) -> None:
        if what == "logs":
            raise Throttled("slow down")

    bench.platform.before = before
    asleep(bench, lambda: None)
    assert bench.launch() is Exit.RESTART
    assert bench.platform.alive == ["nightly-7-1"]


def test_a_loss_that_is_no_number_ends_a_training_and_another_metric_does_not() -> None:
    bench = Bench(ENDLESS, limits=NO_NUMBERS)
    bench.platform.written["nightly-7-1"] = ["[sweep] step=1 loss=4", NAN]
    assert bench.launch() is Exit.TASK_WRONG
    assert bench.result.reason == "ended because its loss was no finite number"
    other = Bench(ENDLESS, limits=NO_NUMBERS)
    other.platform.written["nightly-7-1"] = ["[sweep] step=1 accuracy=nan", "[sweep] step=2 loss=3"]
    asleep(other, lambda: None)
    assert other.launch() is Exit.RESTART


def test_a_retry_begins_anew_though_the_attempt_before_has_diverged() -> None:
    bench = Bench(ENDLESS, Life(looks=[*[RUNNING] * 6, DONE]), limits=Limits(3600, retries=1, end_on_nan="loss"))
    bench.platform.written["nightly-7-1"] = [NAN]
    bench.platform.written["nightly-7-2"] = ["the second begins", "[sweep] step=3 loss=1"]
    assert bench.launch() is Exit.DONE
    assert [one.state for one in bench.result.outcomes] == [TaskState.FAILED, TaskState.DONE]
    assert bench.result.outcomes[0].reason == "ended because its loss was no finite number"


@pytest.mark.parametrize("kind", ["signal", "kill"])
def test_why_it_was_ended_outlives_the_launcher_that_ended_it(kind: str) -> None:
    bench = Bench(ENDLESS, limits=NO_NUMBERS)
    bench.platform.written["nightly-7-1"] = [NAN]

    def before(what: str) -> None:
        if what == "stop" and kind == "kill":
            bench.platform.trainings["us-west-2", "nightly-7-1"].looks = [(TaskState.CANCELLED, Cause.STOPPED)]
            raise KeyboardInterrupt
        if what == "stop":
            bench.time.term = True

    bench.platform.before = before
    if kind == "kill":
        with pytest.raises(KeyboardInterrupt):
            bench.launch()
    else:
        assert bench.launch() is Exit.RESTART
    bench.platform.before, bench.time.term = lambda _: None, False
    assert bench.launch() is Exit.TASK_WRONG
    assert bench.result.reason == "ended because its loss was no finite number"


def test_what_was_done_before_it_could_be_ended_is_done() -> None:
    before = Outcome(1, PLACES[0].lane, "nightly-7-1", TaskState.RUNNING, ended_for="its log was silent")
    done = Outcome(1, PLACES[0].lane, "nightly-7-1", TaskState.DONE).following(before)
    assert (done.state, done.reason) == (TaskState.DONE, "")
    stopped = Outcome(1, PLACES[0].lane, "nightly-7-1", TaskState.CANCELLED, Cause.STOPPED, "stopped")
    assert stopped.following(before).reason == "its log was silent"
    assert stopped.following(None) == stopped
