"""Writes single values as people read them: money, time, bytes, counts."""

from __future__ import annotations

from datetime import datetime

MINUTE, HOUR, DAY = 60, 3600, 86400


def money(usd: float) -> str:
    """Return dollars with cents, or with four digits where cents would say little."""
    sign = "-" if usd < 0 else ""
    amount = abs(usd)
    return f"{sign}${amount:.4f}" if 0 < amount < 0.1 else f"{sign}${amount:,.2f}"


def duration(seconds: float | None) -> str:
    """Return seconds in their two largest units: 45s, 15m, 12m30s, 3h12m, 2d04h. None is empty."""
    if seconds is None:
        return ""
    whole = round(seconds)
    for unit, name, smaller, smaller_name in ((DAY, "d", HOUR, "h"), (HOUR, "h", MINUTE, "m"), (MINUTE, "m", 1, "s")):
        if whole >= unit:
            rest = whole % unit // smaller
            return f"{whole // unit}{name}{rest:02}{smaller_name}" if rest else f"{whole // unit}{name}"
    return f"{seconds:.1f}s" if 0 < seconds < 10 else f"{whole}s"


def hours(value: float | None) -> str:
    """Return hours as `duration` returns seconds."""
    return "" if value is None else duration(value * HOUR)


def size(count: float) -> str:
    """Return bytes in decimal units, as AWS bills."""
    if count < 1000:
        return f"{count:.0f} B"
    for unit in ("kB", "MB", "GB", "TB"):
        count /= 1000
        if count < 1000:
            return f"{count:.1f} {unit}"
    return f"{count / 1000:,.1f} PB"


def number(value: float | None) -> str:
    """Return a number with enough digits to tell results apart. None is empty."""
    return "" if value is None else f"{value:.5g}"


def moment(epoch: float) -> str:
    """Return seconds since the epoch as a time of the reader's own zone."""
    return datetime.fromtimestamp(epoch).astimezone().strftime("%Y-%m-%d %H:%M")


def zoned_moment(epoch: float) -> str:
    """Return seconds since the epoch as a time of the reader's own zone, and name that zone."""
    return f"{moment(epoch)} {datetime.fromtimestamp(epoch).astimezone():%Z}"


def future_time(moment: datetime, now: datetime) -> str:
    """Return a time to come, as one would say it: 14:35, Tue 14:35, 3 Dec 14:35."""
    days = (moment.date() - now.date()).days
    if days == 0:
        return f"{moment:%H:%M}"
    if days < 7:
        return f"{moment:%a} {moment:%H:%M}"
    return f"{moment.day} {moment:%b} {moment:%H:%M}"


def plural(count: int, noun: str) -> str:
    """Return how many there are, such as `1 task` or `1,200 tasks`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
