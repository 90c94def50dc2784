"""The next time that a schedule is due, by EventBridge Scheduler's at(), rate() and cron(). Pure."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta, timezone
from itertools import product
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_UNITS = {"minute": 60, "hour": 3600, "day": 86_400}
_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_DAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_LOOK_AHEAD = timedelta(days=366 * 8)
"""The longest time that a cron expression is followed: longer than from one 29th of February to the next."""


class Unreadable(ValueError):
    """An expression that Scheduler would not take, or that we cannot read."""


def next_due(expression: str, zone: str, *, since: float, after: float) -> float | None:
    """Return the first moment later than `after` at which an expression is due; None when there is none.

    A rate counts from `since`. Moments are seconds since 1970. Raise Unreadable for an expression or a zone that is
    not understood.
    """
    found = re.fullmatch(r"(at|rate|cron)\((.+)\)", expression.strip())
    if not found:
        raise Unreadable(f"Invalid Schedule Expression {expression}.")
    kind, inside = found.groups()
    if kind == "rate":
        return _rate(inside, since, after)
    try:
        place = ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise Unreadable(f"Invalid Schedule Expression Timezone {zone}.") from error
    return _at(inside, place, after) if kind == "at" else _cron(inside, place, after)


def _rate(text: str, since: float, after: float) -> float:
    found = re.fullmatch(r"(\d+) (minute|hour|day)s?", text)
    if not found or int(found[1]) < 1:
        raise Unreadable(f"Invalid Schedule Expression rate({text}).")
    step = int(found[1]) * _UNITS[found[2]]
    return since + step * max(0, int((after - since) // step) + 1)


def _at(text: str, place: ZoneInfo, after: float) -> float | None:
    try:
        moment = datetime.fromisoformat(text).replace(tzinfo=place).timestamp()
    except ValueError as error:
        raise Unreadable(f"Invalid Schedule Expression at({text}).") from error
    return moment if moment > after else None


def _cron(text: str, place: ZoneInfo, after: float) -> float | None:
    """Read minutes, hours, day of the month, month, day of the week and year; return the next moment they mean."""
    parts = text.split()
    if len(parts) != 6 or "?" not in (parts[2], parts[4]):
        raise Unreadable(f"Invalid Schedule Expression cron({text}).")
    minutes, hours = _field(parts[0], range(60)), _field(parts[1], range(24))
    start = datetime.fromtimestamp(after, timezone.utc).astimezone(place)
    day = start.date()
    while day <= start.date() + _LOOK_AHEAD:
        if _falls_on(day, parts):
            for hour, minute in product(hours, minutes):
                moment = datetime(day.year, day.month, day.day, hour, minute, tzinfo=place).timestamp()
                if moment > after:
                    return moment
        day += timedelta(days=1)
    return None


def _falls_on(day: date, parts: list[str]) -> bool:
    return (
        day.day in _field(parts[2], range(1, 32))
        and day.month in _field(parts[3], range(1, 13), _MONTHS)
        and day.isoweekday() % 7 + 1 in _field(parts[4], range(1, 8), _DAYS)
        and day.year in _field(parts[5], range(1970, 2200))
    )


def _field(text: str, every: range, names: tuple[str, ...] = ()) -> list[int]:
    """Return the numbers that a field means: `*`, `?`, numbers, names, ranges, lists, steps; but not L, W and #.

    `every` has all numbers that the field may have. `names` stand for them, in their order.
    """
    found: set[int] = set()
    for part in text.upper().split(","):
        span, _, step = part.partition("/")
        lowest, _, highest = span.partition("-")
        try:
            if span in ("*", "?"):
                low, high = every[0], every[-1]
            else:
                low = _number(lowest, every, names)
                high = low
                if highest:
                    high = _number(highest, every, names)
                elif step:
                    high = every[-1]
            found.update(range(low, high + 1, int(step or 1)))
        except ValueError as error:
            raise Unreadable(f"the local cloud cannot read {part} in a cron expression") from error
    if not found <= set(every):
        raise Unreadable(f"Invalid Schedule Expression: {text} is not within {every[0]} to {every[-1]}.")
    return sorted(found)


def _number(text: str, every: range, names: tuple[str, ...]) -> int:
    return names.index(text) + every[0] if text in names else int(text)
