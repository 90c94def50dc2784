"""Makes a dataclass again from its stored JSON, whichever version of `sweep` wrote it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")


def restore(kind: type[T], body: dict[str, Any], **readers: Callable[[Any], Any]) -> T:
    """Return the dataclass of type `kind` that this JSON object describes.

    Keys that are no fields are ignored: a newer version wrote them. Fields that the object lacks keep their defaults:
    an older version did not know them. Every other keyword argument names a field whose value is not plain JSON, and
    gives the function that reads it.

        restore(Attempt, body, lane=Lane.parse)

    Raise KeyError when a field with a reader is missing, TypeError when a field without a default is missing, and
    whatever a reader raises.
    """
    known = {name: value for name, value in body.items() if name in kind.__dataclass_fields__}
    return kind(**known | {name: read(body[name]) for name, read in readers.items()})
