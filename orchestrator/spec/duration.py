"""Durations, as people write them: 90m, 2h, 1d, 1h30m."""

from __future__ import annotations

import re
from typing import Any

from pydantic import BeforeValidator

from orchestrator.spec.model import shown, wrong

_NUMBER = r"(\d{1,15}(?:\.\d{1,15})?)"
_PARTS = re.compile(rf"(?:{_NUMBER}d)?(?:{_NUMBER}h)?(?:{_NUMBER}m)?(?:{_NUMBER}s)?", re.ASCII)
_UNITS = (86_400, 3_600, 60, 1)

MINUTE, HOUR, DAY = 60, 3_600, 86_400


def seconds(text: str) -> int:
    """Return how many seconds a text such as 1h30m means. Raise ValueError if it is no duration."""
    match = _PARTS.fullmatch(text)
    if match is None or not text:
        raise ValueError(text)
    return round(sum(float(amount) * unit for amount, unit in zip(match.groups(), _UNITS, strict=True) if amount))


def spell(duration: float) -> str:
    """Return seconds as people write them: 5400 is 1h30m."""
    rest, words = round(duration), ""
    for letter, unit in zip("dhms", _UNITS, strict=True):
        amount, rest = divmod(rest, unit)
        if amount:
            words += f"{amount}{letter}"
    return words or "0s"


def between(least: int, most: int) -> BeforeValidator:
    """Return a validator that takes durations within these bounds, and leaves them as they are written."""

    def check(value: Any) -> Any:
        hint = "write it like 90m, 24h or 1d12h"
        if not isinstance(value, str):
            raise wrong(f"expected a duration, got {shown(value)}", hint=hint)
        try:
            length = seconds(value)
        except ValueError:
            raise wrong(f"not a duration: {shown(value)}", hint=hint) from None
        if not least <= length <= most:
            raise wrong(f"{value} is not between {spell(least)} and {spell(most)}")
        return value

    return BeforeValidator(check)
