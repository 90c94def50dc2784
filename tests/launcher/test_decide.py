from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.launcher.decide import INTERRUPTIONS, SHORTEST_S, End, Start, decide, exit_of
from orchestrator.launcher.moving.saved import Ahead, Saved
from orchestrator.launcher.tried import Tried
from orchestrator.wire.exits import Exit
from orchestrator.wire.result import Attempt, Cause, Outcome, Result, TaskState
from orchestrator.wire.task import KEPT_BACK_S, Limits
from tests.launcher.fakes import PLACES, task


def tried(number: int, cause: Cause, place: int = 0, at: float = 0.0) -> Tried:
    lane = PLACES[place].lane
    state = {Cause.NONE: TaskState.DONE, Cause.STOPPED: TaskState.CANCELLED}.get(cause, TaskState.FAILED)
    attempt = Attempt(7, number, place, lane, f"t-{number}", "hash", 3600, at, PLACES[place].rate)
    return Tried(attempt, Outcome(number, lane, f"t-{number}", state, cause, "so it was", ended_at=at))


def after(*attempts: Tried, now: float = 0.0, spent: float = 0.0, **changes: Any) -> Start | End:
    return decide(task(**changes), attempts, spent, now)


def test_the_first_attempt_goes_to_the_first_place() -> None:
    assert after() == Start(0, 3600)


TOGETHER = (PLACES[0], replace(PLACES[1], rate=7.2, joined=True), PLACES[2])


def test_places_that_one_request_asks_for_are_refused_together() -> None:
    patience = Limits(3600, patience_s=60)
    assert after(tried(1, Cause.CAPACITY), now=100.0, places=TOGETHER, limits=patience) == Start(2, 3600)
    assert after(tried(1, Cause.CAPACITY), now=100.0, limits=patience) == Start(1, 3600)


def test_an_envelope_pays_for_the_dearest_of_the_places_that_one_request_asks_for() -> None:
    limits = Limits(36_000, envelope=7.2)
    assert after(limits=limits) == Start(0, 2 * 3600 - KEPT_BACK_S)
    assert after(limits=limits, places=TOGETHER) == Start(0, 3600 - KEPT_BACK_S)


@pytest.mark.parametrize(
    ("cause", "end"),
    [
        (Cause.NONE, End(TaskState.DONE, Exit.DONE)),
        (Cause.TASK, End(TaskState.FAILED, Exit.TASK_WRONG, "so it was")),
        (Cause.TIMEOUT, End(TaskState.FAILED, Exit.TASK_WRONG, "so it was")),
        (Cause.STOPPED, End(TaskState.CANCELLED, Exit.CANCELLED, "so it was")),
    ],
)
def test_an_attempt_that_settles_the_task_ends_it(cause: Cause, end: End) -> None:
    assert after(tried(1, cause)) == end


def test_only_the_tasks_own_failures_count_against_its_retries() -> None:
    limits = Limits(3600, retries=2)
    history = [tried(1, Cause.TASK), tried(2, Cause.INTERRUPTED), tried(3, Cause.CAPACITY), tried(4, Cause.TASK)]
    assert after(*history, limits=limits) == Start(0, 3600)
    assert isinstance(after(*history, tried(5, Cause.TASK), limits=limits), End)


def test_a_service_that_fails_every_time_is_given_up_at_last() -> None:
    history = [tried(n, Cause.INTERRUPTED) for n in range(1, INTERRUPTIONS + 1)]
    assert after(*history[:-1]) == Start(0, 3600, refusals=INTERRUPTIONS - 1)
    assert after(*history) == End(TaskState.FAILED, Exit.UNAVAILABLE, "interrupted 20 times in a row: so it was")


def test_any_other_ending_between_interruptions_counts_them_anew() -> None:
    history = [tried(n, Cause.INTERRUPTED) for n in range(1, 2 * INTERRUPTIONS)]
    history[INTERRUPTIONS - 1] = tried(INTERRUPTIONS, Cause.CAPACITY)
    assert after(*history, now=1) == Start(0, 3600, refusals=INTERRUPTIONS - 1)


def test_capacity_is_waited_for_at_one_place_until_its_patience_is_over() -> None:
    limits = Limits(3600, patience_s=100)
    refused = [tried(1, Cause.CAPACITY, at=1000), tried(2, Cause.CAPACITY, at=1050)]
    assert after(*refused, now=1099, limits=limits) == Start(0, 3600, refusals=2)
    assert after(*refused, now=1100, limits=limits) == Start(1, 3600)


def test_patience_begins_anew_at_every_place() -> None:
    limits = Limits(3600, patience_s=100)
    refused = [tried(1, Cause.CAPACITY, at=1000), tried(2, Cause.CAPACITY, place=1, at=1200)]
    assert after(*refused, now=1250, limits=limits) == Start(1, 3600, refusals=1)


def test_an_interruption_between_two_refusals_begins_patience_anew() -> None:
    limits = Limits(3600, patience_s=100)
    history = [tried(1, Cause.CAPACITY, at=0), tried(2, Cause.INTERRUPTED, at=50), tried(3, Cause.CAPACITY, at=90)]
    assert after(*history, now=120, limits=limits) == Start(0, 3600, refusals=1)


def test_no_place_left_ends_the_task_as_unavailable() -> None:
    end = after(tried(1, Cause.CAPACITY), now=1, places=PLACES[:1], limits=Limits(3600, patience_s=0))
    assert end == End(TaskState.FAILED, Exit.UNAVAILABLE, "no capacity at its only place: so it was")


