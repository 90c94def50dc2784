"""Names that tell how tasks stand: read back as they were written, in the order of their moments."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.runs.known.rows import known_of_row, row_of_news
from orchestrator.wire.beside.news import News, moment_name
from orchestrator.wire.result import Cause, Outcome, Result, TaskState
from orchestrator.wire.task import Lane, Purchase

LANE = Lane("sagemaker", "eu-west-1", "ml.g5.xlarge", Purchase.SPOT)
NEWS = News(1795000000123, 912, 2, 3, 3, TaskState.DONE, LANE, 4, 3600.5, 1200.25, 1.0, 1.5, 2.5, '"c0ffee"')
LONGEST_KEY = 1024

numbers = st.floats(0, 1e9, allow_nan=False)
lanes = st.builds(lambda kind: replace(LANE, instance_type=kind), st.text(min_size=1, max_size=20))
news = st.builds(
    News,
    moment=st.integers(0, 9_999_999_999_999),
    task=st.integers(0, 10**9),
    submission=st.integers(1, 99),
    attempt=st.integers(0, 99),
    proven=st.integers(0, 99),
    state=st.sampled_from(TaskState),
    lane=st.none() | lanes,
    instances=st.integers(0, 100),
    seconds=numbers,
    billable_s=numbers,
    usd=numbers,
    started_at=st.none() | numbers,
    ended_at=st.none() | numbers,
    etag=st.just('"0123456789abcdef0123456789abcdef"'),
)


@given(news)
def test_what_a_name_tells_is_read_back_as_it_was(told: News) -> None:
    assert News.read(told.name) == told
    assert len(told.name) < LONGEST_KEY - 100


@given(news, news)
def test_names_are_listed_in_the_order_of_their_moments(one: News, other: News) -> None:
    if one.moment < other.moment:
        assert one.name < other.name
        assert one.name < moment_name(other.moment)


def test_a_name_is_written_so_for_ever() -> None:
    name = (
        "1795000000123~1~912~2~3~3~done~sagemaker%2Feu-west-1%2Fml.g5.xlarge%2Fspot~4~3600.5~1200.25~1.0~1.5~2.5~c0ffee"
    )
    assert NEWS.name == name
    assert News.read(name) == NEWS


@pytest.mark.parametrize("name", ["1795000000123~2~something~else", "1795000000123~1~912", "notes"])
def test_a_name_of_another_format_tells_nothing(name: str) -> None:
    assert News.read(name) is None


def test_news_of_a_result_have_its_place_among_the_others() -> None:
    first = Outcome(1, LANE, "nightly-7-1", TaskState.FAILED, Cause.CAPACITY, seconds=1.0, billable_s=0.5, usd=0.25)
    second = Outcome(2, LANE, "nightly-7-2", TaskState.RUNNING, instances=2, seconds=3.0, usd=0.5, started_at=9.0)
    result = Result(7, "key", TaskState.RUNNING, "", (first, second), submission=2)
    told = News.of(result, '"etag"', 5)
    assert told.order == result.order
    assert (told.proven, told.seconds, told.billable_s, told.usd) == (1, 4.0, 0.5, 0.75)
    assert (told.lane, told.instances, told.started_at, told.ended_at) == (LANE, 2, 9.0, None)
    assert News.of(Result(7, "key", TaskState.CANCELLED), '"etag"', 5).lane is None


def test_a_training_that_has_lost_its_machines_is_told_with_when() -> None:
    waits = Outcome(1, LANE, "training", TaskState.RUNNING, started_at=10.0, lost_at=70.0)
    told = News.of(Result(7, "key", TaskState.RUNNING, outcomes=(waits,)), '"etag"', 5)
    (seen,) = known_of_row(SimpleNamespace(**row_of_news("nightly", told, told.state))).result.outcomes
    assert (seen.state, seen.ended_at, seen.lost_at) == (TaskState.RUNNING, None, 70.0)
