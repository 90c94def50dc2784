"""A time of day as cron writes it: what is taken, what is refused in words, and what EventBridge is told."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.localcloud.services.schedules import timetable
from orchestrator.spec.schedule.cron import Cron, NotCron

SUNDAY = date(2026, 11, 22)


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("0 2 * * *", "cron(0 2 * * ? *)"),
        ("cron(0 2 * * ? *)", "cron(0 2 * * ? *)"),
        ("30 1 * * 1-5", "cron(30 1 ? * 2,3,4,5,6 *)"),
        ("30 1 * * MON-FRI", "cron(30 1 ? * 2,3,4,5,6 *)"),
        ("30 1 ? * MON-FRI *", "cron(30 1 ? * 2,3,4,5,6 *)"),
        ("0 2 1,15 * *", "cron(0 2 1,15 * ? *)"),
        ("5 0 */10 1-3 *", "cron(5 0 1,11,21,31 1,2,3 ? *)"),
    ],
)
def test_what_cron_and_aws_write_means_the_same(text: str, expression: str) -> None:
    assert Cron.parse(text).expression == expression


@pytest.mark.parametrize(
    ("text", "weekday"), [("0 2 * * 0", 7), ("0 2 * * 7", 7), ("0 2 * * 1", 1), ("0 2 ? * 1 *", 7)]
)
def test_sunday_is_0_or_7_in_cron_and_1_at_aws(text: str, weekday: int) -> None:
    week = [SUNDAY + timedelta(days=n) for n in range(7)]
    assert [day.isoweekday() for day in week if Cron.parse(text).falls_on(day)] == [weekday]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("*/5 2 * * *", "minute '*/5' is due 12 times, and a night is one a day"),
        ("0 * * * *", "hour '*' is due 24 times"),
        ("0 25 * * *", "the hour 25 is not within 0 to 23"),
        ("0 2 * *", "has 4 fields, and cron has five"),
        ("", "has 0 fields"),
        ("0 2 1 * 1", "a day of the month and a weekday cannot both be said"),
        ("0 2 30 2 *", "is never due"),
        ("0 2 L * *", "the day 'L' cannot be read"),
        ("0 2 * * FOO", "FOO is no weekday"),
        ("0 2 5-1 * *", "the day '5-1' is empty"),
        ("0 2 * * ? 2027", "a schedule holds in every year, not in 2027"),
        ("@daily", "has 1 fields"),
    ],
)
def test_what_is_no_daily_time_is_told(text: str, said: str) -> None:
    with pytest.raises(NotCron) as refused:
        Cron.parse(text)
    assert said in str(refused.value)


FIELDS = st.tuples(
    st.integers(0, 59).map(str),
    st.integers(0, 23).map(str),
    st.one_of(st.just("*"), st.sets(st.integers(1, 28), min_size=1).map(lambda days: ",".join(map(str, days)))),
    st.one_of(st.just("*"), st.sets(st.integers(1, 12), min_size=1).map(lambda days: ",".join(map(str, days)))),
    st.sets(st.integers(0, 6), min_size=1).map(lambda days: ",".join(map(str, sorted(days)))),
)


@given(FIELDS)
def test_what_eventbridge_is_told_is_due_on_the_same_day(fields: tuple[str, ...]) -> None:
    """The other reader of the expression is the local cloud's, which has none of our code."""
    minute, hour, days, months, weekdays = fields
    if days != "*":
        weekdays = "*"
    cron = Cron.parse(f"{minute} {hour} {days} {months} {weekdays}")
    start = 1_795_305_600.0  # midnight of the 22nd of November 2026 in UTC
    found = timetable.next_due(cron.expression, "UTC", since=start, after=start - 1)
    day = next(each for n in range(800) if cron.falls_on(each := SUNDAY + timedelta(days=n)))
    assert found == start + (day - SUNDAY).days * 86_400 + int(hour) * 3600 + int(minute) * 60
