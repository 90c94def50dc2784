"""A time of day on some days, written as cron writes it: `0 2 * * *`, or with AWS's six fields, `cron(0 2 * * ? *)`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date

_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_DAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_EVERY = ("*", "?")


class NotCron(ValueError):
    """A text that is no daily time. `hint` says what to write."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


@dataclass(frozen=True)
class Cron:
    """One time of day, on all days that match."""

    minute: int
    hour: int
    days: frozenset[int]
    """Days of the month."""
    months: frozenset[int]
    weekdays: frozenset[int]
    """Days of the week, Sunday as 0."""

    @classmethod
    def parse(cls, text: str) -> Cron:
        """Return the time that a text means. Raise NotCron for what is none, or is due more than once a day."""
        found = re.fullmatch(r"\s*cron\((.*)\)\s*", text)
        parts = (found[1] if found else text).split()
        if len(parts) not in (5, 6):
            raise NotCron(
                f"{text!r} has {len(parts)} fields, and cron has five: minute, hour, day, month, weekday",
                'write "0 2 * * *" for every night at two',
            )
        if len(parts) == 6 and parts[5] not in _EVERY:
            raise NotCron(f"a schedule holds in every year, not in {parts[5]}", "write * for the year")
        first_weekday = 1 if len(parts) == 6 else 0  # AWS counts from Sunday as 1, all others from 0
        minute, hour = _once("minute", parts[0], 59), _once("hour", parts[1], 23)
        days = _numbers("day", parts[2], (1, 31))
        months = _numbers("month", parts[3], (1, 12), _MONTHS)
        weekdays = _weekdays(parts[4], first_weekday)
        if len(days) < 31 and len(weekdays) < 7:
            raise NotCron("a day of the month and a weekday cannot both be said", "write * for one of them")
        if not any(day <= _LONGEST[month] for day in days for month in months):
            raise NotCron(f"{text!r} is never due", "no such month has such a day")
        return cls(minute, hour, days, months, weekdays)

    def falls_on(self, day: date) -> bool:
        """Return whether it is due on this day."""
        return day.day in self.days and day.month in self.months and day.isoweekday() % 7 in self.weekdays

    @property
    def expression(self) -> str:
        """What EventBridge Scheduler is told."""
        days = _spelt(self.days, 31)
        if len(self.weekdays) < 7:
            days, weekdays = "?", _spelt(frozenset(day + 1 for day in self.weekdays), 7)
        else:
            weekdays = "?"
        return f"cron({self.minute} {self.hour} {days} {_spelt(self.months, 12)} {weekdays} *)"


_LONGEST = (0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
"""Days of each month, in the longest of years."""


def _spelt(numbers: frozenset[int], count: int) -> str:
    return "*" if len(numbers) == count else ",".join(map(str, sorted(numbers)))


def _once(what: str, text: str, last: int) -> int:
    """Return the one number that a field means: a schedule is due once a day."""
    numbers = _numbers(what, text, (0, last))
    if len(numbers) != 1:
        raise NotCron(
            f"{what} {text!r} is due {len(numbers)} times, and a night is one a day",
            f"write one number for the {what}; two nights a day are two schedules",
        )
    return next(iter(numbers))


def _weekdays(text: str, first: int) -> frozenset[int]:
    """Return days of the week, Sunday as 0, of a field in which Sunday is `first`; plain cron also takes 7 for it."""
    numbers = _numbers("weekday", text, (first, 7), _DAYS)
    return frozenset((number - first) % 7 for number in numbers)


def _numbers(what: str, text: str, ends: tuple[int, int], names: tuple[str, ...] = ()) -> frozenset[int]:
    """Return the numbers that a field means: `*`, `?`, numbers, names, ranges, lists and steps."""
    found: set[int] = set()
    for part in text.upper().split(","):
        match = re.fullmatch(r"(\*|\?|[0-9]+|[A-Z]{3})(?:-([0-9]+|[A-Z]{3}))?(?:/([0-9]+))?", part)
        if not match or (match[1] in _EVERY and match[2]):
            raise NotCron(f"the {what} {text!r} cannot be read", "numbers, *, ranges such as 1-5, lists and steps")
        if match[1] in _EVERY:
            low, high = ends
        else:
            low = high = _number(what, match[1], ends, names)
            if match[2]:
                high = _number(what, match[2], ends, names)
            elif match[3]:
                high = ends[1]
        step = int(match[3] or 1)
        if step < 1 or high < low:
            raise NotCron(f"the {what} {part!r} is empty", "a range goes upwards, in steps of at least 1")
        found.update(range(low, high + 1, step))
    return frozenset(found)


def _number(what: str, text: str, ends: tuple[int, int], names: tuple[str, ...]) -> int:
    if not text.isdigit():
        if text not in names:
            raise NotCron(f"{text} is no {what}", f"such as {names[0]}" if names else "write a number")
        return names.index(text) + ends[0]
    number = int(text)
    if not ends[0] <= number <= ends[1]:
        raise NotCron(f"the {what} {number} is not within {ends[0]} to {ends[1]}")
    return number
