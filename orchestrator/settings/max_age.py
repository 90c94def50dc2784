"""The ages that facts of the catalog may have before a plan warns of them: the setting `max_age`.

[max_age]
spot_prices = "6h"
quotas = "7d"
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from datetime import timedelta

from orchestrator.errors import did_you_mean

_TIME = re.compile(r"(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m)?", re.ASCII)


@dataclass(frozen=True)
class MaxAge:
    """The age that facts of each kind may have: spot changes within hours, the others a few times a year."""

    spot_prices: timedelta = timedelta(hours=24)
    prices: timedelta = timedelta(days=30)
    quotas: timedelta = timedelta(days=30)
    interruptions: timedelta = timedelta(days=30)
    instance_types: timedelta = timedelta(days=30)
    transfer_prices: timedelta = timedelta(days=30)
    storage_prices: timedelta = timedelta(days=30)

    def of_kind(self, kind: str, *, is_spot: bool = False) -> timedelta | None:
        """Return how old facts of a kind of catalog file may be. None for what is told as it is now, and has no age."""
        name = "spot_prices" if is_spot else kind
        return getattr(self, name) if name in KINDS else None


KINDS = tuple(each.name for each in fields(MaxAge))
"""What an age can be set for: kinds of catalog files, and spot's prices apart from the others."""


def read_max_age(value: object) -> MaxAge:
    """Return the ages that a setting says: a time for all kinds, or a table with a time for some.

    Raise ValueError, in words, for what is none.
    """
    if isinstance(value, str):
        return MaxAge(**dict.fromkeys(KINDS, _age(value)))
    if not isinstance(value, dict):
        raise ValueError('write a time such as "24h", or [max_age] and a time for each kind below it')
    for name in value:
        if name not in KINDS:
            raise ValueError(f"there is no kind {name!r}; {did_you_mean(str(name), list(KINDS))}")
    return MaxAge(**{name: _age(age, name) for name, age in value.items()})


def _age(value: object, name: str = "") -> timedelta:
    found = _TIME.fullmatch(value.strip()) if isinstance(value, str) else None
    days, hours, minutes = (int(each or 0) for each in found.groups()) if found else (0, 0, 0)
    age = timedelta(days=days, hours=hours, minutes=minutes)
    if age <= timedelta():
        of_what = f"{name}: " if name else ""
        raise ValueError(f'{of_what}{value!r} is no time above 0; write it like "90m", "24h" or "30d"')
    return age
