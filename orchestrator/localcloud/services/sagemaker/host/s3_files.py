"""S3's objects as files: addresses of objects, prefixes that become folders, and folders that become an archive."""

from __future__ import annotations

import io
import tarfile
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from orchestrator.localcloud.machines.fuse.tree import File, Tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from orchestrator.localcloud.services.moto.backends import Objects


@dataclass(frozen=True)
class Uri:
    """The address of an object, or of a prefix; `/` adds to its key."""

    bucket: str
    key: str

    @classmethod
    def parse(cls, text: str) -> Uri:
        """Read an address of the form s3://bucket/key."""
        bucket, _, key = text.removeprefix("s3://").partition("/")
        return cls(bucket, key)

    def __truediv__(self, key: str) -> Uri:
        return Uri(self.bucket, f"{self.key.rstrip('/')}/{key}".lstrip("/"))

    def __str__(self) -> str:
        return f"s3://{self.bucket}/{self.key}"


def download(objects: Objects, source: Uri, folder: Path) -> None:
    """Write all objects under a prefix as files of a folder."""
    files = {below(key, source.key): Uri(source.bucket, key) for key in objects.keys(source.bucket, source.key)}
    write_files(objects, {name: uri for name, uri in files.items() if name and not uri.key.endswith("/")}, folder)


def write_files(objects: Objects, files: Mapping[str, Uri], folder: Path) -> None:
    """Write objects as files of a folder, each at its path there, and none outside it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, uri in files.items():
        file = folder / name
        if file.resolve().is_relative_to(folder.resolve()):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(objects.read(uri.bucket, uri.key))


def as_tree(files: Mapping[str, Uri], objects: Objects) -> Tree:
    """Return objects as files that can be read, each at its path, without reading any now."""
    return Tree(
        File(name, *objects.facts(uri.bucket, uri.key), partial(objects.read_part, uri.bucket, uri.key))
        for name, uri in files.items()
    )


def unpack(archive: bytes, folder: Path) -> None:
    """Write the files of a tar.gz into a folder, and none outside it."""
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
        if hasattr(tarfile, "data_filter"):
            tar.extractall(folder, filter="data")
        else:
            tar.extractall(folder)


def pack(folders: Iterable[Path]) -> bytes | None:
    """Return one tar.gz of what lies in some folders; None when that is nothing."""
    buffer = io.BytesIO()
    empty = True
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as tar:
        for folder in folders:
            for entry in sorted(folder.iterdir()) if folder.exists() else ():
                tar.add(entry, arcname=entry.name)
                empty = False
    return None if empty else buffer.getvalue()


def upload(objects: Objects, folder: Path, to: Uri) -> None:
    """Write each file of a folder to S3, at its path below a prefix."""
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            uri = to / file.relative_to(folder).as_posix()
            objects.write(uri.bucket, uri.key, file.read_bytes())


def below(key: str, prefix: str) -> str:
    """Return the path of an object in the folder that a prefix becomes.

    `data/a/file` is `file` for `data/a` and for `data/a/`, and for a prefix that ends in its name, such as `data/a/fi`.
    """
    if prefix.endswith("/") or not prefix:
        return key[len(prefix) :]
    if key.startswith(prefix + "/"):
        return key[len(prefix) + 1 :]
    return key[len(prefix.rpartition("/")[0]) :].lstrip("/")