@given(st.floats(0, 100), st.floats(0, 100), st.integers(60, 10**6), st.integers(1, 8))
def test_no_attempt_may_run_for_longer_than_the_dollars_left(
    envelope: float, spent: float, longest: int, instances: int
) -> None:
    places = tuple(replace(place, instances=instances) for place in PLACES)
    step = after(spent=spent, places=places, limits=Limits(longest, envelope=envelope))
    if isinstance(step, Start):
        rate = PLACES[step.place].rate * instances
        assert SHORTEST_S <= step.max_runtime_s <= longest
        assert spent + (step.max_runtime_s + KEPT_BACK_S) / 3600 * rate <= envelope + 1e-6
    else:
        assert step.exit is Exit.UNAVAILABLE


@given(st.floats(0, 20), st.floats(0, 10), st.integers(0, 3600))
def test_what_a_platform_may_bill_beyond_the_longest_run_is_within_the_dollars_left(
    envelope: float, spent: float, allowance_s: int
) -> None:
    places = (replace(PLACES[0], allowance_s=allowance_s),)
    step = after(spent=spent, places=places, limits=Limits(36_000, envelope=envelope))
    if isinstance(step, Start):
        assert spent + (step.max_runtime_s + allowance_s) / 3600 * PLACES[0].rate <= envelope + 1e-6
    else:
        assert spent + (SHORTEST_S + 1 + allowance_s) / 3600 * PLACES[0].rate > envelope


causes = st.sampled_from([cause for cause in Cause if cause is not Cause.NONE])


@given(st.lists(st.tuples(causes, st.integers(0, 2)), min_size=1, max_size=12), st.floats(0, 10_000))
def test_whatever_happened_there_is_a_next_step_at_a_place_there_is(
    history: list[tuple[Cause, int]], now: float
) -> None:
    step = after(*[tried(n, cause, place) for n, (cause, place) in enumerate(history, 1)], now=now)
    assert isinstance(step, End) or 0 <= step.place < len(PLACES)


@pytest.mark.parametrize(
    ("state", "cause", "code"),
    [
        (TaskState.DONE, Cause.NONE, Exit.DONE),
        (TaskState.CANCELLED, Cause.STOPPED, Exit.CANCELLED),
        (TaskState.FAILED, Cause.TASK, Exit.TASK_WRONG),
        (TaskState.FAILED, Cause.TIMEOUT, Exit.TASK_WRONG),
        (TaskState.FAILED, Cause.CAPACITY, Exit.UNAVAILABLE),
        (TaskState.FAILED, Cause.INTERRUPTED, Exit.UNAVAILABLE),
    ],
)
def test_a_result_tells_the_exit_code_again(state: TaskState, cause: Cause, code: Exit) -> None:
    outcome = Outcome(1, PLACES[0].lane, "t-1", state, cause)
    assert exit_of(Result(7, "key", state, outcomes=(outcome,))) is code


def test_a_task_that_failed_without_an_attempt_was_unavailable() -> None:
    assert exit_of(Result(7, "key", TaskState.FAILED)) is Exit.UNAVAILABLE


def test_an_envelope_that_cannot_pay_for_the_copy_of_a_checkpoint_says_what_the_copy_would_cost() -> None:
    limits, ahead = Limits(3600, patience_s=0, envelope=4.0), Ahead(Saved(PLACES[0].lane.region, 100.0, 0.05))
    end = decide(task(limits=limits), [tried(1, Cause.CAPACITY)], 0.0, 0.0, ahead)
    assert isinstance(end, End)
    assert end.reason == (
        "$0.00 of its $4.00 are spent, and the $4.00 left pay for no further attempt: "
        f"on {PLACES[1].lane} it takes $5.24 at the least, "
        "for 1 minute of training and 3 minutes that fake may bill besides, at $3.60 an hour, "
        f"and $5.00 for the copy of its checkpoint of 100 GB to {PLACES[1].lane.region}"
    )


def test_an_envelope_that_is_spent_says_nothing_of_copies_where_none_is_needed() -> None:
    end = after(tried(1, Cause.TASK), limits=Limits(3600, retries=1, envelope=4.0), spent=4.0)
    assert isinstance(end, End)
    assert end.reason.startswith("$4.00 of its $4.00 are spent, and the $0.00 left pay for no further attempt: on ")
    assert "copy" not in end.reason


def test_an_envelope_of_cents_says_what_is_kept_back_for_another_attempt_so_that_the_sum_can_be_done() -> None:
    places = (replace(PLACES[0], rate=0.36, allowance_s=900), replace(PLACES[1], rate=0.18, allowance_s=900))
    end = after(tried(1, Cause.INTERRUPTED), places=places, limits=Limits(600, envelope=0.048), spent=0.0034)
    assert end == End(
        TaskState.FAILED,
        Exit.UNAVAILABLE,
        "$0.0034 of its $0.0480 are spent, and the $0.0446 left pay for no further attempt: "
        f"on {PLACES[1].lane} it takes $0.0480 at the least, "
        "for 1 minute of training and 15 minutes that fake may bill besides, at $0.1800 an hour",
    )


@given(st.floats(0.01, 50), st.floats(0, 1), st.floats(0.01, 40))
def test_what_is_left_and_what_an_attempt_takes_are_never_told_as_the_same_dollars(
    envelope: float, part: float, rate: float
) -> None:
    places = (replace(PLACES[0], rate=rate),)
    end = after(
        tried(1, Cause.INTERRUPTED), places=places, limits=Limits(600, envelope=envelope), spent=envelope * part
    )
    if isinstance(end, End):
        spent, total, left, least, _ = (float(usd) for usd in re.findall(r"\$(\d+\.\d+)", end.reason))
        assert left < least
        assert spent + left == pytest.approx(total, abs=0.011)
