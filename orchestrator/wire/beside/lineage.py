"""Says beside a copied dataset what it was copied from: proof that two folders are the same, where ETags prove nothing.

The object lies beside the folder, not in it: whoever trains on the folder does not read it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from orchestrator.wire.names import digest
from orchestrator.wire.stored import VERSION, check_version, restore

if TYPE_CHECKING:
    from collections.abc import Iterable

SUFFIX = ".lineage.json"


@dataclass(frozen=True)
class Lineage:
    """The folder that a copy was made from, and what both held when it was done."""

    dataset: str
    """`campaign@version`"""
    source: str
    """The URI of the folder that was copied."""
    source_mark: str
    copy_mark: str

    def to_bytes(self) -> bytes:
        return json.dumps({"version": VERSION, **asdict(self)}).encode()

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Lineage:
        """Return what was stored. NewerVersion if a newer `sweep` has written it."""
        check_version(body, "lineage")
        return restore(cls, body)


def lineage_key(prefix: str) -> str:
    """Return the key of the object that says where the folder with this prefix was copied from."""
    return prefix.rstrip("/") + SUFFIX


def folder_of(key: str) -> str | None:
    """Return the prefix of the folder that an object of this key speaks of; None for an object that speaks of none."""
    return key.removesuffix(SUFFIX) + "/" if key.endswith(SUFFIX) else None


def mark_objects(objects: Iterable[tuple[str, int, str]]) -> str:
    """Return a digest of a folder's objects, each by its key in the folder, its size and its ETag."""
    return digest(sorted(objects), 32)
