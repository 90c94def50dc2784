"""What every stored object shares: its version, and how a dataclass is made from its JSON again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from orchestrator.errors import NewerVersion

if TYPE_CHECKING:
    from collections.abc import Callable

    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")


VERSION = 1
"""The version that we write into every stored object, and the newest one that we read.

It grows when older programs would misunderstand an object. A key that they may ignore does not need it.
"""


def check_version(body: dict[str, Any], what: str) -> None:
    """Raise NewerVersion if a newer `sweep` has written this object. `what` names it in the error's words."""
    version = body.get("version", VERSION)
    if not isinstance(version, int) or version > VERSION:
        raise NewerVersion(
            f"this {what} has version {version}, and this sweep reads versions up to {VERSION}",
            hint="use the sweep that wrote it, or a newer one",
        )


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
