"""The forms an axis of the space may take: a list, true/false, a range, a linear or log scale, or parameters zipped.

Every form knows its length and computes value i on its own, so a long axis costs nothing to hold.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

from pydantic import AfterValidator, Discriminator, Field, Tag, field_validator, model_validator

from orchestrator.spec.model import Ends, Model, Number, Value, wrong

if TYPE_CHECKING:
    from orchestrator.wire.task import Scalar


class Values(Protocol):
    """A sequence of values, each computed when it is needed."""

    @property
    def count(self) -> int:
        """The number of values, at least one."""
        ...

    def at(self, index: int) -> Scalar:
        """Return the value at an index from 0 to count - 1. The same index gives the same value, always."""
        ...


class Range(Model):
    """Equal steps from the first end on; the last end belongs to it when a step lands there."""

    range: Ends = Field(description="[first, last]; the last is included when a step lands on it")
    step: Number = Field(default=1, description="between two values; negative to count down")

    @field_validator("step")
    @classmethod
    def _step_leads_somewhere(cls, step: float) -> float:
        if step == 0:
            raise wrong("a step of 0 leads nowhere")
        return step

    @model_validator(mode="after")
    def _not_empty(self) -> Range:
        if self.count < 1:
            raise wrong(f"the range from {self.range[0]} to {self.range[1]} in steps of {self.step} is empty")
        return self

    @property
    def count(self) -> int:
        return int((_exact(self.range[1]) - _exact(self.range[0])) // _exact(self.step)) + 1

    def at(self, index: int) -> Scalar:
        first, step = self.range[0], self.step
        if isinstance(first, int) and isinstance(step, int):
            return first + index * step
        return float(_exact(first) + index * _exact(step))


class Linear(Model):
    """`num` values at equal distances, both ends included; whole numbers when the ends and the distance are."""

    linear: Ends = Field(description="[first, last], both included")
    num: int = Field(ge=2, description="how many values")

    @model_validator(mode="after")
    def _two_ends(self) -> Linear:
        _differ(self.linear, self)
        return self

    @property
    def count(self) -> int:
        return self.num

    def at(self, index: int) -> Scalar:
        first, last = self.linear
        if isinstance(first, int) and isinstance(last, int) and (last - first) % (self.num - 1) == 0:
            return first + index * ((last - first) // (self.num - 1))
        a, b = _exact(first), _exact(last)
        return float(a + (b - a) * index / (self.num - 1))


class Log(Model):
    """`num` values at equal ratios, both ends included; whole numbers when the ends and the ratio are."""

    log: Ends = Field(description="[first, last], both above 0 and included")
    num: int = Field(ge=2, description="how many values")

    @model_validator(mode="after")
    def _two_ends(self) -> Log:
        if min(self.log) <= 0:
            raise wrong("a log scale needs both ends above 0", at=("log",))
        _differ(self.log, self)
        return self

    @property
    def count(self) -> int:
        return self.num

    def at(self, index: int) -> Scalar:
        first, last = self.log
        if self._whole:
            whole: int = int(first) * round(self._ratio) ** index
            return whole
        if index == self.num - 1:
            return float(last)
        # Twelve digits hide the last bits' noise: 0.001 rather than 0.0010000000000000002.
        value: float = first * (last / first) ** (index / (self.num - 1))
        return float(f"{value:.12g}")

    @property
    def _ratio(self) -> float:
        first, last = self.log
        ratio: float = (last / first) ** (1 / (self.num - 1))
        return ratio

    @property
    def _whole(self) -> bool:
        first, last = self.log
        whole_ends = isinstance(first, int) and isinstance(last, int)
        # A ratio near 1 is not whole, and its power would be huge.
        return whole_ends and self._ratio >= 1.5 and first * round(self._ratio) ** (self.num - 1) == last


@dataclass(frozen=True)
class Choice:
    """Values that are written out in the file."""

    values: tuple[Scalar, ...]

    @property
    def count(self) -> int:
        return len(self.values)

    def at(self, index: int) -> Scalar:
        return self.values[index]


def _distinct(values: list[Scalar]) -> list[Scalar]:
    """Return the values if there are some and no two are equal: equal values would be equal tasks."""
    if not values:
        raise wrong("the list is empty", hint="an axis needs at least one value")
    seen: set[str] = set()
    for index, value in enumerate(values):
        spelling = json.dumps(value)
        if spelling in seen:
            raise wrong(f"{spelling} is listed twice", at=(index,))
        seen.add(spelling)
    return values


def _form(axis: Any) -> str | None:
    """Return the tag of the form that an axis looks like; None if it looks like none of them."""
    if isinstance(axis, list):
        return "<list>"
    if axis == "bool":
        return "<bool>"
    if isinstance(axis, dict):
        return next((tag for tag in FORMS if tag.strip("<>") in axis), None)
    return next((tag for tag, model in FORMS.items() if isinstance(axis, model)), None)


_Form = Discriminator(_form, custom_error_type="axis", custom_error_message="not an axis")

Listed = Annotated[list[Value], AfterValidator(_distinct)]

Column = Annotated[
    Annotated[Listed, Tag("<list>")]
    | Annotated[Literal["bool"], Tag("<bool>")]
    | Annotated[Range, Tag("<range>")]
    | Annotated[Linear, Tag("<linear>")]
    | Annotated[Log, Tag("<log>")],
    _Form,
]
"""The values of one parameter, in one of the forms."""


def _some(values: list[Scalar]) -> list[Scalar]:
    if not values:
        raise wrong("the list is empty", hint="an axis needs at least one value")
    return values


ZippedColumn = Annotated[
    Annotated[Annotated[list[Value], AfterValidator(_some)], Tag("<list>")]
    | Annotated[Literal["bool"], Tag("<bool>")]
    | Annotated[Range, Tag("<range>")]
    | Annotated[Linear, Tag("<linear>")]
    | Annotated[Log, Tag("<log>")],
    _Form,
]
"""The values of one of several zipped parameters: a value may come again, beside another one of another parameter."""


class Zip(Model):
    """Parameters that change together: the first values of all, then the second values, and so on."""

    zip: dict[str, ZippedColumn] = Field(min_length=1, description="parameter → its values; all equally many")

    @model_validator(mode="after")
    def _equally_long(self) -> Zip:
        counts = {name: values(column).count for name, column in self.zip.items()}
        if len(set(counts.values())) > 1:
            each = ", ".join(f"{name} has {count}" for name, count in counts.items())
            raise wrong(f"zipped parameters need equally many values: {each}", at=("zip",))
        return self

    @model_validator(mode="after")
    def _rows_differ(self) -> Zip:
        written = [column for column in self.zip.values() if isinstance(column, list)]
        if len(written) < len(self.zip):
            return self  # the values of any other form differ by themselves
        seen: set[str] = set()
        for index, row in enumerate(zip(*written, strict=True)):
            spelling = json.dumps(row)
            if spelling in seen:
                name = next(iter(self.zip))
                raise wrong(f"{spelling} is listed twice", at=("zip", name, index))
            seen.add(spelling)
        return self


Axis = Annotated[
    Annotated[Listed, Tag("<list>")]
    | Annotated[Literal["bool"], Tag("<bool>")]
    | Annotated[Range, Tag("<range>")]
    | Annotated[Linear, Tag("<linear>")]
    | Annotated[Log, Tag("<log>")]
    | Annotated[Zip, Tag("<zip>")],
    _Form,
]
"""One axis of the space: one parameter's values, or several parameters zipped."""

FORMS: dict[str, type[Model]] = {"<range>": Range, "<linear>": Linear, "<log>": Log, "<zip>": Zip}
"""The forms by their tags, which pydantic puts into an error's path."""


def values(column: Column | ZippedColumn) -> Values:
    """Return the values of one parameter, whatever the form they are written in."""
    if isinstance(column, list):
        return Choice(tuple(column))
    return Choice((False, True)) if column == "bool" else column


def columns(name: str, axis: Axis) -> dict[str, Values]:
    """Return the parameters of an axis, each with its values."""
    if isinstance(axis, Zip):
        return {parameter: values(column) for parameter, column in axis.zip.items()}
    return {name: values(axis)}


def _exact(number: float) -> Fraction:
    """Return the number as it was written: 0.1 is a tenth."""
    return Fraction(repr(number))


def _differ(ends: list[int | float], scale: Values) -> None:
    if ends[0] == ends[1]:
        raise wrong("both ends are the same")
    if scale.at(0) == scale.at(1):
        raise wrong(
            "so many values between these ends that neighbours are equal", hint="use a smaller num", at=("num",)
        )
