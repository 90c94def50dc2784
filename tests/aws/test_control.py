from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.aws.control import Control, replaces
from orchestrator.errors import AlreadyExists, InvalidRequest, NewerVersion, NotFound, Unreachable
from orchestrator.wire.beside.news import News
from orchestrator.wire.result import Attempt, Outcome, Result, TaskState
from orchestrator.wire.task import Lane, Purchase
from orchestrator.wire.template import Template

if TYPE_CHECKING:
    from orchestrator.aws.s3 import S3, Written

LANE = Lane("sagemaker", "us-west-2", "ml.g5.xlarge", Purchase.SPOT)
ATTEMPT = Attempt(7, 1, 0, LANE, "nightly-7-1", "hash", 3600, 1000.0, rate=1.5)


def result(attempt: int, state: TaskState, submission: int = 1) -> Result:
    outcomes = tuple(Outcome(n, LANE, f"nightly-7-{n}", state) for n in range(1, attempt + 1))
    return Result(7, "key", state, "", outcomes, submission)


@pytest.fixture
def control(s3: S3) -> Control:
    return Control(s3, "nightly")


def test_an_attempt_is_recorded_once_and_read_back_as_it_was(control: Control) -> None:
    assert control.record(ATTEMPT)
    assert not control.record(replace(ATTEMPT, place=1))
    assert control.attempts(7) == [ATTEMPT]


def test_attempts_come_in_order_and_only_those_of_the_task(control: Control) -> None:
    for number in (12, 2, 1):
        control.record(replace(ATTEMPT, number=number))
    control.record(replace(ATTEMPT, task=71))
    assert [attempt.number for attempt in control.attempts(7)] == [1, 2, 12]


def test_attempts_are_listed_without_being_read(control: Control) -> None:
    for task, number in ((12, 1), (7, 2), (7, 1)):
        control.record(replace(ATTEMPT, task=task, number=number))
    assert control.recorded() == [(7, 1), (7, 2), (12, 1)]
    assert control.recorded(7) == [(7, 1), (7, 2)]
    assert control.attempt(7, 2) == replace(ATTEMPT, number=2)
    with pytest.raises(NotFound):
        control.attempt(7, 3)


def test_a_task_that_left_nothing_has_no_result(control: Control) -> None:
    assert control.result(7) is None


def test_a_result_moves_on_and_never_back(control: Control) -> None:
    for state in (TaskState.STARTING, TaskState.RUNNING, TaskState.DONE):
        control.write_result(result(1, state))
    control.write_result(result(1, TaskState.RUNNING))
    assert control.result(7) is not None
    assert control.result(7)[0] == result(1, TaskState.DONE)  # type: ignore[index]


def test_an_older_attempt_never_replaces_a_newer_one(control: Control) -> None:
    control.write_result(result(2, TaskState.STARTING))
    control.write_result(result(1, TaskState.DONE))
    assert control.result(7)[0].attempt == 2  # type: ignore[index]


def test_many_writers_leave_the_newest_result(control: Control) -> None:
    states = [TaskState.STARTING, TaskState.RUNNING, TaskState.FAILED]
    results = [result(n, state) for n in range(1, 5) for state in states]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(control.write_result, reversed(results)))
    assert control.result(7)[0] == results[-1]  # type: ignore[index]


def test_a_writer_that_loses_the_race_looks_again(control: Control, monkeypatch: pytest.MonkeyPatch) -> None:
    write, sent = control.s3.write, []

    def overtaken(key: str, body: bytes, etag: str | None) -> Written:
        sent.append(key)
        if len(sent) == 1:
            write(key, body.replace(b"running", b"starting"), etag)
            raise AlreadyExists("lost")
        return write(key, body, etag)

    monkeypatch.setattr(control.s3, "write", overtaken)
    control.write_result(result(1, TaskState.RUNNING))
    assert sent[:2] == [control.keys.result(7)] * 2
    assert control.result(7)[0].state is TaskState.RUNNING  # type: ignore[index]


states = st.sampled_from(TaskState)
results = st.builds(result, st.integers(0, 3), states, st.integers(1, 2))


@given(results, results)
def test_of_two_different_results_at_most_one_replaces_the_other(one: Result, other: Result) -> None:
    assert one == other or not (replaces(one, other) and replaces(other, one))


