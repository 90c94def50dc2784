"""What a launcher reads in its trainings' logs, and that it never costs more than that."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

import pytest

from orchestrator.errors import AccessDenied, Throttled, Unreachable
from orchestrator.launcher.watching import metrics_reader
from orchestrator.wire.curve import decode
from orchestrator.wire.exits import Exit
from orchestrator.wire.result import Cause, Result, TaskState
from tests.launcher.fakes import DONE, RUNNING, STOPPED, Bench, Life, failed

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.wire.result import Attempt, Outcome

STARTING = (TaskState.STARTING, Cause.NONE)


def line(step: int, loss: float) -> str:
    return f"[sweep] step={step} loss={loss:g}"


def curves_of(bench: Bench) -> dict[str, list[tuple[float, float]]]:
    return {name: decode(text) for name, text in bench.result.curves.items()}


def as_it_runs(bench: Bench, *batches: list[str]) -> Callable[[], None]:
    """Return what is to be called at each sleep of the launcher: it lets its training write one batch more."""
    left = list(batches)
    written = bench.platform.written.setdefault("nightly-7-1", [])
    return lambda: written.extend(left.pop(0) if left else [])


def test_the_curve_grows_while_the_training_runs_at_every_second_look() -> None:
    bench = Bench(Life(looks=[RUNNING, RUNNING, RUNNING, RUNNING, DONE]))
    write, curves = as_it_runs(bench, [line(1, 4)], [line(2, 3), line(3, 2)]), []

    def on_sleep() -> None:
        curves.append(curves_of(bench))
        write()

    bench.time.on_sleep = on_sleep
    assert bench.launch() is Exit.DONE
    assert curves == [{}, {"loss": [(1, 4)]}, {"loss": [(1, 4)]}, {"loss": [(1, 4), (2, 3), (3, 2)]}]
    assert curves_of(bench) == curves[-1]
    assert bench.result.metrics == {"loss": 2}


def test_a_result_that_says_nothing_new_is_not_written_again() -> None:
    bench = Bench(Life(looks=[RUNNING] * 20 + [DONE]))
    bench.platform.written["nightly-7-1"] = [line(1, 4)]
    bench.launch()
    results = [key for key in bench.control.s3.objects if "/results/" in key]  # type: ignore[attr-defined]
    assert len(results) == 1
    assert bench.control.s3.writes <= 11  # type: ignore[attr-defined]


def test_what_the_platform_says_of_a_metric_goes_before_what_the_log_does(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench()
    bench.platform.written["nightly-7-1"] = [line(1, 4), "[sweep] step=1 accuracy=0.5"]
    poll = bench.platform.poll
    monkeypatch.setattr(
        bench.platform, "poll", lambda *asked: (found := poll(*asked)) and replace(found, metrics={"loss": 3.5})
    )
    bench.launch()
    assert bench.result.metrics == {"loss": 3.5, "accuracy": 0.5}


def test_metrics_with_a_regex_have_curves_too() -> None:
    bench = Bench(metrics={"loss": r"loss: ([0-9.]+)"})
    bench.platform.written["nightly-7-1"] = ["loss: 4", "accuracy: 1", "loss: 3"]
    bench.launch()
    assert curves_of(bench) == {"loss": [(1, 4), (2, 3)]}


def test_the_next_attempt_goes_on_from_the_checkpoint_of_the_one_before() -> None:
    bench = Bench(Life(looks=[failed(Cause.INTERRUPTED)]), Life())
    bench.platform.written["nightly-7-1"] = [line(1, 4), line(2, 3), line(3, 2.5)]
    bench.platform.written["nightly-7-2"] = [line(3, 2), line(4, 1)]
    assert bench.launch() is Exit.DONE
    assert curves_of(bench) == {"loss": [(1, 4), (2, 3), (3, 2), (4, 1)]}


def test_what_an_attempt_wrote_after_its_launcher_was_gone_is_read_by_the_next() -> None:
    """Cancelled: the training still saved, and reported two steps more, when nobody listened any longer."""
    bench = Bench(Life(looks=[RUNNING, RUNNING, RUNNING, DONE]), Life())
    bench.platform.written["nightly-7-1"] = [line(1, 4)]

    def on_sleep() -> None:
        bench.control.cancel(through=1)
        bench.time.term = True

    bench.time.on_sleep = on_sleep
    assert bench.launch() is Exit.CANCELLED
    bench.platform.trainings["us-west-2", "nightly-7-1"].looks = [STOPPED]
    bench.platform.written["nightly-7-1"] += [line(2, 3), line(3, 2)]
    bench.platform.written["nightly-7-2"] = [line(3, 2), line(4, 1)]
    bench.time.on_sleep, bench.time.term = lambda: None, False
    bench.submission, bench.task = 2, replace(bench.task, after=1)
    assert bench.launch() is Exit.DONE
    assert curves_of(bench) == {"loss": [(1, 4), (2, 3), (3, 2), (4, 1)]}


def test_a_restarted_launcher_reads_the_log_again_and_counts_nothing_twice() -> None:
    bench = Bench(Life(looks=[RUNNING, RUNNING, RUNNING, RUNNING, DONE]), metrics={"acc": r"acc ([0-9.]+)"})
    bench.platform.written["nightly-7-1"] = [line(1, 4), "acc 0.5", "acc 0.75"]
    sleeps = count()
    bench.time.on_sleep = lambda: setattr(bench.time, "term", next(sleeps) == 1)
    assert bench.launch() is Exit.RESTART
    assert curves_of(bench)["loss"] == [(1, 4)]
    bench.time.term = False
    bench.platform.written["nightly-7-1"].append("acc 1")
    assert bench.launch() is Exit.DONE
    assert curves_of(bench) == {"loss": [(1, 4)], "acc": [(1, 0.5), (2, 0.75), (3, 1)]}


@pytest.mark.parametrize("error", [AccessDenied("no"), Throttled("slow down")])
def test_a_log_that_cannot_be_read_changes_nothing(error: Exception) -> None:
    bench = Bench(Life(looks=[RUNNING, DONE]))

    def before(what: str) -> None:
        if what == "logs":
            raise error

    bench.platform.before = before
    assert bench.launch() is Exit.DONE
    assert (bench.result.state, curves_of(bench)) == (TaskState.DONE, {})


def test_the_end_of_a_log_is_sought_again_where_it_could_not_be_read_at_first() -> None:
    """Its Region answers nobody for a moment, just when the training has ended."""
    bench = Bench(Life(looks=[RUNNING, DONE]))
    bench.platform.written["nightly-7-1"] = [line(1, 4)]
    refusals = [Unreachable("no answer"), Throttled("slow down")]

    def before(what: str) -> None:
        if what == "logs" and refusals:
            raise refusals.pop()

    bench.platform.before = before
    assert bench.launch() is Exit.DONE
    assert bench.result.metrics == {"loss": 4}


def test_what_was_written_last_may_still_be_on_its_way_when_a_training_has_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench = Bench(Life(looks=[RUNNING, RUNNING, DONE]))
    poll = bench.platform.poll

    def poll_at_its_end(attempt: Attempt) -> Outcome | None:
        found = poll(attempt)
        assert found
        if not found.state.terminal:
            return found
        bench.time.on_sleep = lambda: bench.platform.written.update({"nightly-7-1": [line(1, 4), line(2, 3)]})
        return replace(found, ended_at=bench.time.now - 1)

    monkeypatch.setattr(bench.platform, "poll", poll_at_its_end)
    assert bench.launch() is Exit.DONE
    assert bench.result.metrics == {"loss": 3}
    assert bench.time.slept[-1] == 9


def test_nobody_looks_into_the_log_of_a_training_that_waits() -> None:
    bench = Bench(Life(looks=[STARTING, STARTING, STARTING, RUNNING, DONE]))
    asked: list[str] = []
    bench.platform.before = asked.append
    bench.launch()
    assert (asked.count("poll"), asked.count("logs")) == (4, 2)


def test_an_endless_log_is_left_for_the_next_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics_reader, "MOST_LINES", 2)
    bench = Bench(Life(looks=[RUNNING, RUNNING, DONE]))
    bench.platform.written["nightly-7-1"] = [line(step, step) for step in range(1, 6)]
    assert bench.launch() is Exit.DONE
    assert curves_of(bench) == {"loss": [(1, 1), (2, 2), (3, 3), (4, 4)]}


def test_a_result_keeps_its_curves_on_its_way_and_an_older_one_has_none() -> None:
    result = Result(7, "key", TaskState.DONE, curves={"loss": "1:4 2:3.5"})
    assert Result.from_json(result.to_json()) == result
    assert "curves" not in Result(7, "key", TaskState.DONE).to_json()


def test_what_has_run_away_counts_for_nothing_though_the_platform_measured_it_before() -> None:
    reader = metrics_reader.MetricsReader({})
    reader._curves.read(["[sweep] step=1 loss=0.5 accuracy=0.9", "[sweep] step=2 loss=nan accuracy=0.8"], {})
    assert reader.newest_values({"loss": 0.5, "f1": 0.7}) == {"accuracy": 0.8, "f1": 0.7}
