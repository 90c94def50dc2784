"""Looks through buckets: which folders of datasets lie below an address, and what lies in each?"""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from orchestrator.aws.s3 import S3, region_of_bucket
from orchestrator.errors import AccessDenied, CatalogError, Damaged, NewerVersion, NotFound, UsageError
from orchestrator.feeds.refresh import AT_ONCE
from orchestrator.wire.beside.lineage import Lineage, folder_of, mark_objects
from orchestrator.wire.names import S3Uri
from orchestrator.wire.stored import damage_named

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from orchestrator.aws.s3 import Listed
    from orchestrator.aws.session import Clients
    from orchestrator.feeds.inventory import Inventory
    from orchestrator.feeds.pattern import Pattern


@dataclass(frozen=True)
class Folder:
    """A dataset's folder in one bucket, with all that lies in it."""

    campaign: str
    version: str
    bucket: str
    region: str
    prefix: str
    """The key that all of its objects begin with, as far as the folder's slash."""
    objects: dict[str, Listed] = field(default_factory=dict)
    """What lies in it, by the rest of the key."""
    lineage: Lineage | None = None
    """What our own copy has left beside it, if it is one."""

    @property
    def uri(self) -> str:
        """The folder's address in S3."""
        return f"s3://{self.bucket}/{self.prefix}"

    @property
    def bytes(self) -> int:
        """The size of all its objects."""
        return sum(item.size for item in self.objects.values())

    @property
    def sizes(self) -> dict[str, int]:
        """The size of each of its objects, by the rest of the key."""
        return {name: item.size for name, item in self.objects.items()}

    @property
    def mark(self) -> str:
        """A digest of its keys, sizes and ETags: it changes when anything in the folder does."""
        return mark_objects((name, item.size, item.etag) for name, item in self.objects.items())

    @property
    def copied_from(self) -> tuple[str, str] | None:
        """The address and the mark of what it was copied from; None if it is no copy, or was written to since."""
        lineage = self.lineage
        return (lineage.source, lineage.source_mark) if lineage and lineage.copy_mark == self.mark else None

    @property
    def origins(self) -> set[tuple[str, str]]:
        """The addresses and marks of folders that hold, or held, the very same."""
        return {(self.uri, self.mark)} | ({self.copied_from} if self.copied_from else set())

    @property
    def created_at(self) -> float:
        """When its oldest object was written, in seconds since the epoch."""
        return min(item.modified_at for item in self.objects.values())


@dataclass(frozen=True)
class Look:
    """What lies below one address."""

    uri: str
    folders: tuple[Folder, ...]
    odd: tuple[str, ...]
    """Addresses of objects that belong to no dataset: their keys do not fit the pattern."""


def look_through(
    clients: Clients, region: str, places: Sequence[str], pattern: Pattern, inventories: Mapping[str, Inventory]
) -> list[Look]:
    """Return what lies below these addresses in S3, in their order.

    `region` is where AWS is asked which Region a bucket lies in. A bucket that has an inventory is not listed. Raise
    UsageError for what is no address, CatalogError for an address below which no key fits the pattern.
    """
    parsed = dict.fromkeys(map(_address, places))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        looks = [pool.submit(_look, clients, region, uri, pattern, inventories.get(uri.bucket)) for uri in parsed]
        return [look.result() for look in looks]


def _address(place: str) -> S3Uri:
    try:
        uri = S3Uri.parse(place)
    except ValueError as error:
        raise UsageError(f"{place!r} is not an S3 URI", hint="write s3://bucket/prefix/") from error
    return S3Uri(uri.bucket, uri.key.rstrip("/") + "/" if uri.key else "")


def _look(clients: Clients, region: str, uri: S3Uri, pattern: Pattern, inventory: Inventory | None) -> Look:
    where = region_of_bucket(clients, region, uri.bucket)
    bucket = S3(clients, where, uri.bucket)
    found = _Found(uri, where, pattern)
    for item in inventory.list(uri.key) if inventory else bucket.list(uri.key):
        found.add(item)
    folders = tuple(found.folders(bucket))
    if not folders:
        hint = f"there is {bucket.uri(found.odd[0].key)}" if found.odd else "nothing lies there"
        raise CatalogError(f"no key fits the pattern {pattern.text}", where=str(uri), hint=hint)
    return Look(str(uri), folders, tuple(bucket.uri(item.key) for item in found.odd))


class _Found:
    """What was found below an address, in whatever order it is told."""

    def __init__(self, uri: S3Uri, region: str, pattern: Pattern) -> None:
        self._uri, self._region, self._pattern = uri, region, pattern
        self._folders: dict[str, Folder] = {}
        self._told: list[str] = []
        """Keys of objects that say where a folder was copied from."""
        self.odd: list[Listed] = []
        """Objects that belong to no dataset."""

    def add(self, item: Listed) -> None:
        rest = item.key.removeprefix(self._uri.key)
        if rest.endswith("/") or not rest:  # consoles make an empty object for a folder
            return
        if folder_of(item.key) is not None:
            self._told.append(item.key)
            return
        found = self._pattern.dataset_of(rest)
        if found is None:
            self.odd.append(item)
            return
        campaign, version, name = found
        self._put(item, self._uri.key + name, campaign, version)

    def folders(self, bucket: S3) -> Iterator[Folder]:
        """Yield the folders that were found. A copy of ours is one whatever it is called: its lineage names it."""
        for key in self._told:
            prefix, lineage = folder_of(key) or "", _read_lineage(bucket, key)
            if lineage is None:
                continue
            inside = [item for item in self.odd if item.key.startswith(prefix)]
            self.odd = [item for item in self.odd if not item.key.startswith(prefix)]
            for item in inside:
                self._put(item, prefix, *lineage.dataset.split("@", 1))
            if prefix in self._folders:
                self._folders[prefix] = replace(self._folders[prefix], lineage=lineage)
        yield from self._folders.values()

    def _put(self, item: Listed, prefix: str, campaign: str, version: str) -> None:
        new = Folder(campaign, version, self._uri.bucket, self._region, prefix)
        self._folders.setdefault(prefix, new).objects[item.key.removeprefix(prefix)] = item


def _read_lineage(bucket: S3, key: str) -> Lineage | None:
    """Return what a copy has left; None where it cannot be read, or not understood: then it is no proof."""
    try:
        stored = bucket.get(key)
        with damage_named(bucket.uri(key)):
            lineage = Lineage.from_json(stored.json())
    except (AccessDenied, Damaged, NewerVersion, NotFound):
        return None
    return lineage if re.fullmatch(r"[^@]+@[^@]+", lineage.dataset) else None