def test_done_is_proof_and_replaces_a_presumed_ending() -> None:
    assert replaces(result(1, TaskState.DONE), result(1, TaskState.CANCELLED))
    assert not replaces(result(1, TaskState.CANCELLED), result(1, TaskState.DONE))
    assert not replaces(result(1, TaskState.FAILED), result(1, TaskState.CANCELLED))


def test_a_cancel_reaches_the_submissions_there_are_and_never_goes_back(control: Control) -> None:
    assert not control.cancelled(1)
    control.cancel(through=2)
    control.cancel(through=1)
    assert control.cancelled(1)
    assert control.cancelled(2)
    assert not control.cancelled(3)


def test_a_template_comes_back_and_a_missing_or_broken_one_is_named(control: Control) -> None:
    template = Template("sagemaker", "us-west-2", "nightly", "me", {"RoleArn": "r"}, "s3://b/out")
    key = control.keys.template("sagemaker", "us-west-2")
    with pytest.raises(NotFound, match=key):
        control.template("sagemaker", "us-west-2")
    control.s3.put_once(key, b"{}")
    with pytest.raises(InvalidRequest, match=f"s3://control/{key}: cannot be understood"):
        control.template("sagemaker", "us-west-2")
    control.s3.put_if(key, json.dumps(template.to_json()).encode(), control.s3.get(key).etag)
    assert control.template("sagemaker", "us-west-2") == template


def test_what_a_newer_sweep_has_written_is_refused_by_name(control: Control) -> None:
    key = control.keys.attempt(7, 1)
    control.s3.put_once(key, json.dumps(ATTEMPT.to_json() | {"version": 2}).encode())
    with pytest.raises(NewerVersion, match=f"s3://control/{key}: this attempt has version 2"):
        control.attempts(7)


def test_a_stored_marker_is_read_for_ever_and_a_newer_one_refused(control: Control) -> None:
    golden = Path(__file__).parents[1] / "golden" / "v1" / "cancel"
    control.s3.put_once(control.keys.cancel, golden.read_bytes())
    assert [control.cancelled(submission) for submission in (1, 2, 3)] == [True, True, False]
    control.s3.put_if(control.keys.cancel, b'{"version": 2}', control.s3.get(control.keys.cancel).etag)
    with pytest.raises(NewerVersion, match="runs/nightly/cancel: this cancel marker has version 2"):
        control.cancelled(1)


def told(control: Control) -> list[News | None]:
    """What the names of news tell."""
    return [News.read(item.key.removeprefix(control.keys.news)) for item in control.s3.list(control.keys.news)]


def test_a_result_is_told_by_one_name_that_says_all_of_it(control: Control) -> None:
    for state in (TaskState.STARTING, TaskState.RUNNING, TaskState.DONE):
        control.write_result(result(1, state))
    (news,) = told(control)
    found = control.result(7)
    assert found
    assert news
    assert News.of(*found, news.moment) == news
    assert abs(news.moment / 1000 - time.time()) < 60


def test_what_does_not_change_is_no_news(control: Control) -> None:
    control.write_result(result(2, TaskState.DONE))
    control.write_result(result(2, TaskState.DONE))
    control.write_result(result(1, TaskState.DONE))
    assert len(told(control)) == 1


def test_news_that_could_not_be_told_are_told_with_the_next_try(
    control: Control, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(key: str, body: bytes) -> bool:
        raise Unreachable(f"{key} {body!r}")

    with monkeypatch.context() as patch:
        patch.setattr(control.s3, "put_once", down)
        with pytest.raises(Unreachable):
            control.write_result(result(1, TaskState.DONE))
    assert told(control) == []
    control.write_result(result(1, TaskState.DONE))
    assert [news and news.state for news in told(control)] == [TaskState.DONE]


def test_a_result_whose_answer_was_lost_is_told(control: Control, monkeypatch: pytest.MonkeyPatch) -> None:
    write, calls = control.s3.write, iter(range(100))

    def lost(key: str, body: bytes, etag: str | None) -> Written:
        written = write(key, body, etag)
        if next(calls) == 0:
            raise AlreadyExists("the second try found the first one's object")
        return written

    monkeypatch.setattr(control.s3, "write", lost)
    control.write_result(result(1, TaskState.DONE))
    assert [news and news.state for news in told(control)] == [TaskState.DONE]
