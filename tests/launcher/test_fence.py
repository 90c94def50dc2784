"""A task belongs to the newest submission that names it: a launcher held back from an older one does no harm."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from orchestrator.errors import Throttled
from orchestrator.wire.exits import Exit
from orchestrator.wire.ranges import Ranges
from orchestrator.wire.result import Cause, TaskState
from tests.fixtures.examples import examples
from tests.launcher.fakes import DONE, RUNNING, STOPPED, Bench, Life, failed
from tests.launcher.test_races import Launcher, Turn, play, turns

if TYPE_CHECKING:
    from orchestrator.wire.result import Attempt

TASK = Ranges.of([7])
NAMED_ONCE = "nightly-7-1"


def cancel_and_retry(bench: Bench) -> Bench:
    """Cancel the run and retry its task, as `sweep` does. Return the bench as the retry's launcher finds it."""
    bench.control.cancel(through=1)
    bench.control.hand_over(TASK, to=2)
    again = Bench(*bench.platform.lives)
    again.control, again.platform, again.time = bench.control, bench.platform, bench.time
    found = bench.control.result(7)
    again.submission, again.task = 2, replace(bench.task, after=found[0].proven if found else 0)
    return again


def test_a_held_launcher_does_not_stop_the_training_of_the_retry() -> None:
    bench = Bench(Life(looks=[failed(Cause.CAPACITY)]), Life(looks=[RUNNING]))

    bucket: Any = bench.control.s3

    def held_while_it_records_its_second_attempt(what: str) -> None:
        if what == "put":
            bucket.before = lambda _: None
            again = cancel_and_retry(bench)
            again.time.on_sleep = lambda: setattr(again.time, "term", True)
            assert again.launch() is Exit.RESTART
            bench.time.on_sleep, bench.time.term = lambda: None, False

    waits = iter([lambda: None, lambda: setattr(bucket, "before", held_while_it_records_its_second_attempt)])
    bench.time.on_sleep = lambda: next(waits)()
    assert bench.launch() is Exit.CANCELLED
    assert bench.platform.alive == ["nightly-7-2"]
    assert bench.result.submission == 2


def test_a_held_launcher_records_no_more_attempts() -> None:
    bench = Bench(Life(looks=[failed(Cause.CAPACITY)]))
    bench.platform.before = lambda what: bench.control.hand_over(TASK, to=2) if what == "poll" else None
    assert bench.launch() is Exit.CANCELLED
    assert bench.attempts == ["1 in us-west-2"]


def test_a_held_launcher_that_starts_too_late_leaves_its_training_to_the_owner() -> None:
    bench = Bench(Life(looks=[RUNNING]))
    retries: list[Bench] = []
    bench.platform.before = lambda what: retries.append(cancel_and_retry(bench)) if what == "start" else None
    assert bench.launch() is Exit.CANCELLED
    assert bench.platform.alive == [NAMED_ONCE]
    bench.platform.before = lambda _: None
    bench.platform.trainings["us-west-2", NAMED_ONCE].looks = [RUNNING, DONE]
    assert retries[0].launch() is Exit.DONE
    assert bench.platform.created == [f"{NAMED_ONCE} in us-west-2"]


def test_the_owner_starts_what_was_recorded_and_never_begun_under_its_own_number() -> None:
    bench = Bench(Life(refusals=[Throttled("slow down")] * 3))
    bench.time.on_sleep = lambda: setattr(bench.time, "term", True)
    assert bench.launch() is Exit.RESTART
    bench.time.on_sleep, bench.time.term = lambda: None, False
    again = cancel_and_retry(bench)
    assert again.launch() is Exit.DONE
    assert again.attempts == ["1 in us-west-2"]
    assert again.result.submission == 2


def test_what_the_owner_took_over_and_was_stopped_after_all_is_no_cancel_of_its_own() -> None:
    bench = Bench(Life(looks=[RUNNING]))
    bench.time.on_sleep = lambda: setattr(bench.time, "term", True)
    bench.launch()
    bench.time.on_sleep, bench.time.term = lambda: None, False
    again = cancel_and_retry(bench)
    bench.platform.trainings["us-west-2", NAMED_ONCE].looks = [RUNNING, STOPPED]
    assert again.launch() is Exit.DONE
    assert again.attempts == ["1 in us-west-2", "2 in us-west-2"]
    assert again.result.state is TaskState.DONE


def test_what_the_owner_took_over_and_was_done_is_not_trained_again() -> None:
    bench = Bench(Life(looks=[RUNNING]))
    bench.time.on_sleep = lambda: setattr(bench.time, "term", True)
    bench.launch()
    bench.time.on_sleep, bench.time.term = lambda: None, False
    again = cancel_and_retry(bench)
    bench.platform.trainings["us-west-2", NAMED_ONCE].looks = [RUNNING, DONE]
    assert again.launch() is Exit.DONE
    assert again.attempts == ["1 in us-west-2"]


begun_in_vain = st.builds(
    lambda end: Life(looks=[RUNNING, failed(end)]), st.sampled_from([Cause.CAPACITY, Cause.INTERRUPTED])
)


@settings(max_examples=examples(200))
@given(
    st.lists(begun_in_vain, max_size=2),
    st.integers(1, 2),
    st.integers(1, 2),
    st.lists(turns, max_size=80),
    st.integers(0, 60),
)
def test_launchers_of_two_submissions_never_have_two_trainings_alive_and_the_retry_is_done(
    in_vain: list[Life], older: int, newer: int, schedule: list[Turn], moment: int
) -> None:
    bench = Bench(*in_vain, Life(looks=[RUNNING, RUNNING, DONE]), Life(looks=[RUNNING, RUNNING, DONE]))
    launchers = [Launcher(n, bench) for n in range(older)]
    play(bench, launchers, schedule[:moment], everybody_ends=False)
    found = bench.control.result(7)
    assume(found is None or found[0].state is not TaskState.DONE)  # nobody retries what is known to be done
    again = cancel_and_retry(bench)
    launchers += [Launcher(older + n, again) for n in range(newer)]
    play(bench, launchers, schedule[moment:])
    assert again.result.state is TaskState.DONE
    assert all(one.exit is Exit.DONE for one in launchers[older:])
    done = [name for name, training in bench.platform.trainings.items() if training.looks[0] == DONE]
    assert len(done) == 1


def recorded(bench: Bench) -> list[Attempt]:
    return bench.control.attempts(7)


def test_an_attempt_says_which_submission_recorded_it() -> None:
    bench: Any = Bench(submission=3, after=0)
    bench.launch()
    assert [one.submission for one in recorded(bench)] == [3]
