"""Turns values of declared types into what JSON can say."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from datetime import date
from enum import Enum
from pathlib import PurePath
from typing import Any


def jsonable(value: object) -> Any:
    """Return a value as JSON can say it: a dataclass by its fields, an enum by its value, anything else by its text.

    Numbers that JSON does not know, such as nan, become null.
    """
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
