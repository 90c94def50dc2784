"""A task's newest checkpoint in S3: found where its attempts ran, and copied to where it is missing, its end last."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.aws.copies import PART_BYTES, Target
from orchestrator.errors import AccessError, InvalidRequest, NotFound
from orchestrator.launcher.moving.newest import newest_checkpoint
from orchestrator.wire.names import S3Uri

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from orchestrator.aws.s3 import S3, Listed
    from orchestrator.launcher.trainings import Trainings
    from orchestrator.wire.result import Attempt

    CopyOne = Callable[[S3, Listed, Target], bool]

log = logging.getLogger(__name__)

GB = 1e9
BATCH = 64
"""Small objects that are copied between two looks at whether we may go on."""
AT_ONCE = 8
"""Small objects that are copied at the same time."""
UNREADABLE = (AccessError, NotFound, InvalidRequest)
"""Errors after which a checkpoint is not brought: they will not pass."""


@dataclass(frozen=True)
class Checkpoint:
    """The newest checkpoint of a task that is whole."""

    uri: str
    region: str
    bucket: S3
    prefix: str
    objects: list[Listed]
    """What it is made of. The last of them says that the others are whole."""

    @property
    def gb(self) -> float:
        return sum(item.size for item in self.objects) / GB

    def missing_at(self, s3: S3, prefix: str) -> list[Missing]:
        """Return what is not there yet of it; the last object is copied again with any other."""
        there = {item.key: item for item in s3.list(prefix)}
        missing: list[Missing] = []
        last = self.objects[-1]
        for item in self.objects:
            to = prefix + item.key.removeprefix(self.prefix)
            found = there.get(to)
            if not _is_copy(found, item) or (item == last and missing):
                missing.append(Missing(item, Target(s3, to, found.etag if found else None)))
        return missing

    def copy(self, missing: Sequence[Missing], copy_one: CopyOne, go_on: Callable[[], bool]) -> bool:
        """Copy what is missing. Return False if `go_on`, which is asked in between, says no."""

        def copy(one: Missing) -> bool:
            return copy_one(self.bucket, one.item, one.target)

        return all(go_on() and all(_at_once(copy, batch)) for batch in _batches(missing))


@dataclass(frozen=True)
class Missing:
    """An object of a checkpoint that is to be copied, and where to."""

    item: Listed
    target: Target


def find_checkpoint(attempts: Sequence[Attempt], trainings: Trainings) -> Checkpoint | None:
    """Return what the last of these attempts has saved, or has been given, or the one before it.

    None if there is nothing that can be read. Raise AccessError if it may not be looked at.
    """
    task, seen = trainings.task.number, {""}
    for attempt in reversed(attempts):
        uri = trainings.template(attempt.lane).checkpoints_of(task)
        if uri in seen:
            continue
        seen.add(uri)
        at = S3Uri.parse(f"{uri}/")
        bucket = trainings.control.s3.elsewhere(attempt.lane.region, at.bucket)
        try:
            objects = _objects(bucket, at.key)
        except (NotFound, InvalidRequest) as error:
            log.warning("task %d: its checkpoints cannot be looked at: %s", task, error)
            return None
        if objects:
            return Checkpoint(uri, attempt.lane.region, bucket, at.key, objects)
    return None


def _objects(bucket: S3, prefix: str) -> list[Listed]:
    return newest_checkpoint(bucket.list(prefix), prefix, lambda key: bucket.get(key).body)


def _is_copy(there: Listed | None, item: Listed) -> bool:
    """Return whether what lies at the target is a copy of an object: the same content, or made of it later."""
    if there is None or there.size != item.size:
        return False
    return there.etag == item.etag or there.modified_at > item.modified_at


def _batches(missing: Sequence[Missing]) -> Iterator[Sequence[Missing]]:
    """Yield small objects in batches, each large one by itself, and the last one after all others."""
    small = [one for one in missing[:-1] if one.item.size <= PART_BYTES]
    for first in range(0, len(small), BATCH):
        yield small[first : first + BATCH]
    yield from ([one] for one in missing[:-1] if one.item.size > PART_BYTES)
    yield from ([one] for one in missing[-1:])


def _at_once(act: Callable[[Missing], bool], all_of: Sequence[Missing]) -> list[bool]:
    if len(all_of) == 1:
        return [act(all_of[0])]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(act, all_of))
