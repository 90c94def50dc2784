"""How one value reads: money, time, bytes, and any declared type as JSON."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from enum import Enum
from pathlib import PurePath
from typing import Any

MINUTE, HOUR, DAY = 60, 3600, 86400


def money(usd: float) -> str:
    """Cents, and four digits where cents would say little."""
    sign = "-" if usd < 0 else ""
    size = abs(usd)
    return f"{sign}${size:.4f}" if 0 < size < 0.1 else f"{sign}${size:,.2f}"


def duration(seconds: float | None) -> str:
    """The two largest units: 45s, 15m, 12m30s, 3h12m, 2d04h."""
    if seconds is None:
        return ""
    whole = round(seconds)
    for unit, name, smaller, smaller_name in ((DAY, "d", HOUR, "h"), (HOUR, "h", MINUTE, "m"), (MINUTE, "m", 1, "s")):
        if whole >= unit:
            rest = whole % unit // smaller
            return f"{whole // unit}{name}{rest:02}{smaller_name}" if rest else f"{whole // unit}{name}"
    return f"{seconds:.1f}s" if 0 < seconds < 10 else f"{whole}s"


def hours(value: float | None) -> str:
    return "" if value is None else duration(value * HOUR)


def size(count: float) -> str:
    """Decimal, as AWS bills."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if count < 1000:
            return f"{count:.0f} B" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:,.1f} PB"


def number(value: float | None) -> str:
    """Enough digits to tell results apart."""
    return "" if value is None else f"{value:.5g}"


def moment(epoch: float) -> str:
    """In the reader's own time."""
    return datetime.fromtimestamp(epoch).astimezone().strftime("%Y-%m-%d %H:%M")


def clock(moment: datetime, now: datetime) -> str:
    """A time to come, as one would say it: 14:35, Tue 14:35, 3 Dec 14:35."""
    days = (moment.date() - now.date()).days
    day = "" if days == 0 else f"{moment:%a} " if days < 7 else f"{moment.day} {moment:%b} "
    return f"{day}{moment:%H:%M}"


def plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def jsonable(value: object) -> Any:
    """A declared type as JSON: a dataclass by its fields, an enum by its value, what JSON cannot say by its text."""
    if isinstance(value, Enum):
        return jsonable(value.value)
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: jsonable(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(jsonable(key)): jsonable(item) for key, item in value.items()}
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, Iterable):
        return [jsonable(item) for item in value]
    return str(value)
