"""The promotions of one workload, as the control bucket holds them: numbered objects, each put once.

Nothing is replaced and nothing deleted. The pointer beside them is for readers who know nothing of `sweep`: it is moved
after each promotion, only forwards, and whoever looks at the promotions next brings up one that was left behind.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from orchestrator.errors import AlreadyExists, NewerVersion, NotFound
from orchestrator.models.promotion import Promotion
from orchestrator.wire.names import ModelKeys, canonical
from orchestrator.wire.stored import VERSION, damage_named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.aws.s3 import S3, Listed, Stored

CLOCKS_DIFFER_S = 86_400.0
"""Seconds by which two machines' clocks may differ."""


class Shelf:
    """The promotions of one workload."""

    def __init__(self, control: S3, workload: str) -> None:
        self.control = control
        self.workload = workload
        self.keys = ModelKeys(workload)

    def numbers(self) -> list[int]:
        """Return the numbers of all promotions, the newest first, whether they can be understood or not."""
        names = (item.key.rpartition("/")[2].removesuffix(".json") for item in self.control.list(self.keys.promotions))
        return sorted((int(name) for name in names if name.isdecimal() and len(name) < 10), reverse=True)

    def read(self, number: int) -> Promotion:
        """Return this promotion. NotFound if there is none, Damaged if it cannot be understood."""
        key = self.keys.promotion(number)
        stored = self.control.get(key)
        with damage_named(self.control.uri(key)):
            found = Promotion.from_json(stored.json())
            if (found.number, found.model.workload) != (number, self.workload):
                raise ValueError(f"it says that it is promotion {found.number} of {found.model.workload!r}")
            canonical(found.to_json())
            return found

    def newest(self) -> Promotion | None:
        """Return the newest promotion, whose model is the champion; None if there is none yet."""
        numbers = self.numbers()
        return self.read(numbers[0]) if numbers else None

    def since(self, moment: float) -> Iterator[Promotion]:
        """Yield the promotions that were made since a moment, the newest first."""
        for number in self.numbers():
            found = self.read(number)
            if found.at < moment - CLOCKS_DIFFER_S:
                return
            yield found

    def add(self, promotion: Promotion) -> bool:
        """Write this promotion down, and move the pointer. Return False if somebody else has taken its number."""
        made = self.control.put_once(self.keys.promotion(promotion.number), canonical(promotion.to_json()).encode())
        # A write whose answer was lost is sent again, and then finds itself.
        if not made and self.read(promotion.number) != promotion:
            return False
        self.point_to(promotion)
        return True

    def point_to(self, promotion: Promotion) -> None:
        """Let the pointer name this promotion, unless it names this one or a later one already."""
        body = canonical(pointer(promotion, self.control)).encode()
        while True:
            there = self._pointer()
            if there is not None and _number(there) >= promotion.number:
                return
            try:
                self.control.put_if(self.keys.champion, body, there.etag if there else None)
            except AlreadyExists:
                continue  # another one was moved just then: is it behind ours?
            return

    def _pointer(self) -> Stored | None:
        try:
            return self.control.get(self.keys.champion)
        except NotFound:
            return None


def pointer(promotion: Promotion, control: S3) -> dict[str, Any]:
    """Return what the pointer says of a champion: enough to fetch it and to know it again."""
    model = promotion.model
    return {
        "version": VERSION,
        "workload": model.workload,
        "number": promotion.number,
        "promotion": control.uri(ModelKeys(model.workload).promotion(promotion.number)),
        "artifact": model.artifact,
        "region": model.region,
        "run": model.run,
        "task": model.task,
        "metric": model.metric,
        "score": model.score,
        "promoted_at": promotion.at,
    }


def _number(stored: Stored) -> int:
    """Return the promotion that a pointer names; 0 where it is damaged: then it is written anew.

    NewerVersion if a newer `sweep` has written it, in words that this one may misunderstand.
    """
    try:
        body = json.loads(stored.body)
        version, number = body["version"], body["number"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return 0
    if type(version) is int and version > VERSION:
        raise NewerVersion(f"the champion's pointer has version {version}", hint="use the sweep that wrote it")
    return number if type(number) is int else 0


def workloads(control: S3, *, refused: bool = False) -> list[str]:
    """Return the workloads that have a champion, by name; with `refused`, those of refused challengers, too."""
    names = (folder.removeprefix("workloads/").rstrip("/") for folder in control.folders("workloads/"))
    return sorted(name for name in names if any(True for _ in _decided(control, ModelKeys(name), refused=refused)))


def _decided(control: S3, keys: ModelKeys, *, refused: bool) -> Iterator[Listed]:
    yield from control.list(keys.promotions)
    if refused:
        yield from control.list(keys.refusals)
