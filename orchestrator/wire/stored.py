"""What every stored object shares: its version, and how a dataclass is made from its JSON again."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import fields
from functools import cache
from math import inf
from typing import TYPE_CHECKING, Any, TypeVar

from orchestrator.errors import Damaged, NewerVersion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")


Real = float
"""A field's type if its number may be below 0. All others count things, or are dollars or seconds: none of them is."""

VERSION = 1
"""The version that we write into every stored object, and the newest one that we read.

It grows when older programs would misunderstand an object. A key that they may ignore does not need it.
"""


def check_version(body: dict[str, Any], what: str, newest: int = VERSION) -> None:
    """Raise NewerVersion if a newer `sweep` has written this object. `what` names it in the error's words.

    `newest` is given for objects of which some have a newer version, for what is in them. ValueError for what is no
    version at all: nobody has written that.
    """
    if not isinstance(body, dict):
        raise ValueError("it is no JSON object")
    version = body.get("version", VERSION)
    if type(version) is not int or version < 1:
        raise ValueError(f"its version cannot be {str(version)[:40]!r}")
    if version > newest:
        raise NewerVersion(
            f"this {what} has version {version}, and this sweep reads versions up to {newest}",
            hint="use the sweep that wrote it, or a newer one",
        )


def restore(kind: type[T], body: dict[str, Any], **readers: Callable[[Any], Any]) -> T:
    """Return the dataclass of type `kind` that this JSON object describes.

    Keys that are no fields are ignored: a newer version wrote them. Fields that the object lacks keep their defaults:
    an older version did not know them. Every other keyword argument names a field whose value is not plain JSON, and
    gives the function that reads it.

        restore(Attempt, body, lane=Lane.parse)

    Raise KeyError when a field with a reader is missing, TypeError when a field without a default is missing,
    ValueError when a value cannot be that field's, and whatever a reader raises.
    """
    known = {name: value for name, value in body.items() if name in kind.__dataclass_fields__}
    return checked(kind(**known | {name: read(body[name]) for name, read in readers.items()}))


def checked(made: T) -> T:
    """Return the dataclass if each of its plain values can be its field's. Raise ValueError for one that cannot.

    Numbers are not below 0, unless their field is `Real`, and none is as large as nobody has ever paid.
    """
    for name, is_right in _checks(type(made)):
        if not is_right(getattr(made, name)):
            raise ValueError(f"{type(made).__name__}.{name} cannot be {str(getattr(made, name))[:40]!r}")
    return made


@contextmanager
def damage_named(where: str) -> Iterator[None]:
    """Turn whatever is raised when a stored object is no JSON, or not what it should be, into Damaged.

    `where` is the object's address. An object that a newer `sweep` has written keeps its error, with the address.
    """
    try:
        yield
    except NewerVersion as error:
        raise NewerVersion(error.message, where=where, hint=error.hint) from error
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError, OverflowError) as error:
        said = " ".join(str(error).split())[:120]
        raise Damaged(f"cannot be understood: {type(error).__name__}: {said}", where=where) from error


_NO_AMOUNT = 1e12
"""More dollars, and more seconds, than there are."""


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**63


def _is_amount(value: Any) -> bool:
    return (type(value) is float or type(value) is int) and 0 <= value < _NO_AMOUNT


def _is_number(value: Any) -> bool:
    return (type(value) is float and -inf < value < inf) or (type(value) is int and -(2**63) <= value <= 2**63)


def _is_text(value: Any) -> bool:
    return type(value) is str


_RIGHT: dict[str, Callable[[Any], bool]] = {
    "int": _is_count,
    "float": _is_amount,
    "Real": _is_number,
    "str": _is_text,
    "bool": lambda value: type(value) is bool,
    "int | None": lambda value: value is None or _is_count(value),
    "float | None": lambda value: value is None or _is_amount(value),
    "dict[str, Any]": lambda value: type(value) is dict,
    "dict[str, float]": lambda value: type(value) is dict and all(map(_is_number, value.values())),
    "dict[str, int]": lambda value: type(value) is dict and all(map(_is_count, value.values())),
    "dict[str, str]": lambda value: type(value) is dict and all(map(_is_text, value.values())),
    "dict[str, Scalar]": lambda value: (
        type(value) is dict and all(type(each) in (str, bool) or _is_number(each) for each in value.values())
    ),
}
"""What a value must be, by the annotation of its field. Fields with other annotations have readers of their own."""


@cache
def _checks(kind: type[DataclassInstance]) -> tuple[tuple[str, Callable[[Any], bool]], ...]:
    return tuple((each.name, _RIGHT[str(each.type)]) for each in fields(kind) if str(each.type) in _RIGHT)
