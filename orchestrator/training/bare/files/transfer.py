"""Many files from S3, and to it: several at once, and large ones in parts.

It travels into the training: standard library only.
"""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.training.bare.files.bucket import NotThere, S3Failed, Uri

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from orchestrator.training.bare.assignment import Channel
    from orchestrator.training.bare.files.bucket import Bucket, Found

_AT_ONCE = 16
_READ = 16 << 20
"""Bytes that are read at once, by each of those at once."""
_PART = 64 << 20
"""Bytes of a part that is written. S3 takes 10,000 parts: 640 GB."""


class Wanted(NamedTuple):
    """An object, and the file that it becomes."""

    found: Found
    file: Path


def find_files(bucket: Bucket, channel: Channel, folder: Path, index: int, instances: int) -> list[Wanted]:
    """Return what a machine fetches of a channel. Raise S3Failed when there is nothing, or its manifest is none."""
    uri = Uri.parse(channel.uri)
    wanted = list(_listed(bucket, uri, folder) if channel.manifest else find_below(bucket, uri, folder))
    if not wanted:
        raise S3Failed(f"there is nothing below {channel.uri}")
    return wanted[index::instances] if channel.sharded else wanted


def find_below(bucket: Bucket, prefix: Uri, folder: Path) -> Iterator[Wanted]:
    """Yield what lies below a prefix, each object with the file in a folder that it becomes."""
    for found in bucket.list(prefix):
        name = _below(found.uri.key, prefix.key)
        if name and not name.endswith("/"):
            yield Wanted(found, _inside(folder, name))


def _below(key: str, prefix: str) -> str:
    """Return an object's path in the folder of its channel: `data/a/file` is `file` for `data/a` and for `data/a/`."""
    if prefix.endswith("/") or not prefix:
        return key[len(prefix) :]
    if key.startswith(prefix + "/"):
        return key[len(prefix) + 1 :]
    return key[len(prefix.rpartition("/")[0]) :].lstrip("/")


def _listed(bucket: Bucket, manifest: Uri, folder: Path) -> Iterator[Wanted]:
    try:
        head, *names = json.loads(bucket.read(manifest))
        prefix = Uri.parse(head["prefix"])
    except (ValueError, KeyError, TypeError) as error:
        raise S3Failed(f"the manifest {manifest} cannot be read: {error!r}") from error
    if not names:
        yield from find_below(bucket, prefix, folder)
        return
    there = {found.uri.key: found for found in bucket.list(prefix)}
    for name in names:
        found = there.get(prefix.key + name)
        if found is None:
            raise NotThere(f"the manifest {manifest} names s3://{prefix.bucket}/{prefix.key}{name}, which is not there")
        yield Wanted(found, _inside(folder, name))


def _inside(folder: Path, name: str) -> Path:
    """Return the file in the folder. Raise S3Failed for a name that leads out of it."""
    if ".." in name.split("/") or name.startswith("/"):
        raise S3Failed(f"an object is called {name!r}, which leads out of its folder")
    return folder / name


def fetch(bucket: Bucket, wanted: Iterable[Wanted]) -> int:
    """Write all these objects into their files, and return how many bytes they have. Raise S3Failed or OSError."""
    files = list(wanted)
    parts = []
    for found, file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("wb") as opened:
            opened.truncate(found.size)
        parts += [(found, file, start) for start in range(0, found.size, _READ)]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for _ in pool.map(lambda part: _fetch_part(bucket, *part), parts):
            pass
    return sum(found.size for found, _ in files)


def _fetch_part(bucket: Bucket, found: Found, file: Path, start: int) -> None:
    end = min(start + _READ, found.size)
    body = bucket.read(found.uri, slice(start, end))
    if len(body) != end - start:
        raise S3Failed(f"{found.uri} has changed while it was read")
    with file.open("r+b") as opened:
        opened.seek(start)
        opened.write(body)


def send(bucket: Bucket, file: Path, uri: Uri) -> None:
    """Write a file to S3: whole, or not at all. Raise S3Failed or OSError."""
    with file.open("rb") as opened:
        size = os.fstat(opened.fileno()).st_size
        if size <= _PART:
            bucket.write(uri, opened.read())
            return
        upload = bucket.begin_parts(uri)
        try:
            tags = {}
            for number in range(1, -(-size // _PART) + 1):
                tags[number] = bucket.write_part(uri, upload, number, opened.read(_PART))
            bucket.end_parts(uri, upload, tags)
        except (S3Failed, OSError):
            bucket.drop_parts(uri, upload)
            raise
