"""What every part of the sweep file is made of: strict models, plain values, and errors that know their place."""

from __future__ import annotations

import math
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from orchestrator.wire.task import Scalar

MAX_WHOLE = 2**63


class Model(BaseModel):
    """A part of the sweep file. Unknown keys are errors; nothing is converted silently; a value never changes."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


def wrong(message: str, *, hint: str = "", at: tuple[str | int, ...] = (), offset: int = 0) -> PydanticCustomError:
    """Return the error that a validator raises.

    `at` is the path from the validated value to the part that is wrong, `offset` the place in that part's text.
    """
    return PydanticCustomError("wrong", "{message}", {"message": message, "hint": hint, "at": at, "offset": offset})


def _value(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list | dict):
        hint = "write it as text, in quotes; or under train.hyperparameters, if all tasks have the same"
        raise wrong(f"expected a number, text or true/false, got {shown(value)}", hint=hint)
    return _number(value, "a number, text or true/false")


def _number(value: Any, expected: str = "a number") -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong(f"expected {expected}, got {shown(value)}")
    if not math.isfinite(value):
        raise wrong(f"{value} is not a finite number")
    if isinstance(value, int) and abs(value) >= MAX_WHOLE:
        raise wrong(f"{shown(value)} is too large a number", hint="write it as text, in quotes")
    return value


def _text(value: str) -> str:
    if "\0" in value:
        raise wrong("a NUL character cannot be passed to a process")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise wrong("half a surrogate pair is not text")
    return value


def _hyperparameter(value: Any) -> Any:
    """Return a value, or a list or mapping of such, however deep."""
    if isinstance(value, list):
        return [_hyperparameter(item) for item in value]
    if isinstance(value, dict):
        for name in value:
            if not isinstance(name, str):
                raise wrong(f"expected text as a key, got {shown(name)}", hint="put it in quotes")
        return {_text(name): _hyperparameter(item) for name, item in value.items()}
    return _value(value)


def listed_once(values: list[Any]) -> list[Any]:
    """Return the values if no two of them are equal. An Enum's value is what the file says."""
    for index, value in enumerate(values):
        if value in values[:index]:
            raise wrong(f"{getattr(value, 'value', value)!r} is listed twice", at=(index,))
    return values


def shown(value: Any) -> str:
    """Return a value as a message quotes it: shortened, and a list or mapping by its kind only."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


Value = Annotated[Scalar, BeforeValidator(_value)]
"""The value of a parameter."""

Hyperparameter = Annotated[
    Any, BeforeValidator(_hyperparameter, json_schema_input_type=Scalar | list[Any] | dict[str, Any])
]
"""The value of a hyperparameter: one that a parameter may have, or a list or mapping of such."""

Number = Annotated[int | float, BeforeValidator(_number)]

Ends = Annotated[list[Number], Field(min_length=2, max_length=2)]
"""The two ends of an axis: [first, last]."""
