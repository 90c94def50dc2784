"""Results and attempts come back as they were, and a newer state replaces an older one."""

from __future__ import annotations

import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.wire.result import Attempt, Cause, Outcome, Result, TaskState
from orchestrator.wire.task import Lane, Place, Purchase

LANES = st.builds(
    Lane,
    st.just("sagemaker"),
    st.sampled_from(["us-east-1", "eu-west-1"]),
    st.just("ml.g5.xlarge"),
    st.sampled_from(Purchase),
)
AMOUNTS = st.floats(0, 1e9)
OUTCOMES = st.builds(
    Outcome,
    number=st.integers(1, 99),
    lane=LANES,
    training=st.text(),
    state=st.sampled_from(TaskState),
    cause=st.sampled_from(Cause),
    reason=st.text(),
    seconds=AMOUNTS,
    billable_s=AMOUNTS,
    usd=AMOUNTS,
    instances=st.integers(1, 64),
    started_at=st.none() | AMOUNTS,
    ended_at=st.none() | AMOUNTS,
    metrics=st.dictionaries(st.text(), AMOUNTS),
    artifact=st.text(),
)
RESULTS = st.builds(
    Result,
    task=st.integers(0, 10**9),
    key=st.text(),
    state=st.sampled_from(TaskState),
    reason=st.text(),
    outcomes=st.lists(OUTCOMES, max_size=3).map(tuple),
)
ATTEMPTS = st.builds(
    Attempt,
    task=st.integers(0, 10**9),
    number=st.integers(1, 10**9),
    place=st.integers(0, 3),
    lane=LANES,
    training=st.text(),
    request_hash=st.text(),
    max_runtime_s=st.integers(60, 10**9),
    recorded_at=AMOUNTS,
    rate=AMOUNTS,
    site=st.text(),
    instances=st.integers(1, 64),
    output=st.text(),
)


@given(RESULTS)
def test_a_result_comes_back_as_it_was(result: Result) -> None:
    assert Result.from_json(json.loads(json.dumps(result.to_json()))) == result


@given(ATTEMPTS)
def test_an_attempt_comes_back_as_it_was(attempt: Attempt) -> None:
    assert Attempt.from_json(json.loads(json.dumps(attempt.to_json()))) == attempt


@given(RESULTS, ATTEMPTS)
def test_what_a_newer_writer_added_is_ignored(result: Result, attempt: Attempt) -> None:
    body = result.to_json() | {"new": 1}
    body["outcomes"] = [outcome | {"new": 1} for outcome in body["outcomes"]]
    assert Result.from_json(body) == result
    assert Attempt.from_json(attempt.to_json() | {"new": 1}) == attempt


@given(RESULTS)
def test_a_result_adds_up_its_attempts(result: Result) -> None:
    assert result.usd == sum(outcome.usd for outcome in result.outcomes)
    assert result.attempt == (result.outcomes[-1].number if result.outcomes else 0)


@given(OUTCOMES, st.sampled_from(TaskState), st.sampled_from(TaskState))
def test_a_later_attempt_outranks_every_state_of_an_earlier_one(
    outcome: Outcome, one: TaskState, other: TaskState
) -> None:
    earlier = Result(0, "k", one, outcomes=(outcome,))
    later = Result(0, "k", other, outcomes=(outcome, replace(outcome, number=outcome.number + 1)))
    assert earlier.order < later.order


def test_within_an_attempt_states_only_move_up_and_an_end_is_final() -> None:
    ranks = [TaskState.PENDING.rank, TaskState.STARTING.rank, TaskState.RUNNING.rank, TaskState.DONE.rank]
    assert ranks == sorted(set(ranks))
    ends = [state for state in TaskState if state.terminal]
    assert {state.rank for state in ends} == {TaskState.DONE.rank}
    assert max(state.rank for state in TaskState if not state.terminal) < TaskState.DONE.rank


def test_an_attempt_that_asks_for_several_places_comes_back_with_them_and_any_other_is_written_as_ever() -> None:
    lane = Lane("sagemaker", "eu-west-1", "ml.g5.xlarge", Purchase.ON_DEMAND)
    other = Place(replace(lane, instance_type="ml.g5.2xlarge"), "s3://b/d/", 4.0, joined=True)
    alone = Attempt(7, 1, 0, lane, "t-7-1", "hash", 3600, 0.0, 1.5)
    both = replace(alone, others=(other,))
    assert Attempt.from_json(json.loads(json.dumps(both.to_json()))) == both
    assert "others" not in alone.to_json()
    assert "joined" not in replace(other, joined=False).to_json()


def test_whoever_looks_at_an_ended_training_again_keeps_what_it_had_reported() -> None:
    lane = Lane("eks", "eu-west-1", "c5.xlarge", Purchase.SPOT)
    looked = Outcome(1, lane, "nightly-7-1", TaskState.DONE, usd=0.5)
    seen = replace(looked, metrics={"loss": 0.25}, not_finite=("val_loss",))
    assert looked.following(seen) == seen
    assert looked.following(replace(seen, state=TaskState.RUNNING)).metrics == {}
    assert replace(looked, metrics={"loss": 0.5}).following(seen).metrics == {"loss": 0.5}
    used = replace(looked, metrics={"cpu_percent": 93.0}).following(seen)  # the platform has measured something too
    assert (used.metrics, used.not_finite) == ({"loss": 0.25, "cpu_percent": 93.0}, ("val_loss",))
