"""Which objects at a prefix in S3 make up the newest checkpoint that is whole?

Our `Checkpoints` (training/checkpoint.py) keep each one in a slot of its own, whose label says how far the training was
and what the slot must hold. Of these the newest whole one is taken. Files that are in no slot are whatever a script or
its framework saves in its own way: all of them are taken.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from orchestrator.aws.s3 import Listed

_SLOT = re.compile(r"(?P<slot>slot-\d+)/(?P<name>.+)")
_LABEL = "label.json"


@dataclass(frozen=True)
class _Slot:
    """A slot with a label that can be read."""

    step: int
    label: Listed
    sizes: dict[str, int]
    files: dict[str, Listed]

    def is_whole(self, before: _Slot | None) -> bool:
        """Return whether all is there that the label speaks of, written after the checkpoint before it.

        A file that is older than that is left from when the slot was used before: its upload was cut short.
        """
        if any(name not in self.files or self.files[name].size != size for name, size in self.sizes.items()):
            return False
        since = before.label.modified_at if before else 0.0
        return all(self.files[name].modified_at >= since for name in self.sizes)


def newest_checkpoint(found: Iterable[Listed], prefix: str, read: Callable[[str], bytes]) -> list[Listed]:
    """Return the objects of the newest checkpoint, of all that were listed below a prefix; none if there is none.

    The last of them says that the others are whole: a label, or what was written last. So it is to be copied last.
    `read` returns an object's content by its key.
    """
    others: list[Listed] = []
    in_slots: dict[str, dict[str, Listed]] = {}
    for item in found:
        match = _SLOT.fullmatch(item.key.removeprefix(prefix))
        if match:
            in_slots.setdefault(match["slot"], {})[match["name"]] = item
        elif not item.key.endswith("/"):
            others.append(item)
    others.sort(key=attrgetter("modified_at", "key"))
    slots = [slot for files in in_slots.values() if (slot := _labelled(files, read))]
    whole = _newest_whole(sorted(slots, key=attrgetter("step")))
    if whole is None:
        return others
    return [*others, *(whole.files[name] for name in sorted(whole.sizes)), whole.label]


def _labelled(files: dict[str, Listed], read: Callable[[str], bytes]) -> _Slot | None:
    label = files.get(_LABEL)
    if label is None:
        return None
    try:
        said = json.loads(read(label.key))
        sizes = {str(name): int(size) for name, (size, _) in dict(said["files"]).items()}
        return _Slot(int(said["step"]), label, sizes, files)
    except (ValueError, KeyError, TypeError):
        return None  # a label that no training would read either


def _newest_whole(slots: Sequence[_Slot]) -> _Slot | None:
    """Return the last of these, in the order of their steps, that is whole."""
    before = (None, *slots)
    found = [slot for slot, older in zip(slots, before, strict=False) if slot.is_whole(older)]
    return found[-1] if found else None
