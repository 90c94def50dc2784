"""Every local date is one night, whatever clocks do; what AWS leaves out, the tick in UTC finds."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.localcloud.services.schedules import timetable
from orchestrator.nightly.calendar import catch_up, due, following, moment
from orchestrator.spec.schedule.schedule import Schedule

BERLIN = Schedule(cron="0 2 * * *", timezone="Europe/Berlin")
SPRING, AUTUMN = date(2026, 3, 29), date(2026, 10, 25)
"""On the one 02:00 does not exist in Berlin, on the other it exists twice."""


def utc(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=timezone.utc).timestamp()


@pytest.mark.parametrize(
    ("day", "when"),
    [
        (date(2026, 3, 28), "2026-03-28 01:00"),
        (SPRING, "2026-03-29 01:00"),  # three o'clock: the first moment after what does not exist
        (date(2026, 3, 30), "2026-03-30 00:00"),
        (date(2026, 10, 24), "2026-10-24 00:00"),
        (AUTUMN, "2026-10-25 00:00"),  # the first of the two
        (date(2026, 10, 26), "2026-10-26 01:00"),
    ],
)
def test_a_night_in_berlin_is_at_two_or_right_after(day: date, when: str) -> None:
    assert moment(BERLIN, day) == utc(when)


def test_a_year_has_each_night_once() -> None:
    nights = due(BERLIN, utc("2025-12-31 12:00"), utc("2026-12-31 12:00"))
    assert nights == [date(2026, 1, 1) + timedelta(days=n) for n in range(365)]


def test_what_was_due_before_the_schedule_was_made_is_none_of_its() -> None:
    assert due(BERLIN, utc("2026-11-20 01:00"), utc("2026-11-22 01:00")) == [date(2026, 11, 21), date(2026, 11, 22)]
    assert due(BERLIN, utc("2026-11-20 00:59"), utc("2026-11-20 01:00")) == [date(2026, 11, 20)]
    assert due(BERLIN, utc("2026-11-20 01:00"), utc("2026-11-20 23:00")) == []


def test_only_the_days_that_are_asked_for() -> None:
    weekdays = Schedule(cron="30 1 * * 1-5", timezone="America/New_York")
    nights = due(weekdays, utc("2026-11-19 12:00"), utc("2026-11-24 12:00"))
    assert nights == [date(2026, 11, 20), date(2026, 11, 23), date(2026, 11, 24)]
    assert following(weekdays, utc("2026-11-20 12:00")) == date(2026, 11, 23)


ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "Pacific/Apia", "America/St_Johns")


@settings(max_examples=25)
@given(zone=st.sampled_from(ZONES), minute=st.integers(0, 59), hour=st.integers(0, 23), first=st.integers(0, 700))
def test_each_date_is_due_once_in_any_zone(zone: str, minute: int, hour: int, first: int) -> None:
    schedule = Schedule(cron=f"{minute} {hour} * * *", timezone=zone)
    days = [date(2026, 1, 1) + timedelta(days=first + n) for n in range(40)]
    moments = [moment(schedule, day) for day in days]
    assert moments == sorted(set(moments))
    assert due(schedule, moments[0] - 1, moments[-1]) == days
    for day, when in zip(days, moments, strict=True):
        there = datetime.fromtimestamp(when, ZoneInfo(zone))
        assert there.date() == day
        late = (there.hour - hour) * 60 + there.minute - minute  # where clocks jump over it, the first moment after
        assert 0 <= late <= 60


@settings(max_examples=25)
@given(zone=st.sampled_from(ZONES), minute=st.integers(0, 59), hour=st.integers(0, 23))
def test_the_tick_in_utc_comes_after_each_night_and_within_a_day(zone: str, minute: int, hour: int) -> None:
    schedule = Schedule(cron=f"{minute} {hour} * * *", timezone=zone)
    expression = catch_up(schedule, date(2026, 1, 1))
    for n in range(0, 365, 13):
        night = moment(schedule, date(2026, 1, 1) + timedelta(days=n))
        tick = timetable.next_due(expression, "UTC", since=0, after=night)
        assert tick is not None
        assert 3600 <= tick - night <= 3 * 3600


def test_aws_leaves_a_night_out_and_the_tick_in_utc_finds_it() -> None:
    """As the local cloud plays EventBridge Scheduler, and as AWS says: the hour that does not exist is left out."""
    tick = timetable.next_due(catch_up(BERLIN, SPRING), "UTC", since=0, after=moment(BERLIN, SPRING))
    assert tick is not None
    assert due(BERLIN, moment(BERLIN, SPRING) - 3600, tick) == [SPRING]
