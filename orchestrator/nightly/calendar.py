"""Which nights are due, by the clocks of a place: each local date once, whatever happens to its hours.

EventBridge Scheduler leaves out a night whose hour does not exist, and may start one twice whose hour comes twice. So a
night is its date. It is due at its time, or at the first moment after it if that time does not exist; the first of the
two if it comes twice. A second daily tick, in UTC and later than any night can be, finds the nights that were left out.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orchestrator.spec.schedule.schedule import Schedule

_YEAR = 366
_AFTER_S = 3600
"""Seconds from the latest moment of a night to the tick that looks whether it began."""


def moment(schedule: Schedule, day: date) -> float:
    """Return when the night of this date is due, in seconds since the epoch."""
    time = schedule.time
    return datetime(day.year, day.month, day.day, time.hour, time.minute, tzinfo=schedule.zone).timestamp()


def due(schedule: Schedule, since: float, now: float) -> list[date]:
    """Return the nights that became due after `since` and until now, the oldest first: those of a year at the most."""
    day = datetime.fromtimestamp(now, schedule.zone).date()
    found = []
    for _ in range(_YEAR):
        if moment(schedule, day) <= since:
            break
        if schedule.time.falls_on(day) and moment(schedule, day) <= now:
            found.append(day)
        day -= timedelta(days=1)
    return found[::-1]


def following(schedule: Schedule, now: float) -> date:
    """Return the next night that is due after now."""
    day = datetime.fromtimestamp(now, schedule.zone).date()
    while not (schedule.time.falls_on(day) and moment(schedule, day) > now):
        day += timedelta(days=1)
    return day


def next_night(schedule: Schedule, now: float) -> float:
    """Return when the next night after now is due, in seconds since the epoch."""
    return moment(schedule, following(schedule, now))


def catch_up(schedule: Schedule, today: date) -> str:
    """Return the expression, in UTC, of a daily tick that is later than the night of its day, in summer and winter."""
    days = (today + timedelta(days=number) for number in range(_YEAR))
    late = max(moment(schedule, day) - _midnight(day) for day in days) + _AFTER_S
    minute, hour = int(late // 60 % 60), int(late // 3600 % 24)
    return f"cron({minute} {hour} * * ? *)"


def _midnight(day: date) -> float:
    return datetime(day.year, day.month, day.day, tzinfo=timezone.utc).timestamp()
